import CPipeWire
import RTCCapture
import RTCMedia
import RTCNet
import RTCPrimitives

/// One run of the portal's capturer, on its thread from asking the desktop to the end.
final class PortalCaptureLoop {
  private enum Token {
    static let bus: UInt32 = 0
    static let stream: UInt32 = 1
  }

  /// Positions of the pointer come with the pictures, so no fewer are asked for where they are told.
  private static let leastCursorRate = 30.0
  /// The pause before PipeWire is looked for again.
  private static let retryInterval = TimeDelta.seconds(1)
  /// A stream whose format is not agreed on within this time is reported.
  private static let formatInterval = TimeDelta.seconds(4)
  /// A cast whose stream is taken away more often than this, without a picture in between, ends.
  private static let mostRemovals = 3
  /// If the session ends within this time before PipeWire does, PipeWire is the reason.
  private static let closingInterval = TimeDelta.milliseconds(300)

  private let options: PortalCaptureOptions
  private let consumer: any VideoConsumer
  private let run: WorkerRun
  private let rate: Double
  private let notice: (String) -> Void
  private let poller: Poller

  private var bus: DesktopBus
  private var session: CastSession
  private var stream: PipeWireStream?
  private var streamFormat: (size: PixelSize, format: PixelFormat)?
  private var clock: FrameClock
  private var cursor: StreamCursor
  private var painter: StreamPainter?
  /// The newest picture.
  private var newest: Newest?
  /// Buffers that have been taken and are not the newest, but leased.
  private var leased: [StreamBuffer] = []
  private var hasStarted = false
  private var isWholeNew = true
  private var undelivered = DamageList()
  private var changedAt = Timestamp.zero
  private var announcement = FrameAnnouncement()
  /// The part of the last frame that the drawn pointer covered, and the image's place.
  private var shownPointer: PixelRect?
  private var isPointerChanged = false
  private var wasDrawn = true
  private var reportedStall: String?
  private var retryAt: Timestamp?
  /// Whether it is the desktop, not PipeWire, that ended the last stream.
  private var isNodeRemoved = false
  /// How often the stream was taken away since the last picture.
  private var removals = 0
  /// A picture was left out since the newest one, whose changes are not known.
  private var isDamageLost = false
  /// The time at which a stream without a format is reported.
  private var reportFormatAt: Timestamp?
  private var closedAt: Timestamp?

  private struct Newest {
    var buffer: StreamBuffer
    var picture: PackedPicture
    /// The part that is shown, in the upright picture.
    var crop: PixelRect
  }

  private enum End: Error {
    case failed(CaptureError)
    case lost(String)
  }

  static func run(
    _ options: PortalCaptureOptions, rate: Double, _ consumer: any VideoConsumer, _ cursorSettings: CursorSettings,
    _ run: WorkerRun, _ notice: @escaping (String) -> Void
  ) {
    let loop: PortalCaptureLoop
    do throws(CaptureError) {
      loop = try PortalCaptureLoop(options, rate: rate, consumer, cursorSettings, run, notice)
    } catch {
      run.noteEnded()
      return consumer.captureDidStart(.failure(error))
    }
    let end = loop.capture()
    guard let end, !run.isStopped else { return }
    run.noteEnded()
    switch end {
    case .failed(let error) where !loop.hasStarted: consumer.captureDidStart(.failure(error))
    case .lost(let sentence) where !loop.hasStarted: consumer.captureDidStart(.failure(.unavailable(sentence)))
    case .failed(let error): consumer.captureDidEnd(.lost(error.sentence))
    case .lost(let sentence): consumer.captureDidEnd(.lost(sentence))
    }
  }

  private init(
    _ options: PortalCaptureOptions, rate: Double, _ consumer: any VideoConsumer, _ cursorSettings: CursorSettings,
    _ run: WorkerRun, _ notice: @escaping (String) -> Void
  ) throws(CaptureError) {
    guard rate > 0, rate <= 1000 else {
      throw .unsupportedFormat("A screen can be captured up to 1000 times a second, not \(rate) times.")
    }
    (self.options, self.consumer, self.run, self.rate, self.notice) = (options, consumer, run, rate, notice)
    var settings = FrameClock.Settings(framesPerSecond: rate)
    // The desktop hands over whole pictures.
    (settings.settleQuiet, settings.settleLimit) = (.zero, .zero)
    clock = FrameClock(settings)
    cursor = StreamCursor(cursorSettings)
    bus = try DesktopBus()
    poller = try Self.poller(of: bus, run)
    session = try CastSession(bus, options)
  }

  private static func poller(of bus: DesktopBus, _ run: WorkerRun) throws(CaptureError) -> Poller {
    do throws(SystemError) {
      let poller = try Poller()
      try poller.add(bus.descriptor, token: Token.bus)
      try run.watch(poller.number)
      return poller
    } catch {
      throw CaptureError(error)
    }
  }

  // MARK: The loop

  /// Captures until stopped (nil) or until the source ends.
  private func capture() -> End? {
    defer { closeStream() }
    while !run.isStopped {
      do throws(End) {
        try followBus()
        try followStream()
        try retry()
      } catch {
        return error
      }
      let now = MonotonicClock.now()
      giveBack()
      lookForFormat(now)
      applyCursorSettings(now)
      do throws(DMABufferError) {
        if let due = clock.nextGrab, due <= now, try deliver(now) { continue }
      } catch {
        return .lost(error.description)
      }
      if hasStarted { announcement.announce(clock.nextGrab, to: consumer, now: now) }
      run.wait(until: nextDeadline(now))
    }
    return nil
  }

  private func nextDeadline(_ now: Timestamp) -> Timestamp? {
    var deadlines = [retryAt, reportFormatAt, closedAt.map { $0 + Self.closingInterval }]
    // A due frame waits for a lease to end, which wakes the thread.
    if let grab = clock.nextGrab, grab > now { deadlines.append(grab) }
    return deadlines.compactMap { $0 }.min()
  }

  private func report(stall sentence: String?) {
    guard sentence != reportedStall else { return }
    reportedStall = sentence
    if let sentence { consumer.captureDidStall(sentence) } else { consumer.captureDidResume() }
  }

  // MARK: The session

  private func followBus() throws(End) {
    if let time = closedAt, MonotonicClock.now() >= time + Self.closingInterval {
      throw .lost("The desktop ended the sharing of its screen. Start the cast again to share it again.")
    }
    guard let events = bus.process() else {
      throw .lost("The D-Bus of the desktop session went away; the session has ended.")
    }
    for event in events {
      do throws(CaptureError) {
        switch try session.take(event) {
        case .wait: break
        case .waitForUser:
          report(stall: "The desktop may ask in a dialog what to share; the cast begins when that is answered there.")
        case .open(let node, let descriptor): try openStream(node, descriptor)
        case .closed: if retryAt == nil || isNodeRemoved { closedAt = closedAt ?? MonotonicClock.now() }
        }
      } catch {
        try noteFailure(error)
        return
      }
    }
  }

  private func openStream(_ node: UInt32, _ descriptor: Int32?) throws(CaptureError) {
    let wanted = options.cursor ? max(rate, Self.leastCursorRate) : rate
    let opened = try PipeWireStream(
      descriptor: descriptor, node: node, rate: wanted, size: options.target.virtualSize)
    do throws(SystemError) { try poller.add(opened.descriptor, token: Token.stream) } catch {
      throw CaptureError(error)
    }
    stream = opened
    reportFormatAt = MonotonicClock.now() + Self.formatInterval
  }

  private func closeStream() {
    guard let stream else { return }
    poller.remove(stream.descriptor)
    newest = nil
    leased.removeAll()
    (streamFormat, reportFormatAt) = (nil, nil)
    self.stream = nil
  }

  /// PipeWire went away, and may come back.
  private func retry() throws(End) {
    guard let time = retryAt, time <= MonotonicClock.now() else { return }
    retryAt = nil
    // A closed session was ended by the user, who is not asked to share again.
    guard closedAt == nil else { return }
    do throws(CaptureError) {
      poller.remove(bus.descriptor)
      bus = try DesktopBus()
      do throws(SystemError) { try poller.add(bus.descriptor, token: Token.bus) } catch { throw CaptureError(error) }
      session = try CastSession(bus, options)
      isNodeRemoved = false
    } catch {
      try noteFailure(error)
    }
  }

  /// After the first picture, PipeWire may come back while the desktop is there. What the user refused is not asked for again.
  private func noteFailure(_ error: CaptureError) throws(End) {
    if case .notPermitted = error { throw .failed(error) }
    guard hasStarted, stream == nil, isDesktopThere else { throw .failed(error) }
    retryAt = MonotonicClock.now() + Self.retryInterval
  }

  private var isDesktopThere: Bool {
    switch options.backend {
    case .mutter: bus.has("org.gnome.Mutter.ScreenCast")
    case .portal: bus.portalVersion != nil
    }
  }

  // MARK: The stream

  private func followStream() throws(End) {
    guard let stream else { return }
    let events = stream.process()
    if newest?.buffer.isReadable == false { newest = nil }
    // Buffers are taken in the end: they have the format that was told last.
    var isReady = false
    for event in events {
      switch event {
      case .isStreaming: break
      case .format(let size, let format):
        streamFormat = (size, format)
        reportFormatAt = nil
        if let wanted = options.target.virtualSize, size != wanted {
          notice("The desktop made a virtual monitor of \(size), not of \(wanted).")
        }
      case .ready: isReady = true
      case .nodeRemoved:
        // A user who ends the sharing also closes the session; a portal that crashes leaves it open.
        closeStream()
        try noteRemoval()
        return
      case .ended(let text):
        closeStream()
        guard hasStarted else {
          let reason = text.isEmpty ? "" : " (\(text))"
          throw .lost("PipeWire does not connect the stream of the screen\(reason). \(Self.connectionAdvice)")
        }
        (closedAt, isNodeRemoved) = (nil, false)
        retryAt = MonotonicClock.now() + Self.retryInterval
        report(stall: "PipeWire, which passes the pictures of the screen on, went away; they continue when it is back.")
        return
      }
    }
    if isReady { try takeBuffers(stream) }
  }

  private func noteRemoval() throws(End) {
    isNodeRemoved = true
    removals += 1
    guard hasStarted, removals <= Self.mostRemovals else {
      throw .lost(
        "The desktop took the pictures of its screen away before one came. Start the cast again to share it again.")
    }
    retryAt = MonotonicClock.now() + Self.retryInterval
    report(stall: "The desktop took the pictures of its screen away. It is asked for them again.")
  }

  private func lookForFormat(_ now: Timestamp) {
    guard let time = reportFormatAt, time <= now else { return }
    reportFormatAt = nil
    report(
      stall: "PipeWire does not connect the stream of the screen. \(Self.connectionAdvice) The cast begins when it is "
        + "connected.")
  }

  private static let connectionAdvice =
    "Either wireplumber does not run, or the desktop passes pictures on only in forms that graphics drivers alone can read."

  private func takeBuffers(_ stream: PipeWireStream) throws(End) {
    let now = MonotonicClock.now()
    while let (buffer, content) = stream.take() {
      if content.follows_gap { isDamageLost = true }
      var taken: Newest?
      do throws(DMABufferError) {
        if !content.is_corrupted { taken = try picture(in: buffer, content) }
      } catch {
        throw .lost(error.description)
      }
      if let taken { replaceNewest(by: taken, content, stream, now) }
      // The pointer's place is told in the whole picture, and shown in this picture's part.
      takeCursor(of: buffer, content, stream, now)
      guard taken == nil else { continue }
      // A buffer without pixels and changes tells of the pointer alone.
      if content.size > 0 || content.damage_count >= 0 { isDamageLost = true }
      stream.give(buffer)
    }
    if stream.hasUnreadable {
      throw .lost(
        "The desktop passes the pictures of its screen on in memory that rtcast cannot read. Choose another way with "
          + "--wayland-backend.")
    }
  }

  private func picture(in buffer: StreamBuffer, _ content: cpipewire_picture) throws(DMABufferError) -> Newest? {
    guard let streamFormat else { return nil }
    let orientation = PixelOrientation(transform: Int32(clamping: content.transform))
    guard
      let picture = try buffer.picture(
        size: streamFormat.size, format: streamFormat.format, content: content, orientation: orientation)
    else { return nil }
    let whole = PixelRect(streamFormat.size)
    var shown = whole
    if content.has_crop { shown = Self.rect(content.crop).intersection(whole) }
    shown = orientation.upright(shown, in: streamFormat.size)
    // The portal's user chose something; a part of it was asked for.
    if options.backend == .portal, case .region(let region) = options.target {
      shown = PixelRect(x: shown.x + region.x, y: shown.y + region.y, width: region.width, height: region.height)
        .intersection(shown)
    }
    return shown.isEmpty ? nil : Newest(buffer: buffer, picture: picture, crop: shown)
  }

  private func replaceNewest(
    by taken: Newest, _ content: cpipewire_picture, _ stream: PipeWireStream, _ now: Timestamp
  ) {
    let isSame = newest.map { $0.crop == taken.crop && $0.picture.orientation == taken.picture.orientation } ?? false
    if let old = newest?.buffer, old !== taken.buffer { leased.append(old) }
    newest = taken
    giveBack()
    changedAt = Self.time(content.time, now)
    if isSame, !isDamageLost, content.damage_count >= 0 {
      let damage = withUnsafeBytes(of: content.damage) { Array($0.bindMemory(to: cpipewire_rect.self)) }
      for rect in damage.prefix(Int(content.damage_count)) {
        let inBuffer = Self.rect(rect).intersection(PixelRect(taken.picture.size))
        let upright = taken.picture.orientation.upright(inBuffer, in: taken.picture.size).intersection(taken.crop)
        noteChange(
          PixelRect(
            x: upright.x - taken.crop.x, y: upright.y - taken.crop.y, width: upright.width, height: upright.height))
      }
    } else {
      noteChange(PixelRect(x: 0, y: 0, width: taken.crop.width, height: taken.crop.height))
      if !isSame { isWholeNew = true }
    }
    isDamageLost = false
    if isWholeNew { clock.noteDemand(at: now) } else { clock.noteChange(at: now) }
  }

  private func noteChange(_ rect: PixelRect) {
    guard !rect.isEmpty else { return }
    undelivered.insert(rect)
    painter?.noteChange(rect)
  }

  /// Gives the buffers back that nobody reads any more.
  private func giveBack() {
    guard let stream, !leased.isEmpty else { return }
    leased.removeAll { buffer in
      guard !buffer.isLeased else { return false }
      stream.give(buffer)
      return true
    }
  }

  private static func rect(_ raw: cpipewire_rect) -> PixelRect {
    PixelRect(x: Int(raw.x), y: Int(raw.y), width: Int(raw.width), height: Int(raw.height))
  }

  /// The time that the desktop states, if it is of the same clock.
  private static func time(_ stated: Int64, _ now: Timestamp) -> Timestamp {
    let time = Timestamp(nanoseconds: stated)
    return stated > 0 && time <= now && now - time < .seconds(1) ? time : now
  }

  // MARK: The pointer

  private func takeCursor(
    of buffer: StreamBuffer, _ content: cpipewire_picture, _ stream: PipeWireStream, _ now: Timestamp
  ) {
    guard options.cursor, content.tells_cursor else { return }
    cursor.isTold = true
    if let image = stream.cursorImage(of: buffer) { cursor.take(image) }
    let origin = newest?.crop ?? PixelRect(x: 0, y: 0, width: 0, height: 0)
    cursor.position =
      content.has_cursor
      ? CursorPosition(x: Int(content.cursor_x) - origin.x, y: Int(content.cursor_y) - origin.y) : nil
    if wasDrawn {
      isPointerChanged = true
      clock.noteChange(at: now, isPeriodic: false)
    } else {
      cursor.tell()
    }
  }

  private func applyCursorSettings(_ now: Timestamp) {
    guard cursor.isTold else { return }
    cursor.tell()
    guard cursor.drawsCursor != wasDrawn else { return }
    wasDrawn = cursor.drawsCursor
    isPointerChanged = true
    clock.noteChange(at: now, isPeriodic: false)
  }

  // MARK: Frames

  /// Hands the newest picture over; false while that is impossible.
  private func deliver(_ now: Timestamp) throws(DMABufferError) -> Bool {
    guard let newest else {
      clock.noteNothingToGrab()
      return true
    }
    let size = PixelSize(width: newest.crop.width, height: newest.crop.height)
    let isDrawn = cursor.isTold && wasDrawn
    let pointer = isDrawn ? cursor.covered(of: size) : nil
    if isPointerChanged, pointer != nil || shownPointer != nil {
      for rect in [pointer, shownPointer].compactMap(\.self) { undelivered.insert(rect) }
    }
    guard isWholeNew || !undelivered.isEmpty else {
      isPointerChanged = false
      clock.noteNothingToGrab()
      return true
    }
    guard let buffer = try lease(newest, size, isDrawn: pointer != nil) else { return false }
    if !hasStarted {
      hasStarted = true
      consumer.captureDidStart(.success(VideoFormat(size: size, frameRates: 0...rate, pixelFormat: buffer.format)))
    }
    report(stall: nil)
    removals = 0
    clock.noteGrab(at: now)
    let changes = isWholeNew ? nil : undelivered.rects
    (isWholeNew, isPointerChanged, shownPointer) = (false, false, pointer)
    announcement.noteDelivery()
    undelivered.removeAll()
    let time = max(changedAt, .zero)
    if options.cursor { cursor.noteFrame(isDrawn: isDrawn || !cursor.isTold, size: size, time: time) }
    consumer.consume(VideoFrame(buffer: buffer, captureTime: time, damage: changes, colorSpace: .sRGB))
    return true
  }

  /// The newest picture: the desktop's own memory, or one put together.
  private func lease(_ newest: Newest, _ size: PixelSize, isDrawn: Bool) throws(DMABufferError) -> PixelBuffer? {
    let wake: @Sendable () -> Void = { [run] in run.wake() }
    // The desktop needs a buffer to fill, and another one meanwhile.
    let hasBuffers = leased.count + 3 <= stream?.bufferCount ?? 0
    if !isDrawn, newest.buffer.isLeasable, newest.picture.orientation == .upright, hasBuffers {
      return newest.buffer.lease(newest.crop, of: newest.picture, onRelease: wake)
    }
    if painter?.size != size { painter = StreamPainter(size: size) }
    return try newest.buffer.read {
      painter?.draw(newest.picture, crop: newest.crop, pointer: isDrawn ? cursor.placed : nil, onRelease: wake)
    }
  }
}
