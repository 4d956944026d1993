import ArgumentParser
import Logging
import RTCCaptureFile
import RTCMedia
import RTCPrimitives

struct FileCommand: CastingCommand {
  static let configuration = CommandConfiguration(
    commandName: "file",
    abstract: "Cast a video, a sound or a picture file.",
    discussion: """
      Anything FFmpeg can read. Pictures and sound that browsers can take as they are (H.264 without B-frames, VP8, VP9, \
      AV1, Opus) are passed on without decoding, which costs next to nothing; everything else is encoded here. A viewer \
      who comes between two key frames waits for the next one, or gets pictures encoded here when that is more than two \
      seconds away.

      At a terminal: space pauses, ← and → go back and forward ten seconds, m mutes, q ends.

      Examples:
        rtcast file talk.mp4
        rtcast file talk.mp4 --loop --start 1:30
        rtcast file demo.webm --no-copy --size 1280x720 --fps 15
        rtcast file music.flac
      """)

  @Argument(help: ArgumentHelp("The file.", valueName: "path"))
  var path: String

  @Flag(help: "Begin again at the end.")
  var loop = false

  @Option(
    help: ArgumentHelp("Where to begin: seconds, m:ss or h:mm:ss. (default: 0)", valueName: "time"),
    transform: { try PlaybackTime(parsing: $0) })
  var start = PlaybackTime.zero

  @Option(
    help: ArgumentHelp("How fast to play, 0.25 to 4; sound keeps its pitch. (default: 1)", valueName: "factor"),
    transform: { text in
      guard let value = Double(text), FilePlayer.speeds.contains(value) else {
        throw ValidationError("--speed is a factor from 0.25 to 4, not '\(text)'.")
      }
      return value
    })
  var speed = 1.0

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Most pictures a second, 0.1 to 240. (default: the file's own)", valueName: "n"),
    transform: { try FrameRate(parsing: $0) })
  var fps: FrameRate?

  @Option(
    help: ArgumentHelp("Largest picture to send; larger ones are scaled down to fit.", valueName: "WxH"),
    transform: { try PictureSize(parsing: $0) })
  var size: PictureSize?

  @Flag(
    inversion: .prefixedNo,
    help: "Pass pictures and sound on without encoding them anew, where viewers can take them. (default: --copy)")
  var copy: Bool?

  @OptionGroup var cast: CastOptions

  func validate() throws {
    if copy == true, fps != nil || size != nil || speed != 1 {
      throw ValidationError("--copy sends pictures as the file has them; leave out --fps, --size and --speed.")
    }
  }

  func source(_ logger: Logger) async throws(CastFailure) -> CastRunner.Source {
    var options = FilePlayer.Options()
    options.isLooped = loop
    options.start = .seconds(start.seconds)
    options.speed = speed
    let limit = cast.preset?.frameRate ?? fps?.value
    options.maximumFrameRate = limit
    options.playsSound = cast.audio == nil || cast.audio == .own
    options.passesThrough = passesThrough
    let player: FilePlayer
    do throws(CaptureError) { player = try FilePlayer.open(path: path, options: options) } catch {
      throw CastFailure(error)
    }
    if copy == true, let refusal = player.passthroughRefusal { logger.warning("\(refusal)") }
    let own = player.source.video?.supportedFormats.first?.frameRates.upperBound
    return CastRunner.Source(
      media: player.source, name: "file", frameRate: min(fps?.value ?? own ?? 30, 240),
      maximumSize: cast.largestPicture(size), player: player)
  }

  private var passesThrough: Bool {
    copy ?? (fps == nil && size == nil && speed == 1 && cast.preset?.size == nil && cast.preset?.frameRate == nil)
  }
}

/// A place in a file as people write it.
struct PlaybackTime: Hashable, Sendable {
  var seconds: Double

  static let zero = PlaybackTime(seconds: 0)

  init(seconds: Double) { self.seconds = seconds }

  /// `90`, `90.5`, `1:30`, `1:02:03`.
  init(parsing text: String) throws {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Double($0) }
    let isWhole = parts.dropFirst().allSatisfy { $0.map { (0..<60).contains($0) } ?? false }
    guard (1...3).contains(parts.count), isWhole, let first = parts[0], first >= 0, first < 1e7 else {
      throw ValidationError("--start is a time such as 90, 1:30 or 1:02:03, not '\(text)'.")
    }
    seconds = parts.dropFirst().reduce(first) { $0 * 60 + ($1 ?? 0) }
  }
}
