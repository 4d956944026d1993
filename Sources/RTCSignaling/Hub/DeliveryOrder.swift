/// A message to a peer, as a presence keeps it until it is delivered.
package struct PresenceLetter: Sendable, Hashable {
  package var message: PresenceMessage
  /// Greater than the numbers of all earlier messages to the same peer.
  package var number: Int64
  /// The number of the last message before this one that had not been delivered when this one was sent; 0: none.
  package var previous: Int64

  package init(_ message: PresenceMessage, number: Int64, previous: Int64 = 0) {
    (self.message, self.number, self.previous) = (message, number, previous)
  }
}

/// The order in which a hub delivers the messages to one peer that a presence keeps: each of them once.
package struct DeliveryOrder: Sendable {
  package enum Verdict: Sendable {
    case deliver
    /// The message was delivered before, or will come with all that wait.
    case ignore
    /// An earlier message is missing: all that wait must be read.
    case collect
  }

  /// The number of the last message that was delivered.
  private var last: Int64 = 0
  /// Whether the messages that wait were asked for, and have not come yet.
  package var isCollecting = false
  /// Whether the connection of the peer had no room for more messages: all that wait are read when there is room again.
  package var isBehind = false

  package init() {}

  /// Judges a message that has come by itself.
  package mutating func take(_ letter: PresenceLetter) -> Verdict {
    guard !isCollecting, letter.number > last else { return .ignore }
    guard letter.previous <= last else { return .collect }
    last = letter.number
    return .deliver
  }

  /// Judges a message that has come with all that wait. True: it is to be delivered.
  package mutating func takeCollected(_ letter: PresenceLetter) -> Bool {
    guard letter.number > last else { return false }
    last = letter.number
    return true
  }
}
