import CX11
import RTCCapture
import RTCMedia
import RTCNet
import RTCPrimitives

/// One run of the X11 capturer, on its thread from connecting to the end.
final class X11CaptureLoop {
  /// The interval at which the pointer is looked for where the server reports motion: it does not report a move by a
  /// program (a warp).
  private static let pointerInterval = TimeDelta.milliseconds(200)
  /// The interval between two reported positions of the pointer.
  private static let tellInterval = TimeDelta.microseconds(16_667)
  /// The interval between two reported positions while the pointer is beside the picture.
  private static let outsideInterval = TimeDelta.milliseconds(50)
  /// The interval at which a pointer whose position is reported is looked for where the server does not report motion.
  private static let blindInterval = TimeDelta.milliseconds(33)
  /// The time before a hidden window is reported: a window that is closed is hidden first, and that is not reported.
  private static let hidingInterval = TimeDelta.milliseconds(300)
  /// The interval at which the server is asked whether it still answers, if nothing else is asked.
  private static let aliveInterval = TimeDelta.seconds(1)
  /// The most pictures that are kept for a consumer that holds on to its frames.
  private static let memoryLimit = 4

  private let options: X11CaptureOptions
  private let connection: X11Connection
  private let consumer: any VideoConsumer
  private let stall: StallReport
  private let cursorSettings: CursorSettings
  private let placement: PlacementReport
  private let run: WorkerRun
  private let notice: (String) -> Void
  private let interval: TimeDelta

  private var clock: FrameClock
  private var target: Target { didSet { reportPlacement() } }
  private var damage: DamageTracker?
  private var cursor: CursorTracker?
  private var pictures: [ScreenPicture] = []
  /// Whether the server writes into memory of this process; false once it refuses.
  private var sharesMemory: Bool
  /// Whether the next frame's whole content is new to the consumer.
  private var isWholeNew = true
  /// The changes since the last frame that the consumer got.
  private var undelivered = DamageList()
  private var announcement = FrameAnnouncement()
  /// The pointer in the last frame that the consumer got.
  private var shownPointer: ShownPointer?
  /// Whether frames show the pointer; nil before the first.
  private var drawing: CursorDrawing?
  /// The capture time of the first of the frames that have shown no pointer since; nil while they show one.
  private var bareSince: Timestamp?
  /// Whether the next frame shows the pointer.
  private var drawsCursor = true
  private var reporter: CursorReporter?
  /// The time at which the pointer's position is reported.
  private var tellAt: Timestamp?
  private var lastTold = Timestamp.zero
  /// Whether the target may have another size or place now.
  private var needsResolving = false
  private var lookAt: Timestamp?
  /// The time at which the hidden window is reported; the distant future once it is.
  private var reportHidingAt: Timestamp?

  /// The target of the capture, and whether it can be read now.
  private enum Target {
    case screen(X11Source)
    case window(WindowPixmap, X11Source)
    /// A window that is minimised, or on another workspace: the last picture stays.
    case hidden(WindowPixmap, last: X11Source)

    var source: X11Source {
      switch self {
      case .screen(let source), .window(_, let source), .hidden(_, let source): source
      }
    }
  }

  private struct ShownPointer: Equatable {
    var rect: PixelRect
    /// Which picture of the pointer.
    var image: Int
  }

  static func run(
    _ options: X11CaptureOptions, rate: Double, _ consumer: any VideoConsumer, _ cursorSettings: CursorSettings,
    _ placement: PlacementReport, _ run: WorkerRun, _ notice: @escaping (String) -> Void
  ) {
    defer { placement.set(nil) }
    let stall = StallReport(consumer)
    defer { stall.close() }
    let loop: X11CaptureLoop
    do throws(CaptureError) {
      let connection = try connect(options, stall, run)
      loop = try X11CaptureLoop(
        options, connection, rate: rate, consumer, stall, cursorSettings, placement, run, notice)
    } catch {
      run.noteEnded()
      return consumer.captureDidStart(.failure(error))
    }
    consumer.captureDidStart(
      .success(VideoFormat(size: loop.target.source.size, frameRates: 0...rate, pixelFormat: .bgra)))
    guard let end = loop.capture(), !run.isStopped else { return }
    run.noteEnded()
    consumer.captureDidEnd(end)
  }

  /// Waits for a server that hangs until it answers or the run is to stop.
  private static func connect(
    _ options: X11CaptureOptions, _ stall: StallReport, _ run: WorkerRun
  ) throws(CaptureError) -> X11Connection {
    let name = try X11Connection.displayName(options.display)
    let sentence = X11Connection.silenceSentence(of: name)
    let watch = try AnswerWatch(
      .report { isSilent in stall.setSilence(isSilent ? sentence : nil) }, greetingLimit: AnswerWatch.halfLimit)
    run.onStop { [weak watch] in watch?.interrupt() }
    return try X11Connection(name, watch)
  }

  private init(
    _ options: X11CaptureOptions, _ connection: X11Connection, rate: Double, _ consumer: any VideoConsumer,
    _ stall: StallReport, _ cursorSettings: CursorSettings, _ placement: PlacementReport, _ run: WorkerRun,
    _ notice: @escaping (String) -> Void
  ) throws(CaptureError) {
    guard rate > 0, rate <= 1000 else {
      throw .unsupportedFormat("A screen can be captured up to 1000 times a second, not \(rate) times.")
    }
    let extensions = connection.extensions
    (self.options, self.connection, self.notice) = (options, connection, notice)
    (self.consumer, self.stall, self.cursorSettings, self.run) = (consumer, stall, cursorSettings, run)
    self.placement = placement
    interval = .seconds(1 / rate)
    clock = FrameClock(.init(framesPerSecond: rate))
    sharesMemory = extensions.shm != nil
    if case .window(let wanted) = options.target {
      var pixmap = try WindowPixmap(wanted, connection)
      guard let source = try pixmap.source() else {
        throw .unavailable("The window “\(pixmap.title)” went away before it could be captured.")
      }
      target = .window(pixmap, source)
    } else {
      target = .screen(try X11Source.onScreen(options.target, connection))
    }
    do throws(SystemError) { try run.watch(connection.descriptor) } catch { throw CaptureError(error) }
    listen(extensions)
    reportPlacement()
  }

  private func reportPlacement() {
    let source = target.source
    let area = PixelRect(
      x: source.windowOrigin.x, y: source.windowOrigin.y, width: source.size.width, height: source.size.height)
    let surface =
      source.window == connection.root ? ScreenPlacement.Surface.screen : .window(source.window)
    placement.set(ScreenPlacement(surface: surface, area: area, picture: source.size))
  }

  private func listen(_ extensions: X11Extensions) {
    if extensions.hasDamage {
      damage = DamageTracker(connection, window: target.source.window)
    } else {
      notice("The X display has no DAMAGE extension: the whole picture is grabbed every time, changed or not.")
    }
    if options.cursor {
      if extensions.hasCursor {
        cursor = CursorTracker(connection)
      } else {
        notice("The X display has no XFIXES extension: the pointer is not shown.")
      }
    }
    if !sharesMemory { noticeSocket() }
    if !target.source.layout.isBGRA {
      notice("The X display's pixels are not 8 bits a colour: every picture is converted once more.")
    }
    if case .screen = target {
      var mask = XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue
      xcb_change_window_attributes(connection.raw, connection.root, XCB_CW_EVENT_MASK.rawValue, &mask)
      if extensions.randr != nil { xcb_randr_select_input(connection.raw, connection.root, 7) }
    }
  }

  private func noticeSocket() {
    notice("The X display shares no memory with this program (is it remote?): pictures are copied, which costs more.")
  }

  // MARK: The loop

  /// Captures until stopped (nil) or until the source ends.
  private func capture() -> CaptureEnd? {
    clock.noteDemand(at: MonotonicClock.now())
    lookAt = MonotonicClock.now()
    while !run.isStopped {
      while let event = connection.nextEvent() {
        if let end = handle(event) { return end }
      }
      if connection.isBroken { return .lost("The X display \(connection.displayName) went away.") }
      if needsResolving, let end = resolveAgain() { return end }
      let now = MonotonicClock.now()
      applyCursorSettings(now)
      look(now)
      if let time = tellAt, time <= now { lookAtPointer(now) }
      if let time = reportHidingAt, time <= now { reportHiding() }
      if let takeAt = damage?.takeAt, takeAt <= now { damage?.take() }
      // Answers read on the way may have brought events with them: go round before waiting.
      if let due = clock.nextGrab, due <= now, let picture = freePicture() {
        grab(into: picture)
        continue
      }
      announcement.announce(clock.nextGrab, to: consumer, now: now)
      connection.flush()
      run.wait(until: nextDeadline(now))
    }
    return nil
  }

  private func nextDeadline(_ now: Timestamp) -> Timestamp? {
    var deadlines = [damage?.takeAt, lookAt, tellAt, reportHidingAt == .distantFuture ? nil : reportHidingAt]
    // A due grab that found no free memory waits for a lease to end, which wakes the thread.
    if let grab = clock.nextGrab, grab > now { deadlines.append(grab) }
    return deadlines.compactMap { $0 }.min()
  }

  private func handle(_ event: X11Event) -> CaptureEnd? {
    let now = MonotonicClock.now()
    switch event {
    case .damaged(let serverTime):
      if let time = damage?.noteChange(serverTime: serverTime, now: now) { clock.noteChange(at: time) }
    case .cursorImageChanged:
      cursor?.noteImageChanged()
      pointerChanged(now)
    case .pointerMoved:
      cursor?.noteMotion()
      pointerChanged(now)
    case .monitorsChanged: needsResolving = true
    case .resized(let window) where window == target.source.window: needsResolving = true
    case .mapped(let window) where shows(window): needsResolving = true
    case .unmapped(let window) where shows(window):
      if case .window(let pixmap, let source) = target { hide(pixmap, source) }
    case .reparented(let window) where shows(window): needsResolving = true
    case .destroyed(let window) where window == target.source.window:
      return .lost("The window “\(windowTitle)” was closed.")
    case .resized, .mapped, .unmapped, .reparented, .destroyed, .other: break
    }
    return nil
  }

  /// Whether the window that is captured is shown only while `window` is: it is the same, or an ancestor.
  private func shows(_ window: xcb_window_t) -> Bool {
    switch target {
    case .screen: false
    case .window(let pixmap, _), .hidden(let pixmap, _): window == pixmap.window || pixmap.ancestors.contains(window)
    }
  }

  /// The last picture stays.
  private func hide(_ pixmap: WindowPixmap, _ last: X11Source) {
    target = .hidden(pixmap.forgotten(), last: last)
    reportHidingAt = reportHidingAt ?? MonotonicClock.now() + Self.hidingInterval
  }

  private func reportHiding() {
    guard case .hidden(let pixmap, _) = target else { return }
    reportHidingAt = .distantFuture
    stall.setHiding("The window “\(pixmap.title)” is hidden; its last picture stays until it is shown again.")
  }

  private var windowTitle: String {
    switch target {
    case .screen: ""
    case .window(let pixmap, _), .hidden(let pixmap, _): pixmap.title
    }
  }

  /// Looks for changes that the server does not report: warps of the pointer, all changes if it has no DAMAGE, and that
  /// it hangs.
  private func look(_ now: Timestamp) {
    guard let time = lookAt, time <= now else { return }
    if damage == nil {
      lookAt = now + interval
      clock.noteDemand(at: now)
    } else if cursor != nil {
      let unheard = tellsPointer ? Self.blindInterval : max(interval, .milliseconds(5))
      lookAt = now + (connection.extensions.hasRawMotion ? Self.pointerInterval : unheard)
      lookAtPointer(now)
    } else {
      lookAt = now + Self.aliveInterval
      connection.ask()
    }
  }

  /// The pointer as it appears in the picture; nil when no part of it is in the picture.
  private var pointerInPicture: ShownPointer? {
    guard let cursor, let drawing = cursor.drawing else { return nil }
    let rect = PixelRect(x: drawing.x, y: drawing.y, width: drawing.image.size.width, height: drawing.image.size.height)
      .intersection(PixelRect(target.source.size))
    return rect.isEmpty ? nil : ShownPointer(rect: rect, image: cursor.imageNumber)
  }

  // MARK: Telling of the pointer

  /// Whether the pointer's position is reported instead of being drawn.
  private var tellsPointer: Bool { reporter != nil && drawing?.isDrawn == false }

  /// Applies the present settings of the pointer. The next frame changes accordingly.
  private func applyCursorSettings(_ now: Timestamp) {
    guard cursor != nil else { return }
    let settings = cursorSettings.now
    if settings.consumer !== reporter?.consumer {
      reporter = settings.consumer.map { CursorReporter($0) }
      tell()
    }
    guard settings.drawsCursor != drawsCursor else { return }
    drawsCursor = settings.drawsCursor
    clock.noteChange(at: now, isPeriodic: false)
  }

  /// It moved, or looks otherwise: that is a change of the picture, or is told soon.
  private func pointerChanged(_ now: Timestamp) {
    guard tellsPointer else { return clock.noteChange(at: now, isPeriodic: false) }
    guard tellAt == nil else { return }
    let isInside = pointerInPicture != nil
    tellAt = max(now, lastTold + (isInside ? Self.tellInterval : Self.outsideInterval))
  }

  /// Asks where the pointer is, and tells of it or has it drawn there.
  private func lookAtPointer(_ now: Timestamp) {
    (tellAt, lastTold) = (nil, now)
    cursor?.refresh(in: target.source)
    tell()
    if drawsCursor, pointerInPicture != shownPointer { clock.noteChange(at: now, isPeriodic: false) }
  }

  /// Tells what the consumer does not know yet.
  private func tell() {
    guard let cursor, let drawing else { return }
    reporter?.tell(drawing)
    if let (image, number) = cursor.look { reporter?.tell(image, number: number) }
    guard !drawing.isDrawn else { return }
    reporter?.tell(position: pointerInPicture == nil || isHidden ? nil : cursor.hotSpot)
  }

  private var isHidden: Bool { if case .hidden = target { true } else { false } }

  /// The frame of `now` shows the pointer, or does not; nil: there is no new frame, as the pointer is not in the picture.
  private func noteDrawing(frame now: Timestamp?) {
    guard cursor != nil else { return }
    if let now { bareSince = shownPointer == nil ? bareSince ?? now : nil }
    let size = target.source.size
    if drawing?.isDrawn != drawsCursor || drawing?.pictureSize != size {
      drawing = CursorDrawing(isDrawn: drawsCursor, pictureSize: size, since: bareSince ?? now ?? .zero)
    }
    tell()
  }

  // MARK: Size and place

  private func resolveAgain() -> CaptureEnd? {
    needsResolving = false
    let old = target.source
    do throws(CaptureError) {
      switch target {
      case .screen: target = .screen(try X11Source.onScreen(options.target, connection))
      case .window(let pixmap, let last), .hidden(let pixmap, let last): try reread(pixmap, last)
      }
    } catch {
      return .lost(error.sentence)
    }
    if target.source != old { startOver(sameSize: target.source.size == old.size) }
    return nil
  }

  private func reread(_ pixmap: WindowPixmap, _ last: X11Source) throws(CaptureError) {
    var pixmap = pixmap
    guard let source = try pixmap.source() else { return hide(pixmap, last) }
    target = .window(pixmap, source)
    reportHidingAt = nil
    stall.setHiding(nil)
  }

  /// The picture is another one now.
  private func startOver(sameSize: Bool) {
    if sameSize {
      for picture in pictures { picture.stale = DamageList([PixelRect(picture.size)]) }
    } else {
      for picture in pictures { picture.detach(from: connection) }
      pictures.removeAll()
    }
    isWholeNew = true
    undelivered.removeAll()
    shownPointer = nil
    bareSince = nil
    clock.noteDemand(at: MonotonicClock.now())
  }

  // MARK: Grabbing

  /// Memory that nobody reads; nil when the consumer keeps all there is.
  private func freePicture() -> ScreenPicture? {
    if let free = pictures.first(where: { !$0.memory.isLeased }) { return free }
    guard pictures.count < Self.memoryLimit else { return nil }
    let size = target.source.size
    var picture: ScreenPicture?
    if sharesMemory, target.source.layout.isBGRA {
      picture = ScreenPicture(size: size, sharedOver: connection)
      if picture == nil, !connection.isBroken {
        sharesMemory = false
        noticeSocket()
      }
    }
    let found = picture ?? ScreenPicture(size: size)
    pictures.append(found)
    return found
  }

  private func grab(into picture: ScreenPicture) {
    if case .hidden = target { return clock.noteNothingToGrab() }
    let now = MonotonicClock.now()
    guard collectDamage() else { return clock.noteNothingToGrab() }
    cursor?.refresh(in: target.source)
    let pointer = drawsCursor ? pointerInPicture : nil
    if pointer != shownPointer {
      if let rect = shownPointer?.rect { undelivered.insert(rect) }
      if let rect = pointer?.rect { undelivered.insert(rect) }
    }
    guard isWholeNew || !undelivered.isEmpty else { return rest(now) }
    picture.removeCursor()
    guard Grabber(connection: connection, source: target.source).refresh(picture) else { return tryLater(now) }
    if drawsCursor, let place = cursor?.drawing { picture.draw(place.image, x: place.x, y: place.y) }
    clock.noteGrab(at: now)
    let changes = isWholeNew ? nil : undelivered.rects
    isWholeNew = damage == nil
    undelivered.removeAll()
    shownPointer = pointer
    noteDrawing(frame: now)
    announcement.noteDelivery()
    let buffer = picture.memory.lease { [run] in run.wake() }
    consumer.consume(VideoFrame(buffer: buffer, captureTime: now, damage: changes, colorSpace: .sRGB))
  }

  /// Takes over what the server says has changed; false when it does not answer.
  private func collectDamage() -> Bool {
    let source = target.source
    let whole = PixelRect(source.size)
    var changed = DamageList()
    if damage == nil {
      changed.insert(whole)
    } else {
      guard let rects = damage?.collect() else { return false }
      for rect in rects {
        let (x, y) = (rect.x - source.windowOrigin.x, rect.y - source.windowOrigin.y)
        changed.insert(PixelRect(x: x, y: y, width: rect.width, height: rect.height).intersection(whole))
      }
    }
    for picture in pictures { picture.stale.formUnion(changed) }
    undelivered.formUnion(changed)
    return true
  }

  /// Nothing of the picture changed: the change was beside it. A pointer out there is not listened to for a while.
  private func rest(_ now: Timestamp) {
    clock.noteNothingToGrab()
    noteDrawing(frame: nil)
    guard cursor != nil, !tellsPointer else { return }
    cursor?.noteMotion()
    lookAt = min(lookAt ?? .distantFuture, now + interval)
  }

  /// The drawable changed under the grab; what is known about it is old.
  private func tryLater(_ now: Timestamp) {
    needsResolving = true
    clock.noteGrab(at: now)
    clock.noteChange(at: now, isPeriodic: false)
  }
}
