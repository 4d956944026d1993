public import RTCMedia
public import RTCPrimitives
package import RTCWire

/// A whole received frame, coded.
public struct ReceivedFrame: Sendable {
  /// The codec of `data`.
  public var codec: VideoCodec
  /// As `EncodedFrame.data`.
  public var data: [UInt8]
  /// Can be decoded without the frames before it.
  public var isKeyFrame: Bool
  /// When it was captured, on the remote sender's clock, in units of 1/90 000 s.
  public var timestamp: RTPTimestamp
  /// When its last packet came.
  public var received: Timestamp
  /// The turn that the viewer is to make.
  public var rotation: VideoRotation
  /// The colour space in the header extension; nil: BT.601 limited, or that of the bitstream.
  public var colorSpace: ColorSpace?
  /// The bounds that the sender asks for between capture and display; nil when it asks for none.
  package var playoutDelay: PlayoutDelay?

  /// A frame that asks for no bounds between capture and display.
  public init(
    codec: VideoCodec, data: [UInt8], isKeyFrame: Bool, timestamp: RTPTimestamp, received: Timestamp,
    rotation: VideoRotation = .none, colorSpace: ColorSpace? = nil
  ) {
    self.codec = codec
    self.data = data
    self.isKeyFrame = isKeyFrame
    self.timestamp = timestamp
    self.received = received
    self.rotation = rotation
    self.colorSpace = colorSpace
  }
}
