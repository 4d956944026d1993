import CWayland
import RTCCapture
import RTCMedia

/// Copies by wlr-screencopy: an object of the compositor for each.
final class ScreencopyFrames: CopyProtocol {
  private let manager: OpaquePointer
  private let output: WaylandOutput
  private let showsCursor: Bool
  private weak var owner: OutputCopy?
  /// The copy under way.
  private var frame: OpaquePointer?
  /// The compositor is to say how it writes.
  private var isOffering = false
  private var layout: BufferLayout?
  private var refusedFormats: [UInt32] = []
  private var isUpsideDown = false
  private var damage = DamageList()

  init(_ manager: OpaquePointer, _ output: WaylandOutput, showsCursor: Bool) {
    (self.manager, self.output, self.showsCursor) = (manager, output, showsCursor)
  }

  var hasDamage: Bool { zwlr_screencopy_manager_v1_get_version(manager) >= 2 }

  func expectedOrientation(of output: WaylandOutput) -> PixelOrientation? {
    isUpsideDown ? output.orientation.upsideDown() : output.orientation
  }

  func ask(for owner: OutputCopy) {
    cancel()
    self.owner = owner
    (layout, isUpsideDown, isOffering) = (nil, false, true)
    refusedFormats = []
    damage.removeAll()
    frame = zwlr_screencopy_manager_v1_capture_output(manager, showsCursor ? 1 : 0, output.proxy)
    guard let frame else { return owner.fail() }
    zwlr_screencopy_frame_v1_add_listener(frame, WaylandListeners.frame, Unmanaged.passUnretained(self).toOpaque())
  }

  func copy(into picture: CopiedPicture, isWhole: Bool) {
    guard let frame else { return }
    if isWhole || !hasDamage {
      zwlr_screencopy_frame_v1_copy(frame, picture.buffer)
    } else {
      zwlr_screencopy_frame_v1_copy_with_damage(frame, picture.buffer)
    }
  }

  func cancel() {
    if let frame { zwlr_screencopy_frame_v1_destroy(frame) }
    (frame, isOffering) = (nil, false)
  }

  func close() { cancel() }

  // MARK: The compositor's words

  func take(offer code: UInt32, width: UInt32, height: UInt32, stride: UInt32) {
    guard let frame, isOffering, layout == nil else { return }
    layout = BufferLayout(code: code, width: width, height: height, stride: stride)
    if layout == nil { refusedFormats.append(code) }
    // Before version 3 there is one offer, and nothing after it.
    if zwlr_screencopy_frame_v1_get_version(frame) < 3 { finishOffers() }
  }

  func finishOffers() {
    guard isOffering else { return }
    isOffering = false
    if let layout { owner?.offer(layout) } else { owner?.refuse(refusedFormats) }
  }

  func take(flags: UInt32) { isUpsideDown = flags & ZWLR_SCREENCOPY_FRAME_V1_FLAGS_Y_INVERT.rawValue != 0 }

  func take(damage x: UInt32, _ y: UInt32, _ width: UInt32, _ height: UInt32) {
    guard let layout else { return }
    // Numbers of 32 bits cannot overflow here.
    let rect = PixelRect(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
    damage.insert(rect.intersection(PixelRect(layout.size)))
  }

  func finish(high: UInt32, low: UInt32, nanoseconds: UInt32) {
    guard frame != nil else { return }
    cancel()
    owner?.finish(
      at: OutputCopy.time(high: high, low: low, nanoseconds: nanoseconds), damage: damage,
      isUpsideDown ? output.orientation.upsideDown() : output.orientation)
  }

  func fail() {
    guard frame != nil else { return }
    cancel()
    owner?.fail()
  }
}
