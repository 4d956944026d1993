import RTCMedia
import RTCPrimitives
import RTCWire

/// The position of one RTP payload in the video, in each codec's payload format.
struct ParsedPayload {
  /// False if it can only continue an earlier packet.
  var mayStartFrame: Bool
  /// A frame that needs no other may begin with this packet.
  var startsKeyFrame: Bool
  /// The packet belongs to a frame that needs no other; said by at least one of its packets.
  var isKeyFrame: Bool
  /// Holds the parameters without which later key frames cannot be decoded (H.264).
  var hasParameters = false
  /// The dependencies of its frame; used from a frame's first packet.
  var dependency = FrameDependency.unsaid
  /// Counts frames, where the format has a place for that (RFC 7741 §4.2, RFC 9628 §4.2).
  var picture: PictureNumber?
  /// The part for `Depacketizer`.
  var data: Range<Int>

  /// Nil for payloads that break their format's rules.
  init?(_ payload: Span<UInt8>, codec: VideoCodec) {
    data = 0..<payload.count
    switch codec {
    case .vp8:
      var reader = ByteReader(payload)
      guard let descriptor = VP8PayloadDescriptor(parsing: &reader), !reader.isAtEnd else { return nil }
      data = reader.offset..<payload.count
      mayStartFrame = descriptor.startsFrame
      isKeyFrame = mayStartFrame && VP8FrameHeader(parsing: payload.extracting(data))?.isKeyFrame ?? false
      startsKeyFrame = isKeyFrame
      dependency = FrameDependency(descriptor)
      picture = descriptor.pictureID.map { PictureNumber(value: $0.value) }
    case .vp9:
      var reader = ByteReader(payload)
      guard let descriptor = VP9PayloadDescriptor(parsing: &reader), !reader.isAtEnd else { return nil }
      data = reader.offset..<payload.count
      mayStartFrame = descriptor.startsPicture
      isKeyFrame = descriptor.startsKeyFrame
      startsKeyFrame = isKeyFrame
      dependency = FrameDependency(descriptor)
      picture = descriptor.pictureID.map { PictureNumber(value: $0.value) }
    case .h264:
      guard let said = H264Payload(parsing: payload) else { return nil }
      mayStartFrame = said.startsUnit
      isKeyFrame = said.isIDR
      hasParameters = said.hasParameterSet
      startsKeyFrame = said.startsUnit && (said.isIDR || said.hasParameterSet)
    case .av1:
      guard let said = AV1Payload(parsing: payload) else { return nil }
      mayStartFrame = !said.header.continuesUnit
      isKeyFrame = said.header.startsSequence
      startsKeyFrame = isKeyFrame
    }
  }
}

/// A frame's number in its stream, of 7 or 15 bits.
struct PictureNumber: Hashable, BitwiseCopyable {
  var value: UInt16

  /// True when no frame lies between `other` and this one.
  func follows(_ other: PictureNumber) -> Bool {
    value == other.value + 1 || value == 0 && (other.value == 0x7F || other.value == 0x7FFF)
  }
}
