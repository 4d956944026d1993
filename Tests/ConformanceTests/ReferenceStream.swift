import RTCCodecFFmpeg
import RTCCodecVPX
import RTCMedia
import RTCWire

/// A short stream of a reference encoder's own tool, and what the reference decoder makes of each of its frames: `vpxdec`,
/// `aomdec`; of H.264, which has no such tool in the distribution, what `x264` itself has made of the pictures it refers to.
struct ReferenceStream: Sendable {
  struct Frame: Sendable {
    var data: [UInt8]
    var isKeyFrame: Bool
    /// Nil when the frame shows nothing.
    var picture: CodedPicture?
  }

  let codec: VideoCodec
  var frames: [Frame]

  init(codec: VideoCodec, frames: [Frame]) {
    self.codec = codec
    self.frames = frames
  }

  init(_ coding: Coding) throws {
    codec = coding.codec
    let folder = try WorkFolder()
    try folder.write(coding.scene.y4m, to: "scene.y4m")
    try folder.run(coding.command)
    let bytes = try folder.read("coded")
    let frames = codec == .h264 ? CodedFrames.inByteStream(bytes) : CodedFrames.inIVF(bytes)
    let pictures = try codec == .h264 ? Self.reconstructed(coding, folder) : Self.decoded(coding, folder)
    self.frames = frames.indices.map {
      Frame(data: frames[$0], isKeyFrame: CodedFrames.isKeyFrame(frames[$0], of: coding.codec), picture: pictures[$0])
    }
  }

  /// A stream of VP8 or VP9 that `command` makes of `scene.y4m` and leaves in `coded`, as IVF.
  init(_ codec: VideoCodec, scene: Scene, command: String) throws {
    self.codec = codec
    let folder = try WorkFolder()
    try folder.write(scene.y4m, to: "scene.y4m")
    try folder.run(command)
    let frames = CodedFrames.inIVF(try folder.read("coded"))
    let pictures = try Self.decoded(Coding(codec, "", "", scene: scene), folder)
    self.frames = frames.indices.map {
      Frame(data: frames[$0], isKeyFrame: CodedFrames.isKeyFrame(frames[$0], of: codec), picture: pictures[$0])
    }
  }

  /// The pictures of the reference decoder's tool, by the frame's position in the file.
  private static func decoded(_ coding: Coding, _ folder: WorkFolder) throws -> [Int: CodedPicture] {
    let tool = coding.codec == .av1 ? "aomdec" : "vpxdec"
    // Pictures without colours get grey ones.
    let format = coding.scene.chroma == .none ? "--i420" : "--rawvideo"
    let text = try folder.run("\(tool) \(format) -o decoded coded && \(tool) \(format) --md5 -o '%w %h %4' coded")
    let bytes = try folder.read("decoded")
    var pictures: [Int: CodedPicture] = [:]
    var start = 0
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count == 4, let width = Int(fields[1]), let height = Int(fields[2]), let number = Int(fields[3])
      else { continue }
      let size = PixelSize(width: width, height: height)
      let end = min(bytes.count, start + coding.scene.byteCount(of: size))
      pictures[number - 1] = CodedPicture(size: size, samples: Array(bytes[start..<end]))
      start = end
    }
    return pictures
  }

  private static func reconstructed(_ coding: Coding, _ folder: WorkFolder) throws -> [Int: CodedPicture] {
    let bytes = try folder.read("decoded")
    let (size, isFull) = (coding.scene.size, coding.scene.chroma == .full)
    let area = size.width * size.height
    let grey = [UInt8](repeating: 128, count: coding.scene.chroma == .none ? area / 2 : 0)
    let length = (isFull ? 3 * area : 3 * area / 2) - grey.count
    var pictures: [Int: CodedPicture] = [:]
    for number in 0..<bytes.count / length {
      let planes = bytes[number * length..<(number + 1) * length] + grey
      pictures[number] = CodedPicture(planes: planes, coded: size, isFull: isFull, crop: coding.crop)
    }
    return pictures
  }

  /// Holds frames that are not shown when they come, by themselves or in one with another.
  var hasHiddenFrames: Bool { frames.contains { $0.picture == nil || CodedFrames.isSeveral($0.data, of: codec) } }

  /// Every decoder of ours for the codec.
  static func decoders(for codec: VideoCodec) throws -> [any VideoDecoder] {
    switch codec {
    case .vp8: [try VP8Decoder(), try VP8Decoder(threads: 2)]
    case .vp9: [try VP9Decoder(), try VP9Decoder(threads: 1)]
    case .h264, .av1: [try FFmpegVideoDecoder(codec), try FFmpegVideoDecoder(codec, threads: 1)]
    }
  }
}
