import ArgumentParser
import Logging
import RTCCapture
import RTCMedia

struct PipeCommand: CastingCommand {
  static let configuration = CommandConfiguration(
    commandName: "pipe",
    abstract: "Cast uncompressed pictures that another program writes.",
    discussion: """
      Without --raw-format the input is YUV4MPEG2, which says its size and rate itself: 8 to 16 bits, 4:2:0, 4:2:2, \
      4:4:4 or grey. Pictures are shown at the stream's rate: a program that writes faster is made to wait, so a film plays \
      at its own speed with or without ffmpeg's -re; one that writes slower is followed as it comes. When encoding \
      cannot keep up, pictures are left out and reading goes on. The end of the input is the end of the cast.

      With --socket, the stream is fetched from the program that listens there; when there is none, rtcast listens there \
      itself, for this user alone, and takes the first that connects.

      Examples:
        ffmpeg -i talk.mkv -f yuv4mpegpipe - | rtcast pipe
        ffmpeg -f v4l2 -i /dev/video0 -pix_fmt yuv420p -f yuv4mpegpipe - | rtcast pipe --fps 30
        my-renderer | rtcast pipe --raw-format bgra --size 1280x720 --fps 60
        rtcast pipe --socket /tmp/frames --pace arrival
      """)

  /// What raw pictures may be.
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

  @Option(help: ArgumentHelp("The input is bare pictures of this format, without a header.", valueName: "format"))
  var rawFormat: RawFormat?

  @Option(
    help: ArgumentHelp(
      "Size of raw pictures. Of others, the largest to send: larger ones are scaled down.", valueName: "WxH"),
    transform: { try PictureSize(parsing: $0) })
  var size: PictureSize?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Rate of raw pictures. Of others, the most shown a second; 0.1 to 240. (default: 30; raw ones as they come)",
      valueName: "n"),
    transform: { try FrameRate(parsing: $0) })
  var fps: FrameRate?

  @Option(help: ArgumentHelp("Read from this Unix socket instead of standard input.", valueName: "path"))
  var socket: String?

  @Option(help: ArgumentHelp("Show pictures at the stream's rate, or as they come.", valueName: "how"))
  var pace: Pace = .stream

  @Option(
    help: ArgumentHelp("Matrix of YUV pictures. (default: bt709 for high definition, else bt601)", valueName: "name"))
  var matrix: Matrix?

  @OptionGroup var cast: CastOptions

  func validate() throws {
    if rawFormat != nil, size == nil {
      throw ValidationError("--raw-format needs --size: raw pictures do not say how large they are.")
    }
    if socket?.isEmpty == true { throw ValidationError("--socket wants the path of a Unix socket.") }
    if cast.takesControl, socket == nil {
      throw ValidationError(
        "--control and the pictures would both come from standard input; let the pictures come by --socket.")
    }
  }

  func source(_ logger: Logger) -> CastRunner.Source {
    var options = PipeCapturer.Options()
    if let rawFormat, let size { options.format = .raw(rawFormat.pixelFormat, size.size) }
    options.pacing = pace == .stream ? .streamRate : .arrival
    options.frameRate = fps?.value
    options.colorSpace = matrix.map { $0 == .bt709 ? .bt709Limited : .bt601Limited }
    let capturer = PipeCapturer(
      socket.map { .socket(path: $0) } ?? .descriptor(0), options: options, onNotice: { logger.warning("\($0)") })
    return CastRunner.Source(
      media: MediaSource(video: capturer), name: "pipe", frameRate: cast.frameRate(fps, otherwise: .motion),
      maximumSize: rawFormat == nil ? cast.largestPicture(size) : cast.preset?.size)
  }
}
