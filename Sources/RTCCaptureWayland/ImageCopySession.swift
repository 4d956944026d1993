import CWayland
import RTCCapture
import RTCMedia

/// Copies by ext-image-copy-capture: a session of the compositor for each monitor, and a frame of it for each copy.
///
/// The first copy of a session comes at once, and each other one with the next change. Changes that come while no copy is
/// under way are reported with the next one.
final class ImageCopySession: CopyProtocol {
  private let managers: Managers
  private let output: WaylandOutput
  private let showsCursor: Bool
  private weak var owner: OutputCopy?
  private var session: OpaquePointer?
  /// The copy under way.
  private var frame: OpaquePointer?
  /// The compositor is to say how it writes.
  private var isAsking = false
  /// The constraints that are being told, and those that hold.
  private var told = Constraints()
  private var constraints: Constraints?
  /// The size of the copy under way.
  private var size = PixelSize(width: 0, height: 0)
  private var orientation = PixelOrientation.upright
  private var damage = DamageList()
  private var time: (high: UInt32, low: UInt32, nanoseconds: UInt32) = (0, 0, 0)

  /// The compositor's objects that begin a session.
  struct Managers {
    var copies: OpaquePointer
    var outputs: OpaquePointer
  }

  /// The form that pictures have to have.
  private struct Constraints {
    /// More forms are not read.
    static let mostFormats = 64

    var width: UInt32 = 0
    var height: UInt32 = 0
    var formats: [UInt32] = []

    /// A form that this program reads, BGRA if there is a choice: pages show its pixels exactly.
    var layout: BufferLayout? {
      // The stride is the client's choice; a width that is too large is refused whatever it is.
      let layouts = formats.compactMap { BufferLayout(code: $0, width: width, height: height, stride: width &* 4) }
      return layouts.first { $0.format == .bgra } ?? layouts.first
    }
  }

  init(_ managers: Managers, _ output: WaylandOutput, showsCursor: Bool) {
    (self.managers, self.output, self.showsCursor) = (managers, output, showsCursor)
  }

  var hasDamage: Bool { true }

  func expectedOrientation(of output: WaylandOutput) -> PixelOrientation? { nil }

  func ask(for owner: OutputCopy) {
    cancel()
    self.owner = owner
    isAsking = true
    if session == nil { open() }
    if session == nil { return fail() }
    offer()
  }

  private func open() {
    guard let source = ext_output_image_capture_source_manager_v1_create_source(managers.outputs, output.proxy) else {
      return
    }
    defer { ext_image_capture_source_v1_destroy(source) }
    let options = showsCursor ? EXT_IMAGE_COPY_CAPTURE_MANAGER_V1_OPTIONS_PAINT_CURSORS.rawValue : 0
    session = ext_image_copy_capture_manager_v1_create_session(managers.copies, source, options)
    guard let session else { return }
    ext_image_copy_capture_session_v1_add_listener(
      session, WaylandListeners.imageSession, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Passes the form on that holds, if a copy was asked for.
  private func offer() {
    guard isAsking, let constraints else { return }
    isAsking = false
    if let layout = constraints.layout { owner?.offer(layout) } else { owner?.refuse(constraints.formats) }
  }

  func copy(into picture: CopiedPicture, isWhole: Bool) {
    // It may have been stopped while all pictures were leased.
    guard let session, frame == nil else { return fail() }
    (size, orientation, time) = (picture.layout.size, .upright, (0, 0, 0))
    damage.removeAll()
    frame = ext_image_copy_capture_session_v1_create_frame(session)
    guard let frame else { return fail() }
    ext_image_copy_capture_frame_v1_add_listener(
      frame, WaylandListeners.imageFrame, Unmanaged.passUnretained(self).toOpaque())
    ext_image_copy_capture_frame_v1_attach_buffer(frame, picture.buffer)
    for rect in picture.stale.rects {
      ext_image_copy_capture_frame_v1_damage_buffer(
        frame, Int32(clamping: rect.x), Int32(clamping: rect.y), Int32(clamping: rect.width),
        Int32(clamping: rect.height))
    }
    ext_image_copy_capture_frame_v1_capture(frame)
  }

  func cancel() {
    if let frame { ext_image_copy_capture_frame_v1_destroy(frame) }
    (frame, isAsking) = (nil, false)
  }

  func close() {
    cancel()
    if let session { ext_image_copy_capture_session_v1_destroy(session) }
    (session, constraints) = (nil, nil)
    told = Constraints()
  }

  // MARK: The session's words

  func take(width: UInt32, height: UInt32) { (told.width, told.height) = (width, height) }

  func take(format: UInt32) {
    if told.formats.count < Constraints.mostFormats { told.formats.append(format) }
  }

  func finishConstraints() {
    constraints = told
    told = Constraints()
    offer()
  }

  /// The session is over. Another one may be possible, as for a monitor that is switched on again.
  func stop() {
    let isWaited = isAsking || frame != nil
    close()
    if isWaited { owner?.fail() }
  }

  // MARK: The frame's words

  func take(transform: UInt32) { orientation = PixelOrientation(transform: Int32(clamping: transform)) }

  func take(damage x: Int32, _ y: Int32, _ width: Int32, _ height: Int32) {
    guard width > 0, height > 0 else { return }
    // Numbers of 32 bits cannot overflow here.
    let rect = PixelRect(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
    damage.insert(rect.intersection(PixelRect(size)))
  }

  func take(high: UInt32, low: UInt32, nanoseconds: UInt32) { time = (high, low, nanoseconds) }

  func finish() {
    guard frame != nil else { return }
    cancel()
    owner?.finish(
      at: OutputCopy.time(high: time.high, low: time.low, nanoseconds: time.nanoseconds), damage: damage,
      orientation)
  }

  func fail(_ reason: UInt32) {
    guard frame != nil else { return }
    if reason == EXT_IMAGE_COPY_CAPTURE_FRAME_V1_FAILURE_REASON_STOPPED.rawValue { close() }
    fail()
  }

  private func fail() {
    cancel()
    owner?.fail()
  }
}
