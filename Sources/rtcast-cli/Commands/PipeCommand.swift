import ArgumentParser
import Logging
import RTCCapture
import RTCMedia

struct PipeCommand: CastingCommand {
  static let configuration = CommandConfiguration(
    commandName: "pipe",
    abstract: "Cast uncompressed video that another program writes.",
    discussion: """
      The input is YUV4MPEG2, which states its size and frame rate: 8 to 16 bits, 4:2:0, 4:2:2, 4:4:4 or grey. With \
      --raw-format it is bare pictures, one after another. Pictures are shown at the stream's rate: a program that writes \
      faster is made to wait, so a film plays at its own speed with or without ffmpeg's -re; one that writes slower is \
      shown as it comes. If encoding cannot keep up, pictures are dropped and reading goes on. The end of the input ends \
      the cast.

      With --socket, rtcast connects to the program that listens on that socket; if there is none, it listens itself, for \
      this user only, and accepts one connection.

      Examples:
        ffmpeg -i talk.mkv -f yuv4mpegpipe - | rtcast pipe
        ffmpeg -f v4l2 -i /dev/video0 -pix_fmt yuv420p -f yuv4mpegpipe - | rtcast pipe --fps 15
        my-renderer | rtcast pipe --raw-format bgra --raw-size 1280x720 --raw-fps 60
        rtcast pipe --socket /tmp/frames --pace arrival
      """)

  @OptionGroup(title: "Input") var input: PipeOptions
  @OptionGroup var cast: CastOptions

  func validate() throws {
    if cast.output.control.readsStandardInput, input.socket == nil {
      throw ValidationError(
        "--control and the pictures cannot both come from standard input; send the pictures through --socket, or take "
          + "commands at a socket with --control unix:PATH.")
    }
  }

  func source(_ logger: Logger) -> CastRunner.Source {
    var options = PipeCapturer.Options()
    if let rawFormat = input.rawFormat, let rawSize = input.rawSize {
      options.format = .raw(rawFormat.pixelFormat, rawSize.size)
    }
    options.pacing = input.pace == .stream ? .streamRate : .arrival
    options.frameRate = input.rawFormat == nil ? cast.media.fps?.value : input.rawFps?.value
    options.colorSpace = input.matrix.map { $0 == .bt709 ? .bt709Limited : .bt601Limited }
    let capturer = PipeCapturer(
      input.socket.map { .socket(path: $0) } ?? .descriptor(0), options: options, onNotice: { logger.warning("\($0)") })
    return CastRunner.Source(
      media: MediaSource(video: capturer), name: "pipe",
      frameRate: cast.media.frameRate(otherwise: input.rawFps ?? .motion),
      maximumSize: cast.media.maximumSize)
  }
}

/// The input's format and timing.
struct PipeOptions: ParsableArguments {
  /// The formats of raw pictures.
  enum RawFormat: String, CaseIterable, ExpressibleByArgument {
    case bgra, i420, nv12

    var pixelFormat: PixelFormat {
      switch self {
      case .bgra: .bgra
      case .i420: .i420
      case .nv12: .nv12
      }
    }
  }

  enum Pace: String, CaseIterable, ExpressibleByArgument {
    case stream, arrival
  }

  enum Matrix: String, CaseIterable, ExpressibleByArgument {
    case bt601, bt709
  }

  @Option(help: ArgumentHelp("The input is bare pictures of this format, without headers.", valueName: "format"))
  var rawFormat: RawFormat?

  @Option(
    help: ArgumentHelp("Size of the input's pictures, with --raw-format.", valueName: "WxH"),
    transform: { try PictureSize(parsing: $0, option: "--raw-size") })
  var rawSize: PictureSize?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Frame rate of the input, with --raw-format, 0.1 to 240. (default: pictures are shown as they come)",
      valueName: "n"),
    transform: { try FrameRate(parsing: $0, option: "--raw-fps") })
  var rawFps: FrameRate?

  @Option(help: ArgumentHelp("Read from this Unix socket instead of standard input.", valueName: "path"))
  var socket: String?

  @Option(
    help: ArgumentHelp("Show pictures at the stream's rate (stream) or as they come (arrival).", valueName: "how"))
  var pace: Pace = .stream

  @Option(
    help: ArgumentHelp(
      "Colour matrix of YUV input. (default: bt709 for high definition, bt601 otherwise)", valueName: "name"))
  var matrix: Matrix?

  func validate() throws {
    if rawFormat != nil, rawSize == nil {
      throw ValidationError("--raw-format needs --raw-size: raw pictures do not state how large they are.")
    }
    if rawFormat == nil, rawSize != nil || rawFps != nil {
      throw ValidationError("--raw-size and --raw-fps need --raw-format; YUV4MPEG2 states size and rate itself.")
    }
    if socket?.isEmpty == true { throw ValidationError("--socket takes the path of a Unix socket.") }
  }
}
