import RTCNet
import RTCPrimitives

/// Follows the machine's addresses, routes and sleep. Lives on the loop's thread.
final class NetworkFollower {
  /// By which of its addresses the machine reaches others.
  private struct State: Hashable {
    var addresses: [InterfaceAddress] = []
    /// The source addresses for destinations without a specific route; addresses for documentation stand for all (RFC
    /// 5737, RFC 3849).
    var sources: [IPAddress?] = []

    static func now() -> State? {
      guard let addresses = try? NetworkInterfaces.addresses() else { return nil }
      let outward = [IPAddress.v4(0xC000_0201), .v6(high: 0x2001_0DB8_0000_0000, low: 1, scope: 0)]
      return State(
        addresses: addresses,
        sources: outward.map { NetworkInterfaces.source(towards: SocketAddress(ip: $0, port: 9)) })
    }
  }

  /// The machine's addresses now, and whether it has slept.
  struct Change {
    var addresses: [InterfaceAddress]
    var hasSlept: Bool
  }

  private var notifier: NetworkChangeNotifier?
  private var sleep = SleepWatch(monotonic: MonotonicClock.now(), boot: BootClock.now())
  private var hasSlept = false
  private var state: State
  var addresses: [InterfaceAddress] { state.addresses }
  /// When to look; `.distantFuture`: nothing has changed.
  private(set) var nextDeadline = Timestamp.distantFuture

  /// A change causes many notifications: those within this time are handled together.
  private static let patience = TimeDelta.milliseconds(100)

  init(_ loop: EventLoop) {
    state = State.now() ?? State()
    // Without notifications of the kernel, the addresses stay as they are now.
    notifier = try? NetworkChangeNotifier(on: loop) { [unowned self] now in lookSoon(now) }
  }

  /// To be called whenever the loop has woken.
  func noteTurn(_ now: Timestamp) {
    guard sleep.hasSlept(monotonic: MonotonicClock.now(), boot: BootClock.now()) else { return }
    hasSlept = true
    lookSoon(now)
  }

  private func lookSoon(_ now: Timestamp) { nextDeadline = min(nextDeadline, now + Self.patience) }

  /// Reads the present addresses.
  /// - Returns: nil if nothing has changed: some networks renew routes every few seconds.
  func look() -> Change? {
    nextDeadline = .distantFuture
    let former = state
    state = State.now() ?? state
    guard hasSlept || state != former else { return nil }
    defer { hasSlept = false }
    return Change(addresses: addresses, hasSlept: hasSlept)
  }

  func close() {
    notifier?.close()
    notifier = nil
  }
}
