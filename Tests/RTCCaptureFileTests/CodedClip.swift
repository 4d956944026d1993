import RTCCaptureFile
import RTCCodecFFmpeg
import RTCCodecVPX
import RTCMedia

/// A clip's coded pictures as they come over the network, and what the ffmpeg program decodes each to.
struct CodedClip {
  let codec: VideoCodec
  let pictures: [[UInt8]]
  /// The Adler-32 sums of the planes' bytes, one after the other.
  let sums: [UInt32]

  /// - Parameter format: ffmpeg's pixel format, 4:2:0 or 4:4:4.
  init(
    _ codec: VideoCodec, source: String = Clip.pictures, frames: Int = 30, options: String = "",
    format: String = "yuv420p"
  ) throws {
    self.codec = codec
    let settings: String =
      switch codec {
      case .vp8: "-c:v libvpx -deadline realtime -cpu-used 5 -g 12 -auto-alt-ref 0 -lag-in-frames 0"
      case .vp9: "-c:v libvpx-vp9 -deadline realtime -cpu-used 7 -g 12 -lag-in-frames 0"
      case .h264: "-c:v libx264 -preset ultrafast -tune zerolatency -g 12 -bsf:v h264_metadata=aud=insert"
      case .av1: "-c:v libaom-av1 -usage realtime -cpu-used 8 -g 12 -lag-in-frames 0"
      }
    let clip = try Clip(
      codec == .h264 ? "clip.h264" : "clip.ivf",
      "-f lavfi -i \(source) -frames:v \(frames) -pix_fmt \(format) \(settings) \(options)")
    pictures = codec == .h264 ? Self.accessUnits(clip.bytes) : Self.ivf(clip.bytes)
    sums = try clip.pictures(format: format).map(\.sum)
  }

  var keyFrame: [UInt8] { pictures[0] }

  /// Every decoder there is for the codec.
  static func decoders(for codec: VideoCodec) throws -> [any VideoDecoder] {
    let ofFFmpeg = try FFmpegVideoDecoder(codec)
    return switch codec {
    case .vp8: [try VP8Decoder(), ofFFmpeg]
    case .vp9: [try VP9Decoder(), try VP9Decoder(threads: 1), ofFFmpeg]
    case .h264, .av1: [ofFFmpeg]
    }
  }

  static func sum(_ picture: PixelBuffer) -> UInt32 {
    var sum = Adler32()
    for index in 0..<picture.format.planeCount {
      let extent = picture.format.planeExtent(index, of: picture.size)
      let bytes = picture.bytes(ofPlane: index)
      let stride = picture.stride(ofPlane: index)
      for row in 0..<extent.rows {
        for column in 0..<extent.rowBytes { sum.add(bytes[row * stride + column]) }
      }
    }
    return sum.value
  }

  private static func ivf(_ bytes: [UInt8]) -> [[UInt8]] {
    var pictures: [[UInt8]] = []
    var offset = 32
    while offset + 12 <= bytes.count {
      let size = (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
      pictures.append(Array(bytes[offset + 12..<min(bytes.count, offset + 12 + size)]))
      offset += 12 + size
    }
    return pictures
  }

  /// Cut before each access unit delimiter.
  private static func accessUnits(_ bytes: [UInt8]) -> [[UInt8]] {
    var starts: [Int] = []
    for index in bytes.indices.dropLast(4) where Array(bytes[index..<index + 5]) == [0, 0, 0, 1, 9] {
      starts.append(index)
    }
    return zip(starts, starts.dropFirst() + [bytes.count]).map { Array(bytes[$0..<$1]) }
  }
}
