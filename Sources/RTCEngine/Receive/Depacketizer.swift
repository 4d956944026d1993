import RTCMedia
import RTCPrimitives
import RTCWire

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
    // Start codes are longer than the length fields of two bytes, or nothing, that they replace.
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
