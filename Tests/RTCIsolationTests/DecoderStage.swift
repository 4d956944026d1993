import CodingKit
import Glibc
import RTCCodecAOM
import RTCCodecVPX
import RTCIsolation
import RTCMedia
import RTCPrimitives
import Synchronization

#if X264
  import RTCCodecX264
#endif

/// Decoders in processes of the probe, and what was said of them.
final class DecoderStage: Sendable {
  struct Failure: Error {}

  let decoders: IsolatedDecoders

  init(
    _ how: String = "well", picturePatience: TimeDelta = .seconds(20), soundPatience: TimeDelta = .seconds(20)
  ) {
    var patience = IsolatedDecoders.Patience()
    // A machine under test is busy.
    patience.start = .seconds(60)
    patience.picture = picturePatience
    patience.sound = soundPatience
    let sink = Sink()
    decoders = IsolatedDecoders(program: Self.probe(how), patience: patience) { sink.take($0) }
    self.sink = sink
  }

  private let sink: Sink

  private final class Sink: Sendable {
    let sentences = Mutex<[String]>([])
    func take(_ sentence: String) { sentences.withLock { $0.append(sentence) } }
  }

  var sentences: [String] { sink.sentences.withLock { $0 } }

  func factory(_ codec: VideoCodec) -> VideoDecoderFactory { decoders.factories(of: [codec])[codec]! }

  /// The program beside the one that runs the tests.
  private static func probe(_ how: String) -> ChildProgram {
    var room = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &room, room.count)
    let path = String(decoding: room[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let folder = path[..<(path.lastIndex(of: "/") ?? path.endIndex)]
    return ChildProgram(executable: folder + "/PluginHostProbe", arguments: ["decoder", how])
  }

  /// Coded pictures of a page in which a letter is typed for each.
  static func clip(
    _ codec: VideoCodec, count: Int, size: PixelSize = PixelSize(width: 318, height: 202)
  ) throws -> [[UInt8]] {
    let settings = VideoEncoderSettings(size: size, targetBitrate: .megabitsPerSecond(4))
    let encoder = try encoder(codec, settings)
    var page = ColourPage(size: size)
    var now = Timestamp.zero + .seconds(Int64(1))
    var clip: [[UInt8]] = []
    for number in 0..<count * 4 where clip.count < count {
      let rect = page.type(number % 20)
      page.draw(into: encoder.picture)
      let job = EncodeJob(changed: number == 0 ? nil : [rect], keyFrame: number == 0, captureTime: now, now: now)
      if let frame = try encoder.encode(job) { clip.append(frame.data) }
      now += .milliseconds(40)
    }
    guard clip.count == count else { throw Failure() }
    return clip
  }
}

extension DecoderStage {
  /// The codecs that this build encodes and a decoder's process decodes.
  static var codecs: [VideoCodec] {
    #if X264
      [.vp8, .vp9, .av1, .h264]
    #else
      [.vp8, .vp9, .av1]
    #endif
  }

  private static func encoder(_ codec: VideoCodec, _ settings: VideoEncoderSettings) throws -> any VideoEncoder {
    switch codec {
    case .vp8: return try VP8Encoder(settings)
    case .vp9: return try VP9Encoder(settings)
    case .av1: return try AV1Encoder(settings)
    case .h264:
      #if X264
        return try H264Encoder(settings)
      #else
        throw Failure()
      #endif
    }
  }
}

extension PixelBuffer {
  /// The samples of all planes without what lies between rows.
  var samples: [UInt8] {
    var result: [UInt8] = []
    for index in 0..<format.planeCount {
      let (extent, stride, bytes) = (format.planeExtent(index, of: size), stride(ofPlane: index), bytes(ofPlane: index))
      for row in 0..<extent.rows { for column in 0..<extent.rowBytes { result.append(bytes[row * stride + column]) } }
    }
    return result
  }
}
