import CLinux
import Glibc
import RTCMedia

/// A camera that was opened; closed with the object.
final class CameraDevice {
  let path: String
  let name: String
  let descriptor: Int32

  private init(path: String, name: String, descriptor: Int32) {
    (self.path, self.name, self.descriptor) = (path, name, descriptor)
  }

  deinit { close(descriptor) }

  /// The number of devices examined; Video4Linux assigns the lowest numbers first.
  static let mostDevices = 64

  /// - Parameter wanted: a path, a number, a part of the name, or nil for the first there is.
  static func open(_ wanted: String?) throws(CaptureError) -> CameraDevice {
    if let wanted, let file = path(of: wanted) { return try open(path: file) }
    var refusal: CaptureError?
    var names: [String] = []
    for number in 0..<mostDevices {
      let path = "/dev/video\(number)"
      guard access(path, F_OK) == 0 else { continue }
      do throws(CaptureError) {
        let device = try open(path: path)
        guard let wanted, !device.name.lowercased().contains(wanted.lowercased()) else { return device }
        names.append(device.name)
      } catch {
        // Many a device there is no camera; one that may not be opened is worth telling.
        if case .notPermitted = error { refusal = error }
      }
    }
    if let refusal { throw refusal }
    if let wanted, !names.isEmpty {
      throw .noSuchSource("No camera is called “\(wanted)”; there are: \(names.joined(separator: ", ")).")
    }
    throw .noSuchSource("There is no camera: no /dev/video* captures pictures. Connect one, or cast something else.")
  }

  /// Nil if the text is a name.
  private static func path(of wanted: String) -> String? {
    if wanted.contains("/") { return wanted }
    let digits = wanted.hasPrefix("video") ? wanted.dropFirst(5) : Substring(wanted)
    guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return "/dev/video\(digits)"
  }

  private static func open(path: String) throws(CaptureError) -> CameraDevice {
    var name = [CChar](repeating: 0, count: 33)
    let descriptor = clinux_camera_open(path, &name)
    switch -descriptor {
    case ENOENT, ENODEV, ENXIO: throw .noSuchSource("There is no camera at \(path).")
    case EACCES, EPERM:
      throw .notPermitted("The camera \(path) may not be opened by this user: join the group “video” and log in again.")
    case EBUSY: throw .unavailable(busy(path))
    case ENOTTY, EINVAL, EISDIR: throw .noSuchSource("\(path) is not a camera.")
    case let error where error > 0:
      throw .unavailable("The camera \(path) cannot be opened: \(String(cString: strerror(error))).")
    default:
      let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      return CameraDevice(path: path, name: text, descriptor: descriptor)
    }
  }

  static func busy(_ name: String) -> String {
    "The camera \(name) is in use by another program; close it there first."
  }

  static func lost(_ name: String) -> String { "The camera \(name) went away: is it still connected?" }

  /// Every supported mode.
  /// - Parameter wanted: the preferred size, where sizes come in steps.
  func modes(near wanted: PixelSize) -> [CameraMode] {
    var modes: [CameraMode] = []
    for index in 0..<UInt32(64) {
      let code = clinux_camera_format(descriptor, index)
      if code == 0 { break }
      guard let encoding = CameraMode.Encoding(rawValue: code) else { continue }
      if encoding == .h264, !CameraH264.isDecoded { continue }
      for index in 0..<UInt32(256) {
        var sizes = clinux_camera_sizes()
        guard clinux_camera_sizes(descriptor, code, index, &sizes) != 0 else { break }
        let largest = PixelSize(width: Int(sizes.width), height: Int(sizes.height))
        let size =
          sizes.step_x == 0
          ? largest
          : CameraMode.nearest(
            to: wanted, smallest: PixelSize(width: Int(sizes.smallest_x), height: Int(sizes.smallest_y)),
            largest: largest, step: PixelSize(width: Int(sizes.step_x), height: Int(sizes.step_y)))
        let rate = clinux_camera_rate(descriptor, code, UInt32(size.width), UInt32(size.height))
        modes.append(CameraMode(encoding: encoding, size: size, rate: rate))
      }
    }
    return modes
  }
}
