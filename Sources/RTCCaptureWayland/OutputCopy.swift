import CWayland
import RTCCapture
import RTCMedia
import RTCNet
import RTCPrimitives

/// Copies of one monitor by wlr-screencopy: one after another, each asked for by its owner. The compositor answers when the
/// monitor shows something new.
final class OutputCopy {
  /// The most pictures of a monitor, of which the consumer holds some.
  private static let mostPictures = 6
  private static let shortestPause = TimeDelta.milliseconds(20)
  private static let longestPause = TimeDelta.seconds(1)

  /// A finished copy.
  struct Result {
    var time: Timestamp
    /// The changes since the copy before, in pixels of the upright picture; nil: unknown.
    var damage: [PixelRect]?
  }

  enum Refusal {
    /// The compositor offers no form of pixels that this program reads; the sentence says so.
    case format(String)
    /// The system has no memory left.
    case memory
  }

  private enum State {
    case idle
    /// The compositor is to say how it writes.
    case offering(OpaquePointer)
    /// All pictures are leased.
    case waiting(OpaquePointer, BufferLayout)
    case copying(OpaquePointer, CopiedPicture)
  }

  let output: WaylandOutput
  private let connection: WaylandConnection
  private let showsCursor: Bool
  private var state = State.idle
  private var pictures: [CopiedPicture] = []
  private var layout: BufferLayout?
  private var refusedFormats: [UInt32] = []
  private var isUpsideDown = false
  private var damage = DamageList()
  /// Whether the next copy is to come without waiting for a change.
  private var isWholeWanted = true
  /// The newest copy, and how it lies in its buffer.
  private(set) var newest: (picture: CopiedPicture, orientation: PixelOrientation)?
  /// The result that its owner has not taken yet.
  private(set) var result: Result?
  private(set) var refusal: Refusal?
  /// The time of the next request; nil while one is under way, or none is wanted.
  var askAt: Timestamp?
  /// The number of copies that the compositor has refused, without one that it made.
  private(set) var failures = 0

  init(_ output: WaylandOutput, _ connection: WaylandConnection, showsCursor: Bool) {
    (self.output, self.connection, self.showsCursor) = (output, connection, showsCursor)
    askAt = .zero
  }

  /// Whether the compositor reports changes.
  var hasDamage: Bool {
    connection.copyManager.map { zwlr_screencopy_manager_v1_get_version($0) >= 2 } ?? false
  }

  private var isIdle: Bool { if case .idle = state { true } else { false } }

  /// Whether the monitor has another form now than when it was last copied.
  var isOutdated: Bool {
    guard let newest, let size = output.modeSize else { return false }
    return newest.picture.layout.size != size || newest.orientation != expectedOrientation(of: newest)
  }

  private func expectedOrientation(of copy: (picture: CopiedPicture, orientation: PixelOrientation)) -> PixelOrientation
  {
    isUpsideDown ? output.orientation.upsideDown() : output.orientation
  }

  func takeResult() -> Result? {
    defer { result = nil }
    return result
  }

  /// Asks for a copy if its time has come, or continues one that waits for a picture without readers.
  func proceed(_ now: Timestamp) {
    switch state {
    case .idle:
      guard let askAt, askAt <= now, let manager = connection.copyManager else { return }
      self.askAt = nil
      (layout, isUpsideDown) = (nil, false)
      damage.removeAll()
      guard let frame = zwlr_screencopy_manager_v1_capture_output(manager, showsCursor ? 1 : 0, output.proxy) else {
        return
      }
      state = .offering(frame)
      zwlr_screencopy_frame_v1_add_listener(frame, WaylandListeners.frame, Unmanaged.passUnretained(self).toOpaque())
    case .waiting(let frame, let layout): copy(frame, layout)
    case .offering, .copying: break
    }
  }

  /// The next copy is whole, whatever changes. A copy under way is given up.
  func startOver(_ now: Timestamp) {
    cancel()
    isWholeWanted = true
    (newest, result) = (nil, nil)
    askAt = now
  }

  /// Gives all of the compositor's objects back. Before the connection ends.
  func end() {
    cancel()
    newest = nil
    for picture in pictures { picture.release() }
    pictures.removeAll()
  }

  private func cancel() {
    switch state {
    case .idle: break
    case .offering(let frame), .waiting(let frame, _), .copying(let frame, _): zwlr_screencopy_frame_v1_destroy(frame)
    }
    state = .idle
  }

  // MARK: The compositor's words

  func take(offer code: UInt32, width: UInt32, height: UInt32, stride: UInt32) {
    guard case .offering(let frame) = state, layout == nil else { return }
    layout = BufferLayout(code: code, width: width, height: height, stride: stride)
    if layout == nil { refusedFormats.append(code) }
    // Before version 3 there is one offer, and nothing after it.
    if zwlr_screencopy_frame_v1_get_version(frame) < 3 { finishOffers() }
  }

  func finishOffers() {
    guard case .offering(let frame) = state else { return }
    guard let layout else {
      cancel()
      refusal = .format(formatSentence)
      return
    }
    copy(frame, layout)
  }

  func take(flags: UInt32) { isUpsideDown = flags & ZWLR_SCREENCOPY_FRAME_V1_FLAGS_Y_INVERT.rawValue != 0 }

  func take(damage x: UInt32, _ y: UInt32, _ width: UInt32, _ height: UInt32) {
    guard case .copying(_, let picture) = state else { return }
    // Numbers of 32 bits cannot overflow here.
    let rect = PixelRect(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
    damage.insert(rect.intersection(PixelRect(picture.layout.size)))
  }

  func finish(high: UInt32, low: UInt32, nanoseconds: UInt32) {
    guard case .copying(let frame, let picture) = state else { return }
    zwlr_screencopy_frame_v1_destroy(frame)
    state = .idle
    let orientation = isUpsideDown ? output.orientation.upsideDown() : output.orientation
    let isSame = newest.map { $0.picture.layout == picture.layout && $0.orientation == orientation } ?? false
    let size = picture.layout.size
    let rects =
      isSame && !isWholeWanted && hasDamage ? damage.rects.map { orientation.upright($0, in: size) } : nil
    newest = (picture, orientation)
    (isWholeWanted, failures) = (false, 0)
    result = Result(time: Self.time(high: high, low: low, nanoseconds: nanoseconds), damage: rects)
  }

  func fail() {
    cancel()
    failures += 1
    let pause = min(Self.longestPause, Self.shortestPause * Int64(1 << min(failures, 8)))
    isWholeWanted = true
    askAt = MonotonicClock.now() + pause
  }

  /// The time that the compositor states, if it is of the same clock.
  private static func time(high: UInt32, low: UInt32, nanoseconds: UInt32) -> Timestamp {
    let now = MonotonicClock.now()
    guard high == 0, nanoseconds < 1_000_000_000 else { return now }
    let stated = Timestamp(nanoseconds: Int64(low) * 1_000_000_000 + Int64(nanoseconds))
    return stated <= now && now - stated < .seconds(1) ? stated : now
  }

  // MARK: Copying

  private func copy(_ frame: OpaquePointer, _ layout: BufferLayout) {
    guard let picture = freePicture(layout) else {
      // A lease that ends wakes the owner.
      if refusal == nil { state = .waiting(frame, layout) } else { cancel() }
      return
    }
    state = .copying(frame, picture)
    if isWholeWanted || !hasDamage {
      zwlr_screencopy_frame_v1_copy(frame, picture.buffer)
    } else {
      zwlr_screencopy_frame_v1_copy_with_damage(frame, picture.buffer)
    }
  }

  private func freePicture(_ layout: BufferLayout) -> CopiedPicture? {
    // Pictures of another form are over.
    for (index, picture) in pictures.enumerated().reversed() where picture.layout != layout {
      pictures.remove(at: index).release()
    }
    if let free = pictures.first(where: { !$0.isLeased && $0 !== newest?.picture }) { return free }
    guard pictures.count < Self.mostPictures, let memory = connection.memory else { return nil }
    guard let picture = CopiedPicture(layout, shared: memory) else {
      refusal = .memory
      return nil
    }
    pictures.append(picture)
    return picture
  }

  private var formatSentence: String {
    let codes = refusedFormats.map { "0x" + String($0, radix: 16) }.joined(separator: ", ")
    return "\(connection.title) copies the monitor \(output.name) in forms of pixels that rtcast does not read "
      + "(\(codes)); it reads 8 bits a colour. Set the monitor to 8 bits a colour."
  }
}
