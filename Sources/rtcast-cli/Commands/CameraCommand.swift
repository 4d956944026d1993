import ArgumentParser
import Logging
import RTCCaptureCamera
import RTCMedia

struct CameraCommand: CastingCommand {
  static let configuration = CommandConfiguration(
    commandName: "camera",
    abstract: "Cast a camera.",
    discussion: """
      Of the camera's modes the one nearest to --size is chosen that reaches --fps; in the dark many cameras are slower \
      than they state. `rtcast list cameras` shows cameras and modes.

      Examples:
        rtcast camera
        rtcast camera 2 --size 1920x1080 --audio mic
        rtcast camera "HD Webcam" --to alice --server wss://hub.example
      """)

  @Argument(
    help: ArgumentHelp(
      "Camera, by its path (/dev/video2), its number (2) or a part of its name. (default: the first)",
      valueName: "device"))
  var device: String?

  @OptionGroup var cast: CastOptions

  func validate() throws { try CameraChoice.check(device) }

  func source(_ logger: Logger) -> CastRunner.Source { CameraChoice.source(device, cast.media) }
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

  /// Not started yet.
  /// - Parameter text: nil or `first`: the first there is.
  static func source(_ text: String?, _ media: MediaOptions) -> CastRunner.Source {
    CastRunner.Source(
      media: MediaSource(video: CameraCapturer(camera: text == first ? nil : text)), name: "camera",
      frameRate: media.frameRate(otherwise: .motion), size: media.maximumSize ?? CameraCapturer.usualSize,
      maximumSize: media.maximumSize)
  }
}
