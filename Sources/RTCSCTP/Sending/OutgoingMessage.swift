import RTCPrimitives
import RTCWire

/// A message that waits to be sent.
struct OutgoingMessage {
  /// Not empty: SCTP carries no empty messages.
  var bytes: [UInt8]
  var payloadProtocol: UInt32
  var isUnordered: Bool
  /// Given up after so many (RFC 7496 §4.1).
  var maximumRetransmissions = UInt32.max
  /// Given up from then on (RFC 3758 §4).
  var expiry = Timestamp.distantFuture
  /// The size that counts for `bufferedAmount`.
  var bufferedSize: Int
}

/// A part of a message that goes into one chunk.
struct OutgoingFragment {
  /// The whole message; shared with its other fragments, never copied. Empty once it is of no use any more.
  var message: [UInt8]
  var range: Range<Int>
  var stream: StreamID
  var isUnordered: Bool
  var isEnd: Bool
  /// Stream Sequence Number or Message Identifier.
  var messageNumber: UInt32
  var fragmentNumber: UInt32
  var payloadProtocol: UInt32
  /// Identifies a message within its association.
  var messageID: UInt64
  var maximumRetransmissions: UInt32
  var expiry: Timestamp

  var isBeginning: Bool { fragmentNumber == 0 }
}
