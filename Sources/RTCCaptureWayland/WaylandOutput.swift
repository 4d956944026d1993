import CWayland
import RTCCapture
import RTCMedia

/// A monitor, as the compositor describes it.
final class WaylandOutput {
  /// Larger numbers are those of no monitor.
  private static let largestSide = 32_768
  private static let farthest = 1 << 20

  /// The compositor's number of it.
  let globalName: UInt32
  let proxy: OpaquePointer
  private let onChange: () -> Void
  private var xdgOutput: OpaquePointer?

  /// Such as `DP-1`; empty before the compositor has told it.
  private(set) var name = ""
  /// The maker and the model, or another text for people.
  private(set) var description = ""
  /// The pixels of the monitor, before its transform; nil before they are known.
  private(set) var modeSize: PixelSize?
  private(set) var orientation = PixelOrientation.upright
  private var scale = 1
  private var position = (x: 0, y: 0)
  private var logicalPosition: (x: Int, y: Int)?
  private var logicalSize: PixelSize?

  init(_ proxy: OpaquePointer, globalName: UInt32, onChange: @escaping () -> Void) {
    (self.proxy, self.globalName, self.onChange) = (proxy, globalName, onChange)
    wl_output_add_listener(proxy, WaylandListeners.output, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Asks for the name and the place in the desktop, once.
  func describe(by manager: OpaquePointer) {
    guard xdgOutput == nil else { return }
    xdgOutput = zxdg_output_manager_v1_get_xdg_output(manager, proxy)
    guard let xdgOutput else { return }
    zxdg_output_v1_add_listener(xdgOutput, WaylandListeners.xdgOutput, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Nothing is heard of it afterwards.
  func release() {
    if let xdgOutput { zxdg_output_v1_destroy(xdgOutput) }
    xdgOutput = nil
    if wl_output_get_version(proxy) >= 3 { wl_output_release(proxy) } else { wl_output_destroy(proxy) }
  }

  /// The size of its upright picture, in pixels; nil before it is known.
  var pictureSize: PixelSize? { modeSize.map { orientation.uprightSize(of: $0) } }

  /// The place in the desktop, in the desktop's units; nil before it is known.
  var place: PixelRect? {
    guard let pictureSize else { return nil }
    let size = logicalSize ?? PixelSize(width: pictureSize.width / scale, height: pictureSize.height / scale)
    let (x, y) = logicalPosition ?? position
    guard size.width > 0, size.height > 0 else { return nil }
    return PixelRect(x: x, y: y, width: size.width, height: size.height)
  }

  // MARK: The compositor's words

  func setGeometry(x: Int32, y: Int32, transform: Int32) {
    if let place = Self.place(x, y) { position = place }
    orientation = PixelOrientation(transform: transform)
  }

  func setMode(flags: UInt32, width: Int32, height: Int32) {
    guard flags & WL_OUTPUT_MODE_CURRENT.rawValue != 0 else { return }
    modeSize = Self.size(width, height)
  }

  func setScale(_ factor: Int32) { if (1...64).contains(factor) { scale = Int(factor) } }

  func setName(_ text: UnsafePointer<CChar>?) { if let text { name = String(cString: text) } }

  func setDescription(_ text: UnsafePointer<CChar>?) { if let text { description = String(cString: text) } }

  func setLogicalPosition(x: Int32, y: Int32) { logicalPosition = Self.place(x, y) }

  func setLogicalSize(width: Int32, height: Int32) { logicalSize = Self.size(width, height) }

  func finishChange() { onChange() }

  private static func place(_ x: Int32, _ y: Int32) -> (x: Int, y: Int)? {
    let (x, y) = (Int(x), Int(y))
    return abs(x) <= farthest && abs(y) <= farthest ? (x, y) : nil
  }

  private static func size(_ width: Int32, _ height: Int32) -> PixelSize? {
    let sides = 1...largestSide
    guard sides.contains(Int(width)), sides.contains(Int(height)) else { return nil }
    return PixelSize(width: Int(width), height: Int(height))
  }
}
