import RTCCapture
import RTCMedia
import RTCNet
import RTCPrimitives

/// Copies of one monitor: one after another, each asked for by its owner. The compositor answers when the monitor shows
/// something new.
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
    case offering
    /// All pictures are leased.
    case waiting(BufferLayout)
    case copying(CopiedPicture)
  }

  let output: WaylandOutput
  private let connection: WaylandConnection
  private let copying: any CopyProtocol
  private var state = State.idle
  private var pictures: [CopiedPicture] = []
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

  init(_ output: WaylandOutput, _ connection: WaylandConnection, _ copying: any CopyProtocol) {
    (self.output, self.connection, self.copying) = (output, connection, copying)
    askAt = .zero
  }

  /// Whether the compositor reports changes.
  var hasDamage: Bool { copying.hasDamage }

  /// Whether the monitor has another form now than when it was last copied, and the compositor does not say so.
  var isOutdated: Bool {
    guard let newest, let size = output.modeSize, let orientation = copying.expectedOrientation(of: output) else {
      return false
    }
    return newest.picture.layout.size != size || newest.orientation != orientation
  }

  func takeResult() -> Result? {
    defer { result = nil }
    return result
  }

  /// Asks for a copy if its time has come, or continues one that waits for a picture without readers.
  func proceed(_ now: Timestamp) {
    switch state {
    case .idle:
      guard let askAt, askAt <= now else { return }
      self.askAt = nil
      state = .offering
      copying.ask(for: self)
    case .waiting(let layout): copy(layout)
    case .offering, .copying: break
    }
  }

  /// The next copy is whole, whatever changes. A copy under way is given up.
  func startOver(_ now: Timestamp) {
    close()
    isWholeWanted = true
    (newest, result) = (nil, nil)
    askAt = now
  }

  /// Gives all of the compositor's objects back. Before the connection ends.
  func end() {
    close()
    newest = nil
    for picture in pictures { picture.release() }
    pictures.removeAll()
  }

  private func close() {
    copying.close()
    leaveCopy()
  }

  /// The copy under way does not come about. The compositor may have written a part of it.
  private func leaveCopy() {
    if case .copying(let picture) = state { picture.noteAllStale() }
    state = .idle
  }

  // MARK: The compositor's words

  func offer(_ layout: BufferLayout) {
    guard case .offering = state else { return }
    copy(layout)
  }

  /// The compositor has no form of pixels that this program reads.
  /// - Parameter formats: values of `wl_shm.format`.
  func refuse(_ formats: [UInt32]) {
    close()
    refusal = .format(sentence(for: formats))
  }

  /// - Parameter damage: the changes since the copy before, in pixels of the buffer and inside it.
  func finish(at time: Timestamp, damage: DamageList, _ orientation: PixelOrientation) {
    guard case .copying(let picture) = state else { return }
    state = .idle
    let size = picture.layout.size
    let isSame = newest.map { $0.picture.layout == picture.layout && $0.orientation == orientation } ?? false
    let isTold = isSame && !isWholeWanted && hasDamage
    let rects = isTold ? damage.rects.map { orientation.upright($0, in: size) } : nil
    for other in pictures {
      if other === picture { other.stale.removeAll() } else { other.stale.formUnion(damage) }
    }
    newest = (picture, orientation)
    (isWholeWanted, failures) = (false, 0)
    result = Result(time: time, damage: rects)
  }

  func fail() {
    leaveCopy()
    failures += 1
    let pause = min(Self.longestPause, Self.shortestPause * Int64(1 << min(failures, 8)))
    isWholeWanted = true
    askAt = MonotonicClock.now() + pause
  }

  /// The time that the compositor states, if it is of the same clock.
  static func time(high: UInt32, low: UInt32, nanoseconds: UInt32) -> Timestamp {
    let now = MonotonicClock.now()
    guard high == 0, nanoseconds < 1_000_000_000 else { return now }
    let stated = Timestamp(nanoseconds: Int64(low) * 1_000_000_000 + Int64(nanoseconds))
    return stated <= now && now - stated < .seconds(1) ? stated : now
  }

  // MARK: Copying

  private func copy(_ layout: BufferLayout) {
    guard let picture = freePicture(layout) else {
      // A lease that ends wakes the owner.
      if refusal == nil { state = .waiting(layout) } else { close() }
      return
    }
    state = .copying(picture)
    copying.copy(into: picture, isWhole: isWholeWanted)
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

  private func sentence(for formats: [UInt32]) -> String {
    guard !formats.isEmpty else {
      return
        "\(connection.title) copies the monitor \(output.name) into memory of graphics cards alone, which rtcast does not "
        + "read. Capture it by its portal: --wayland-backend portal."
    }
    let codes = formats.map { "0x" + String($0, radix: 16) }.joined(separator: ", ")
    return "\(connection.title) copies the monitor \(output.name) in forms of pixels that rtcast does not read "
      + "(\(codes)); it reads 8 bits a colour. Set the monitor to 8 bits a colour."
  }
}
