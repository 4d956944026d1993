package import RTCPrimitives

/// What was sent lately and what is about to be: whether the sender could have used more than it did.
package struct SendActivity: Hashable, Sendable {
  /// Bytes of all packets that left under transport-wide numbers, since the beginning.
  package var sentBytes: UInt64 = 0
  /// Of those: on their way, as no feedback has spoken of them nor of a later one.
  package var inFlight = 0
  /// Bytes that wait for the pacer.
  package var queued = 0
  /// When the last packet left.
  package var lastSent = Timestamp.zero

  package init() {}
}
