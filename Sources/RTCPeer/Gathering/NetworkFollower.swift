import RTCNet
import RTCPrimitives

/// Follows the machine's addresses, routes and sleep. Lives on the loop's thread.
final class NetworkFollower {
  /// What has changed.
  struct Change {
    var addresses: [InterfaceAddress]
    var hasSlept: Bool
  }

  private var news: NetworkNews?
  private var sleep = SleepWatch(monotonic: MonotonicClock.now(), boot: BootClock.now())
  private var hasSlept = false
  private(set) var addresses: [InterfaceAddress]
  /// When to look; `.distantFuture`: there is no news.
  private(set) var nextDeadline = Timestamp.distantFuture

  /// A change comes in many pieces of news: those of this time are looked at once.
  private static let patience = TimeDelta.milliseconds(100)

  init(_ loop: EventLoop) {
    addresses = (try? NetworkInterfaces.addresses()) ?? []
    // Where the kernel does not tell, addresses stay as they are now.
    news = try? NetworkNews(on: loop) { [unowned self] now in lookSoon(now) }
  }

  /// To be called whenever the loop has woken.
  func noteTurn(_ now: Timestamp) {
    guard sleep.hasSlept(monotonic: MonotonicClock.now(), boot: BootClock.now()) else { return }
    hasSlept = true
    lookSoon(now)
  }

  private func lookSoon(_ now: Timestamp) { nextDeadline = min(nextDeadline, now + Self.patience) }

  /// Looks at what is there now. The kernel's choice of source addresses may have changed even where the addresses have not.
  func look() -> Change {
    nextDeadline = .distantFuture
    defer { hasSlept = false }
    if let now = try? NetworkInterfaces.addresses() { addresses = now }
    return Change(addresses: addresses, hasSlept: hasSlept)
  }

  func close() {
    news?.close()
    news = nil
  }
}
