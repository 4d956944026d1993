import ArgumentParser
import Logging
import RTCCaptureCamera
import RTCMedia

struct CameraCommand: CastingCommand {
  static let configuration = CommandConfiguration(
    commandName: "camera",
    abstract: "Cast a camera.",
    discussion: """
      rtcast chooses the camera mode nearest to --size that reaches --fps. Many cameras are slower in the dark than they \
      state. `rtcast list cameras` shows cameras and modes.

      H.264 of the camera is sent without being encoded again to viewers whose browser can decode it. It is chosen when the \
      camera reaches the size and rate only in H.264 or JPEG. --copy prefers it; --no-copy encodes all pictures here.

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

  @Flag(
    inversion: .prefixedNo,
    help: "Send H.264 of the camera without encoding it again, and prefer it to other formats; or always encode here.")
  var copy: Bool?

  @OptionGroup var cast: CastOptions

  func validate() throws { try CameraChoice.check(device) }

  func source(_ logger: Logger) -> CastRunner.Source { CameraChoice.source(device, cast.media, passesThrough: copy) }
}

/// The choice of a camera, as typed.
enum CameraChoice {
  /// The word for `--camera` without a device.
  static let first = "first"

  static func check(_ text: String?) throws {
    if text?.isEmpty == true {
      throw ValidationError(
        "The camera's name is empty. Give its path, its number or a part of its name, or leave it out for the "
          + "first camera."
      )
    }
  }

  /// Not started yet.
  /// - Parameters:
  ///   - text: nil or `first`: the first there is.
  ///   - passesThrough: as `CameraCapturer` has it.
  static func source(_ text: String?, _ media: MediaOptions, passesThrough: Bool? = nil) -> CastRunner.Source {
    let camera = CameraCapturer(
      camera: text == first ? nil : text, maximumSize: media.maximumSize, passesThrough: passesThrough)
    return CastRunner.Source(
      media: MediaSource(video: camera), name: "camera",
      frameRate: media.frameRate(otherwise: .motion), size: media.maximumSize ?? CameraCapturer.usualSize,
      maximumSize: media.maximumSize)
  }
}
