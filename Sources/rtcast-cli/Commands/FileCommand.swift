import ArgumentParser
import Logging
import RTCCaptureFile
import RTCMedia
import RTCPrimitives

struct FileCommand: CastingCommand {
  static let configuration = CommandConfiguration(
    commandName: "file",
    abstract: "Cast a video, audio or picture file.",
    discussion: """
      Takes MP4, MOV, Matroska, WebM, MPEG-TS, MPEG-PS, AVI, FLV, Ogg, NUT, Y4M, IVF, WAV, FLAC, MP3, AAC, GIF, PNG, \
      JPEG, BMP and WebP files, in any codec that FFmpeg decodes; lists of other files are refused. Video in H.264 \
      without B-frames, VP8, VP9 or AV1 and audio in Opus are sent without being encoded again to viewers whose browser \
      can decode them, which costs next to nothing; everything else is encoded here. A viewer who joins between two key \
      frames waits for the next one; if that is more than a second away, pictures encoded here fill the time. Key frames \
      more than eleven seconds apart are too few: then all is encoded here. So are pictures with pixels that are not \
      square, or that are to be mirrored; turned ones are turned here for viewers that do not turn them.

      Keys at a terminal: space pauses, ← and → seek ten seconds, m mutes, q quits.

      Examples:
        rtcast file talk.mp4
        rtcast file talk.mp4 --loop --start 1:30
        rtcast file demo.webm --no-copy --size 1280x720 --fps 15
        rtcast file music.flac
      """)

  @Argument(help: ArgumentHelp("The file.", valueName: "path"))
  var path: String

  @OptionGroup(title: "Playback") var playback: PlaybackOptions
  @OptionGroup var cast: CastOptions

  func validate() throws {
    if playback.copy == true, cast.media.fps != nil || cast.media.size != nil || playback.speed != 1 {
      throw ValidationError("--copy sends pictures as they are in the file; leave out --fps, --size and --speed.")
    }
  }

  func source(_ logger: Logger) async throws(CastFailure) -> CastRunner.Source {
    var options = FilePlayer.Options()
    options.isLooped = playback.loop
    options.start = .seconds(playback.start.seconds)
    options.speed = playback.speed
    options.passesThrough = playback.copy ?? (playback.speed == 1)
    let source = try Self.source(path, options, cast.media, logger, keepsCopy: playback.copy == true)
    if playback.copy == true, let refusal = source.player?.passthroughRefusal { logger.warning("\(refusal)") }
    return source
  }

  /// - Parameter keepsCopy: passed-through media stay so, whatever rates and sizes a preset has.
  static func source(
    _ path: String, _ options: FilePlayer.Options, _ media: MediaOptions, _ logger: Logger, keepsCopy: Bool = false
  ) throws(CastFailure) -> CastRunner.Source {
    var options = options
    options.maximumFrameRate = media.maximumFrameRate
    options.playsSound = media.audio == nil || media.audio == .own
    if !keepsCopy, media.maximumFrameRate != nil || media.maximumSize != nil { options.passesThrough = false }
    let player: FilePlayer
    do throws(CaptureError) {
      player =
        try FilePlayer.open(path: path, options: options, hosts: .rtcast(logger))
    } catch {
      throw CastFailure(error)
    }
    let own = player.source.video?.supportedFormats.first?.frameRates.upperBound
    return CastRunner.Source(
      media: player.source, name: "file", frameRate: min(media.fps?.value ?? own ?? 30, 240),
      maximumSize: media.maximumSize, player: player)
  }
}

/// How a file is played.
struct PlaybackOptions: ParsableArguments {
  @Flag(help: "Start again at the end.")
  var loop = false

  @Option(
    help: ArgumentHelp("Start position: seconds, m:ss or h:mm:ss. (default: 0)", valueName: "time"),
    transform: { try PlaybackTime(parsing: $0) })
  var start = PlaybackTime.zero

  @Option(
    help: ArgumentHelp("Playback speed, 0.25 to 4; the pitch of audio is kept. (default: 1)", valueName: "factor"),
    transform: { text in
      guard let value = Double(text), FilePlayer.speeds.contains(value) else {
        throw ValidationError("--speed takes a factor from 0.25 to 4, not '\(text)'.")
      }
      return value
    })
  var speed = 1.0

  @Flag(
    inversion: .prefixedNo,
    help:
      "Send video and audio without encoding them again to viewers that can decode them. (default: --copy, unless --fps, --size or --speed is given)"
  )
  var copy: Bool?
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
      throw ValidationError("--start takes a time such as 90, 1:30 or 1:02:03, not '\(text)'.")
    }
    seconds = parts.dropFirst().reduce(first) { $0 * 60 + ($1 ?? 0) }
  }
}
