import RTCMedia
import RTCPrimitives
import Testing

/// How a reference encoder's own tool is to code a scene: `vpxenc`, `x264` or `aomenc` with these options.
struct Coding: Sendable, CustomTestStringConvertible {
  var codec: VideoCodec
  /// The feature of the stream that others do not have.
  var name: String
  var options: String
  var scene = Scene()
  /// H.264: columns and rows that are coded but not shown.
  var crop = (left: 0, top: 0, right: 0, bottom: 0)

  init(
    _ codec: VideoCodec, _ name: String, _ options: String, scene: Scene = Scene(),
    crop: (left: Int, top: Int, right: Int, bottom: Int) = (0, 0, 0, 0)
  ) {
    self.codec = codec
    self.name = name
    self.options = options
    self.scene = scene
    self.crop = crop
  }

  var testDescription: String { "\(codec.rawValue), \(name)" }

  /// The tool's command, from `scene.y4m` to `coded`.
  var command: String {
    switch codec {
    case .vp8, .vp9:
      "vpxenc --codec=\(codec.rawValue.lowercased()) --ivf --quiet --disable-warning-prompt \(options) -o coded scene.y4m"
    case .av1:
      "aomenc --ivf --quiet --disable-warning-prompt --passes=1 --threads=1 "
        + (scene.chroma == .none ? "--monochrome " : "") + "\(options) -o coded scene.y4m"
    case .h264:
      "x264 --quiet --no-progress --threads 1 --output-csp i\(scene.chroma.rawValue) --output-depth \(scene.bitDepth) "
        + "--crop-rect \(crop.left),\(crop.top),\(crop.right),\(crop.bottom) --muxer raw --dump-yuv decoded "
        + "\(options) -o coded scene.y4m"
    }
  }
}

extension Coding {
  private static let odd = PixelSize(width: 99, height: 67)
  private static let live = "--rt --lag-in-frames=0 --passes=1"

  /// Streams of every profile that is taken, with all that the encoders' tools can be told to use.
  static let taken = vp8 + vp9 + h264 + av1

  private static let vp8 = [
    Coding(.vp8, "live", live + " --cpu-used=4 --kf-max-dist=12 --target-bitrate=600"),
    Coding(
      .vp8, "hidden frames, an odd size", "--good --cpu-used=2 --auto-alt-ref=1 --lag-in-frames=12 --passes=2",
      scene: Scene(size: odd, frames: 24)),
    Coding(
      .vp8, "partitions, resilient to errors",
      live + " --cpu-used=4 --token-parts=3 --error-resilient=3 --target-bitrate=900 --noise-sensitivity=1"),
    Coding(.vp8, "profile 1", live + " --profile=1", scene: Scene(size: odd)),
    Coding(.vp8, "profile 2", live + " --profile=2"),
    Coding(.vp8, "profile 3", live + " --profile=3 --sharpness=5"),
    Coding(.vp8, "smaller than a macroblock", live, scene: Scene(size: PixelSize(width: 7, height: 5))),
  ]

  private static let vp9 = [
    Coding(.vp9, "live", live + " --cpu-used=7 --kf-max-dist=12 --target-bitrate=600 --aq-mode=3"),
    Coding(
      .vp9, "hidden frames, an odd size",
      "--good --cpu-used=4 --auto-alt-ref=1 --lag-in-frames=12 --passes=2 --min-gf-interval=4",
      scene: Scene(size: odd, frames: 24)),
    Coding(
      .vp9, "hidden frames in layers", "--good --cpu-used=4 --auto-alt-ref=4 --lag-in-frames=20 --passes=2",
      scene: Scene(frames: 30)),
    Coding(.vp9, "resilient to errors", live + " --cpu-used=7 --error-resilient=1 --frame-parallel=1"),
    Coding(
      .vp9, "tiles", live + " --cpu-used=7 --tile-columns=1 --tile-rows=2 --target-bitrate=2000",
      scene: Scene(size: PixelSize(width: 521, height: 131), frames: 8)),
    Coding(.vp9, "lossless", live + " --cpu-used=7 --lossless=1", scene: Scene(size: odd, frames: 8)),
    Coding(
      .vp9, "profile 1, 4:4:4, an odd size", "--profile=1 --good --cpu-used=4 --lag-in-frames=12",
      scene: Scene(size: odd, chroma: .full)),
    Coding(.vp9, "smaller than a block", live, scene: Scene(size: PixelSize(width: 7, height: 5))),
  ]

  /// Other sizes from frame to frame, without a key frame: the tool makes them where the rate is far too low.
  static let resizedVP9 = Coding(
    .vp9, "resized frames",
    live + " --cpu-used=8 --resize-allowed=1 --end-usage=cbr --target-bitrate=40 --buf-sz=500 --buf-initial-sz=300 "
      + "--buf-optimal-sz=400 --undershoot-pct=50 --overshoot-pct=50 --min-q=2 --max-q=56",
    scene: Scene(size: PixelSize(width: 640, height: 360), frames: 66))

  private static let h264 = [
    Coding(.h264, "constrained baseline", "--profile baseline --keyint 12"),
    Coding(.h264, "main", "--profile main --bframes 0 --keyint 12 --weightp 2 --ref 4"),
    Coding(.h264, "high", "--profile high --bframes 0 --preset slow --qp 18"),
    Coding(.h264, "slices", "--profile main --bframes 0 --slices 4"),
    Coding(.h264, "small slices without CABAC", "--no-cabac --bframes 0 --slice-max-size 300 --qp 15"),
    Coding(
      .h264, "delimiters and SEI", "--profile high --bframes 0 --aud --nal-hrd vbr --vbv-maxrate 500 --vbv-bufsize 500"),
    Coding(.h264, "intra refresh", "--bframes 0 --intra-refresh --keyint 8", scene: Scene(frames: 24)),
    Coding(.h264, "a part of the picture", "--bframes 0 --qp 20", crop: (6, 4, 2, 8)),
    Coding(
      .h264, "high 4:4:4, an odd size", "--bframes 0",
      scene: Scene(size: PixelSize(width: 100, height: 68), chroma: .full),
      crop: (0, 0, 1, 1)),
    Coding(.h264, "high 4:4:4, lossless", "--bframes 0 --qp 0 --slices 2", scene: Scene(chroma: .full, frames: 6)),
    Coding(.h264, "high without colours", "--bframes 0", scene: Scene(chroma: .none)),
    Coding(.h264, "fields", "--bframes 0 --tff", scene: Scene(size: PixelSize(width: 98, height: 68))),
  ]

  private static let av1 = [
    Coding(.av1, "live", "--rt --cpu-used=8 --lag-in-frames=0 --kf-max-dist=12 --target-bitrate=600"),
    Coding(
      .av1, "hidden frames, an odd size", "--good --cpu-used=6 --lag-in-frames=12 --end-usage=q --cq-level=30",
      scene: Scene(size: odd, frames: 20)),
    Coding(
      .av1, "key frames sent ahead", "--good --cpu-used=6 --lag-in-frames=16 --enable-fwd-kf=1 --kf-max-dist=12",
      scene: Scene(frames: 26)),
    Coding(
      .av1, "tiles and tile groups",
      "--rt --cpu-used=8 --lag-in-frames=0 --tile-columns=1 --tile-rows=1 --num-tile-groups=4 --target-bitrate=2000",
      scene: Scene(size: PixelSize(width: 261, height: 131), frames: 8)),
    // Of one other size: where sizes go up and down, dav1d 1.0 (Debian 12) differs from libaom and libgav1.
    Coding(
      .av1, "resized frames",
      "--good --cpu-used=6 --lag-in-frames=8 --resize-mode=1 --resize-kf-denominator=8 --resize-denominator=12",
      scene: Scene(frames: 10)),
    Coding(
      .av1, "super-resolution", "--good --cpu-used=6 --lag-in-frames=8 --superres-mode=2", scene: Scene(frames: 10)),
    Coding(.av1, "without colours", "--rt --cpu-used=8 --lag-in-frames=0", scene: Scene(chroma: .none, frames: 6)),
    Coding(.av1, "resilient to errors, switch frames", "--rt --cpu-used=8 --lag-in-frames=0 --error-resilient=1"),
    Coding(.av1, "film grain", "--good --cpu-used=6 --lag-in-frames=0 --film-grain-test=1", scene: Scene(frames: 6)),
    Coding(
      .av1, "screen content", "--rt --cpu-used=8 --lag-in-frames=0 --tune-content=screen --enable-palette=1",
      scene: Scene(size: odd, frames: 8)),
    Coding(
      .av1, "4:4:4, an odd size", "--profile=1 --rt --cpu-used=8 --lag-in-frames=0",
      scene: Scene(size: odd, chroma: .full)),
    Coding(
      .av1, "smaller than a block", "--rt --cpu-used=8 --lag-in-frames=0",
      scene: Scene(size: PixelSize(width: 17, height: 9), frames: 6)),
  ]
}
