import RTCMedia
import RTCWire

/// Cuts one frame into the payloads of its packets, as its codec's payload format says.
enum Packetizer {
  case vp8(VP8Packetizer)
  case vp9(VP9Packetizer)
  case h264(H264Packetizer)
  case av1(AV1Packetizer)

  /// - Parameters:
  ///   - pictureID: counts frames; its low 15 bits go out where the format has a place for them.
  ///   - differences: how many frames before it those lie that it needs, where the stream has layers.
  ///   - room: the most bytes a payload may have.
  init(_ frame: EncodedFrame, pictureID: UInt16, differences: VP9References? = nil, room: Int) {
    switch frame.codec {
    case .vp8: self = .vp8(VP8Packetizer(frameSize: frame.data.count, pictureID: VP8PictureID(pictureID), room: room))
    case .vp9:
      let size = VP9ScalabilityStructure.Size(
        width: UInt16(clamping: frame.size.width), height: UInt16(clamping: frame.size.height))
      // Frames that are passed on unparsed have no size.
      let kind = frame.isKeyFrame ? VP9Packetizer.Kind.key(frame.size.width > 0 ? size : nil) : .predicted
      self = .vp9(
        VP9Packetizer(
          frameSize: frame.data.count, kind: kind,
          place: differences.map { VP9Packetizer.Place(temporal: frame.layer.temporal, references: $0) },
          pictureID: VP9PictureID(pictureID), room: room))
    case .h264: self = .h264(H264Packetizer(frame.data.span, room: room))
    case .av1: self = .av1(AV1Packetizer(frame.data.span, isKeyFrame: frame.isKeyFrame, room: room))
    }
  }

  /// True when there is nothing (more) to send; at once for bytes that are no frame of the codec.
  var isAtEnd: Bool {
    switch self {
    case .vp8(let split): split.remaining == 0
    case .vp9(let split): split.remaining == 0
    case .h264(let split): split.isAtEnd
    case .av1(let split): split.isAtEnd
    }
  }

  /// Bytes of the frame that are still to come.
  func remainingBytes(of frame: FrameBytes) -> Int {
    switch self {
    case .vp8(let split): split.remainingBytes(of: frame.data.count)
    case .vp9(let split): split.remainingBytes(of: frame.data.count)
    case .h264(let split): split.remainingBytes(of: frame.data.count)
    case .av1(let split): split.remainingBytes(of: frame.data.count)
    }
  }

  /// The next payload, nil after the last. To be called with the frame this was made of.
  mutating func next(in frame: FrameBytes) -> PayloadPiece? {
    switch self {
    case .vp8(var split):
      defer { self = .vp8(split) }
      return split.next()
    case .vp9(var split):
      defer { self = .vp9(split) }
      return split.next()
    case .h264(var split):
      defer { self = .h264(split) }
      return split.next(in: frame.data.span)
    case .av1(var split):
      defer { self = .av1(split) }
      return split.next(in: frame.data.span)
    }
  }
}
