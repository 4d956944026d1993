import RTCMedia
import RTCPrimitives
import RTCWire

/// Puts the payloads of one picture together.
enum Depacketizer {
  case bytes([UInt8])
  case h264([UInt8])
  case av1(AV1Depacketizer)

  init(_ codec: VideoCodec) {
    switch codec {
    case .vp8, .vp9: self = .bytes([])
    case .h264: self = .h264([])
    case .av1: self = .av1(AV1Depacketizer())
    }
  }

  /// Adds the next payload in order, as `IncomingPayload.data` cut it out.
  mutating func append(_ payload: [UInt8]) {
    switch consume self {
    case .bytes(var data):
      data += payload
      self = .bytes(data)
    case .h264(var data):
      H264Payload(parsing: payload.span)?.append(payload.span, to: &data)
      self = .h264(data)
    case .av1(var assembly):
      assembly.append(payload.span)
      self = .av1(assembly)
    }
  }

  var data: [UInt8] {
    switch self {
    case .bytes(let data), .h264(let data): data
    case .av1(let assembly): assembly.data
    }
  }
}
