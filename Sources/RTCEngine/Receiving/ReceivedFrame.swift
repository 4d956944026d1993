public import RTCMedia
public import RTCPrimitives

/// A received picture.
public struct ReceivedFrame: Sendable {
  public var codec: VideoCodec
  /// As `EncodedFrame.data`.
  public var data: [UInt8]
  public var isKeyFrame: Bool
  public var timestamp: RTPTimestamp
  /// When its last packet came.
  public var received: Timestamp
}
