public import RTCMedia

/// A camera of this machine.
public struct FoundCamera: Sendable {
  /// Such as `/dev/video0`.
  public var path: String
  /// The camera's own name.
  public var name: String
  /// The supported formats; the default first.
  public var formats: [VideoFormat]

  /// All cameras; devices that are not cameras, or cannot be opened now, are left out.
  /// - Throws: if there are devices and this user may open none of them.
  public static func all() throws(CaptureError) -> [FoundCamera] {
    var refusal: CaptureError?
    var found: [FoundCamera] = []
    for number in 0..<CameraDevice.mostDevices {
      do throws(CaptureError) {
        let device = try CameraDevice.open("/dev/video\(number)")
        found.append(FoundCamera(path: device.path, name: device.name, formats: device.formats))
      } catch {
        if case .notPermitted = error { refusal = error }
      }
    }
    if found.isEmpty, let refusal { throw refusal }
    return found
  }
}

extension CameraDevice {
  /// As `VideoCapturer.supportedFormats` has them.
  var formats: [VideoFormat] {
    CameraMode.ranked(modes(near: CameraCapturer.usualSize), size: CameraCapturer.usualSize, rate: 30).map { mode in
      VideoFormat(
        size: mode.size, frameRates: 0...(mode.rate > 0 ? mode.rate : 30), pixelFormat: mode.encoding.pixelFormat)
    }
  }
}
