import ArgumentParser
import Logging
import RTCCaptureCamera
import RTCMedia

struct CameraCommand: CastingCommand {
  static let configuration = CommandConfiguration(
    commandName: "camera",
    abstract: "Cast a camera.",
    discussion: """
      A camera is named by its path (/dev/video2), its number (2) or a part of its name; without one the first is taken. \
      Of its modes the one nearest to --size is taken that is fast enough for --fps; in the dark many a camera is slower \
      than it says. `rtcast list cameras` shows cameras and modes.

      Examples:
        rtcast camera
        rtcast camera 2 --size 1920x1080 --audio mic
        rtcast camera "HD Webcam" --to alice --server wss://hub.example
      """)

  @Argument(help: ArgumentHelp("Path, number or a part of the name. (default: the first)", valueName: "device"))
  var device: String?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Most pictures a second, 0.1 to 240. (default: 30)", valueName: "n"),
    transform: { try FrameRate(parsing: $0) })
  var fps: FrameRate?

  @Option(
    help: ArgumentHelp(
      "Size to ask the camera for; larger pictures are scaled down to it. (default: 1280x720)", valueName: "WxH"),
    transform: { try PictureSize(parsing: $0) })
  var size: PictureSize?

  @OptionGroup var cast: CastOptions

  func validate() throws { try CameraChoice.check(device) }

  func source(_ logger: Logger) -> CastRunner.Source {
    let size = cast.largestPicture(size)
    return CastRunner.Source(
      media: MediaSource(video: CameraCapturer(camera: CameraChoice.device(device))), name: "camera",
      frameRate: cast.frameRate(fps, otherwise: .motion), size: size ?? CameraCapturer.usualSize, maximumSize: size)
  }
}

/// Which camera, as typed.
enum CameraChoice {
  /// The word for `--camera` without a device.
  static let first = "first"

  static func check(_ text: String?) throws {
    if text?.isEmpty == true {
      throw ValidationError(
        "A camera is named by its path, its number or a part of its name; leave it out for the first.")
    }
  }

  /// As `CameraCapturer` takes it.
  static func device(_ text: String?) -> String? { text == first ? nil : text }
}
