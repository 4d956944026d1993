package import RTCPrimitives
import Synchronization

extension PeerLimits {
  /// Bytes of the packets of one remote peer's videos that wait to become frames: four videos of 4K that repair a loss. One video
  /// takes 4 MiB at most.
  package static let waitingBytes = 16 << 20
  /// Maximum bytes waiting for all remote peers together.
  package static let waitingBytesInAll = 256 << 20
}

/// A budget of bytes for receive buffers: one for each remote peer, within that of the process. Any thread.
package final class ByteBudget: Sendable {
  private let limit: Int
  private let whole: ByteBudget?
  private let used = Mutex(0)

  /// - Parameter whole: the budget that this one is part of.
  package init(bytes limit: Int, within whole: ByteBudget? = nil) {
    self.limit = limit
    self.whole = whole
  }

  /// The bytes in use.
  package var taken: Int { used.withLock { $0 } }

  /// Takes so many bytes.
  /// - Returns: false when there are not so many left; then nothing was taken.
  func take(_ bytes: Int) -> Bool {
    let isThere = used.withLock { used in
      guard used + bytes <= limit else { return false }
      used += bytes
      return true
    }
    guard isThere, let whole, !whole.take(bytes) else { return isThere }
    giveBack(bytes, toWhole: false)
    return false
  }

  /// Returns bytes to the budget.
  func giveBack(_ bytes: Int) { giveBack(bytes, toWhole: true) }

  private func giveBack(_ bytes: Int, toWhole: Bool) {
    used.withLock { $0 -= bytes }
    if toWhole { whole?.giveBack(bytes) }
  }
}

/// The part of a budget that one buffer uses; returned when it is released.
final class ByteShare: Sendable {
  private let budget: ByteBudget
  private let taken = Atomic(0)

  init(of budget: ByteBudget) { self.budget = budget }

  deinit { budget.giveBack(taken.load(ordering: .relaxed)) }

  func take(_ bytes: Int) -> Bool {
    guard budget.take(bytes) else { return false }
    taken.add(bytes, ordering: .relaxed)
    return true
  }
}
