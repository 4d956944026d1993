import RTCMedia
import RTCWire

/// Cuts the files that encoders write into frames, one for each RTP timestamp.
enum CodedFrames {
  /// The frames of an IVF file: a header of 32 bytes, then 12 bytes before each frame, of which the first four are its
  /// length.
  static func inIVF(_ bytes: [UInt8]) -> [[UInt8]] {
    var frames: [[UInt8]] = []
    var offset = 32
    while offset + 12 <= bytes.count {
      let size = (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
      guard size <= bytes.count - offset - 12 else { break }
      frames.append(Array(bytes[offset + 12..<offset + 12 + size]))
      offset += 12 + size
    }
    return frames
  }

  /// The access units of an H.264 byte stream (ITU-T H.264 §7.4.1.2.3): a new one begins with what stands before a slice,
  /// or with a slice of the first macroblock.
  static func inByteStream(_ bytes: [UInt8]) -> [[UInt8]] {
    var frames: [[UInt8]] = [[]]
    var hasSlice = false
    for range in H264ByteStream.units(in: bytes.span) ?? [] {
      let kind = H264NALUnitHeader.Kind(rawValue: bytes[range.lowerBound])
      let isSlice = kind == .slice || kind == .idrSlice
      // `first_mb_in_slice` is 0 when its code is a single 1.
      let isBeginning = isSlice ? bytes[range.lowerBound + 1] & 0x80 != 0 : (6...9).contains(kind.rawValue)
      if isBeginning, hasSlice {
        frames.append([])
        hasSlice = false
      }
      hasSlice = hasSlice || isSlice
      frames[frames.count - 1] += [0, 0, 0, 1] + bytes[range]
    }
    return frames
  }

  /// True when decoding can begin with the frame.
  static func isKeyFrame(_ frame: [UInt8], of codec: VideoCodec) -> Bool {
    switch codec {
    case .vp8: VP8FrameHeader(parsing: frame.span)?.isKeyFrame ?? false
    case .vp9: VP9FrameHeader(parsing: frame.span)?.isKeyFrame ?? false
    case .h264:
      (H264ByteStream.units(in: frame.span) ?? []).contains {
        H264NALUnitHeader.Kind(rawValue: frame[$0.lowerBound]) == .idrSlice
      }
    case .av1: isShownKeyFrame(frame)
    }
  }

  /// True for several frames in one: of VP9 a superframe, which ends with its index (VP9 bitstream specification, annex B),
  /// of AV1 a temporal unit with several.
  static func isSeveral(_ data: [UInt8], of codec: VideoCodec) -> Bool {
    switch codec {
    case .vp8, .h264: false
    case .vp9: data.last.map { $0 >> 5 == 0b110 } ?? false
    case .av1: (AV1OBU.units(in: data.span) ?? []).count { $0.header.kind == .frame } > 1
    }
  }

  /// The unit's first frame header begins with show_existing_frame 0, frame_type 00 (key) and show_frame 1 (AV1
  /// specification §5.9.2).
  private static func isShownKeyFrame(_ unit: [UInt8]) -> Bool {
    let units = AV1OBU.units(in: unit.span) ?? []
    guard units.contains(where: { $0.header.kind == .sequenceHeader }) else { return false }
    let frame = units.first { $0.header.kind == .frame || $0.header.kind == .frameHeader }
    return frame.map { unit[$0.payload.lowerBound] >> 4 == 0b0001 } ?? false
  }
}
