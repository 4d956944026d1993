/// The content of a data channel's SCTP message: the payload protocol identifiers of RFC 8831 §8.
public enum PayloadProtocol: UInt32, Sendable {
  /// DCEP, `DataChannelOpen` and `DataChannelAck`.
  case control = 50
  case string = 51
  case binary = 53
  /// One byte that stands for no text: SCTP cannot carry empty messages.
  case emptyString = 56
  case emptyBinary = 57
}
