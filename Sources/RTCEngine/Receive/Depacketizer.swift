import RTCMedia
import RTCPrimitives
import RTCWire

/// What one RTP payload says about its place in the video, in each codec's payload format.
struct ParsedPayload {
  /// False for what can only be the continuation of an earlier packet.
  var mayStartFrame: Bool
  /// A frame that needs no other may begin with this packet.
  var startsKeyFrame: Bool
  /// The packet belongs to a frame that needs no other; said by at least one of its packets.
  var isKeyFrame: Bool
  /// Holds the parameters without which later key frames cannot be decoded (H.264).
  var hasParameters = false
  /// What it says of the frames that its own needs; of use in a frame's first packet.
  var dependency = FrameDependency.unsaid
  /// What `Depacketizer` takes.
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
    case .vp9:
      var reader = ByteReader(payload)
      guard let descriptor = VP9PayloadDescriptor(parsing: &reader), !reader.isAtEnd else { return nil }
      data = reader.offset..<payload.count
      mayStartFrame = descriptor.startsPicture
      isKeyFrame = descriptor.startsKeyFrame
      startsKeyFrame = isKeyFrame
      dependency = FrameDependency(descriptor)
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

/// Puts the payloads of one frame together: each is copied once, into memory that is made once.
enum Depacketizer {
  case bytes([UInt8])
  case h264([UInt8])
  case av1(AV1Depacketizer)

  /// - Parameters:
  ///   - payloadSize: bytes of all payloads of the frame.
  ///   - packets: their number.
  init(_ codec: VideoCodec, payloadSize: Int, packets: Int) {
    switch codec {
    case .vp8, .vp9: self = .bytes(Self.memory(payloadSize))
    // Start codes take more room than what they stand for: a length of two bytes, or nothing.
    case .h264: self = .h264(Self.memory(payloadSize + 8 * packets))
    case .av1: self = .av1(AV1Depacketizer(payloadSize: payloadSize, packets: packets))
    }
  }

  private static func memory(_ capacity: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(capacity)
    return bytes
  }

  /// Adds the next payload in order, as `ParsedPayload.data` cut it out.
  mutating func append(_ payload: Span<UInt8>) {
    switch consume self {
    case .bytes(var data):
      data.append(payload)
      self = .bytes(data)
    case .h264(var data):
      H264Payload(parsing: payload)?.append(payload, to: &data)
      self = .h264(data)
    case .av1(var assembly):
      assembly.append(payload)
      self = .av1(assembly)
    }
  }

  /// The frame so far, as decoders take it.
  var data: [UInt8] {
    switch self {
    case .bytes(let data), .h264(let data): data
    case .av1(let assembly): assembly.data
    }
  }
}
