import RTCEngine
import RTCNet
import RTCSCTP
import Synchronization

/// The link from a connection's channels to its peer, with the account of received messages that wait for a reader.
final class DataChannelLink: Sendable {
  struct Account: Sendable {
    var unreadBytes = 0
    /// The remote peer is held back.
    var holds = false
  }

  /// When this much waits in the channels of a connection, the remote peer is held back …
  private static let mostUnread = 4 << 20
  /// … until it has come down to this.
  private static let resumeAt = 2 << 20

  let maximumBufferedAmount: Int
  private let loop: EventLoop
  private let slot: PeerSlot
  private let account = Mutex(Account())

  init(loop: EventLoop, slot: PeerSlot, options: DataChannelOptions) {
    self.loop = loop
    self.slot = slot
    maximumBufferedAmount = options.maximumBufferedAmount
  }

  /// Gives the peer a command, after all given earlier, and runs `then` on the loop.
  func perform(_ command: DataChannelCommand, then: @escaping @Sendable () -> Void = {}) {
    loop.post { [slot] in
      // A channel that is gone in the meantime needs nothing any more.
      try? slot.perform(command, now: MonotonicClock.now())
      then()
    }
  }

  func run(_ job: @escaping @Sendable () -> Void) { loop.post(job) }

  func received(bytes: Int) {
    account.withLock { account in
      account.unreadBytes += bytes
      guard !account.holds, account.unreadBytes > Self.mostUnread else { return }
      account.holds = true
      // Within the lock, so that the two words reach the loop in the order of the decisions.
      perform(.setReceiving(false))
    }
  }

  func took(bytes: Int) {
    account.withLock { account in
      account.unreadBytes -= bytes
      guard account.holds, account.unreadBytes <= Self.resumeAt else { return }
      account.holds = false
      perform(.setReceiving(true))
    }
  }
}
