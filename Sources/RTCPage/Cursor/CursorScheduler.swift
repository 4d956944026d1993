package import RTCMedia
package import RTCPrimitives

/// Decides whether the viewers draw the pointer, and schedules their messages. One for all viewers of a cast; without
/// threads or clock.
package struct CursorScheduler: Sendable {
  package enum Channel: Hashable, Sendable {
    /// Reliable and ordered.
    case everything
    /// Unordered and without retransmission: messages that cannot be sent at once are left out.
    case positions
  }

  /// A message to one viewer.
  package struct Delivery: Hashable, Sendable {
    package var viewer: String
    package var channel: Channel
    package var message: [UInt8]
  }

  /// Between two positions, at least.
  static let positionInterval = TimeDelta.milliseconds(16)
  /// A pointer that has not moved for this time is still: its position is sent reliably.
  static let restTime = TimeDelta.milliseconds(100)
  /// Every viewer's video has come so far after this.
  static let settleTime = TimeDelta.seconds(5)

  private var audience = CursorAudience()
  private var viewers: [String: CursorViewer] = [:]
  private var isRecorded = false

  private var drawing: CursorDrawing?
  private var image: (digest: UInt64, image: CursorImage)?
  /// Whether some viewers have not received the image yet.
  private var isImageUntold = false
  private var imageBudget = CursorImageBudget()
  /// Whether it exceeds the viewers' limits.
  private var isTooLarge = false
  private var position: CursorPosition?
  /// The next position is the first since the viewers draw the pointer.
  private var isPositionAwaited = false
  /// Counts positions.
  private var number: UInt32 = 0
  /// The newest position was not sent yet.
  private var isUnsent = false
  private var lastSent: Timestamp?
  /// The time of the last movement; nil: the resting position was sent.
  private var lastMove: Timestamp?

  package init() {}

  /// The capturer is to draw the pointer.
  package var isDrawn: Bool { audience.isDrawn }

  // MARK: - The pointer

  /// Takes a report of the capturer.
  package mutating func take(_ report: CursorReport, now: Timestamp, into out: inout [Delivery]) {
    switch report {
    case .drawing(let new):
      drawing = new
      isPositionAwaited = !new.isDrawn
      for id in drawingViewers { tellDrawing(to: id, now, into: &out) }
    case .image(let new):
      isTooLarge = max(new.size.width, new.size.height) > CursorLimits.side
      image = isTooLarge ? nil : (new.digest, new)
      isImageUntold = !isTooLarge
    case .position(let new):
      position = new
      number &+= 1
      (isUnsent, lastMove) = (true, now)
      if isPositionAwaited { tellRest(now, into: &out) }
    }
    update(now, into: &out)
  }

  /// The source has changed: all earlier messages about the pointer are void.
  package mutating func reset(_ now: Timestamp, into out: inout [Delivery]) {
    if let drawing {
      let none = CursorDrawing(isDrawn: true, pictureSize: drawing.pictureSize, since: drawing.since)
      for id in drawingViewers { out.append(viewers[id]!.drawing(none, isSettled: true), to: id) }
    }
    (drawing, image, isImageUntold, isTooLarge) = (nil, nil, false, false)
    (position, isUnsent, lastMove) = (nil, false, nil)
    update(now, into: &out)
  }

  // MARK: - Viewers

  package mutating func connect(_ id: String, hasChannels: Bool, now: Timestamp, into out: inout [Delivery]) {
    audience.connect(id, hasChannels: hasChannels, now: now)
    update(now, into: &out)
  }

  package mutating func disconnect(_ id: String, now: Timestamp, into out: inout [Delivery]) {
    audience.disconnect(id)
    update(now, into: &out)
  }

  package mutating func remove(_ id: String, now: Timestamp, into out: inout [Delivery]) {
    viewers[id] = nil
    audience.remove(id)
    update(now, into: &out)
  }

  /// A viewer has opened its channels.
  /// - Parameter clock: the RTP timestamp of the monotonic clock's origin in this viewer's video.
  package mutating func open(_ id: String, clock: RTPTimestamp) { viewers[id] = CursorViewer(clock: clock) }

  /// The viewer's channels are closed, so it draws nothing.
  package mutating func close(_ id: String, now: Timestamp, into out: inout [Delivery]) {
    guard viewers.removeValue(forKey: id) != nil else { return }
    audience.forgetPlace(of: id, now: now)
    update(now, into: &out)
  }

  /// Takes a message of a viewer.
  package mutating func handle(
    _ message: CursorViewerMessage, from id: String, now: Timestamp, into out: inout [Delivery]
  ) {
    guard viewers[id] != nil, case .ready(let place) = message else { return }
    audience.setPlace(place, of: id)
    viewers[id]?.isDrawing = place == .viewer
    if place == .viewer, drawing != nil {
      tellDrawing(to: id, now, into: &out)
      tellImage(to: id, into: &out)
      out.append(viewers[id]!.rest(number, position), to: id)
    }
    update(now, into: &out)
  }

  /// Sets whether the pictures are recorded, so that the pointer must be in them.
  package mutating func setRecorded(_ isRecorded: Bool, now: Timestamp, into out: inout [Delivery]) {
    self.isRecorded = isRecorded
    update(now, into: &out)
  }

  // MARK: - Time

  /// When `update` has something to do, if nothing happens before.
  package func deadline(after now: Timestamp) -> Timestamp? {
    [
      audience.deadline(after: now), isUnsent ? sendTime : nil, lastMove.map { $0 + Self.restTime },
      isImageUntold ? imageBudget.nextTurn : nil,
    ].compactMap(\.self).min()
  }

  /// Performs everything that is due.
  package mutating func update(_ now: Timestamp, into out: inout [Delivery]) {
    audience.update(isNeededElsewhere: isRecorded || isTooLarge, now: now)
    if isImageUntold, imageBudget.nextTurn <= now {
      isImageUntold = false
      let sizes = drawingViewers.map { tellImage(to: $0, into: &out) }
      imageBudget.spend(sizes.max() ?? 0, now: now)
    }
    if isUnsent, sendTime <= now {
      (isUnsent, lastSent) = (false, now)
      let message = CursorMessage.position(number, position)
      for id in drawingViewers { out.append(message, to: id, .positions) }
    }
    if let lastMove, lastMove + Self.restTime <= now { tellRest(now, into: &out) }
  }

  private var sendTime: Timestamp { lastSent.map { $0 + Self.positionInterval } ?? .zero }

  // MARK: - Messages

  /// In an order that is always the same.
  private var drawingViewers: [String] { viewers.keys.filter { viewers[$0]!.isDrawing }.sorted() }

  private func tellDrawing(to id: String, _ now: Timestamp, into out: inout [Delivery]) {
    guard let drawing, let viewer = viewers[id] else { return }
    out.append(viewer.drawing(drawing, isSettled: now - drawing.since >= Self.settleTime), to: id)
  }

  /// The position, so that it arrives.
  private mutating func tellRest(_ now: Timestamp, into out: inout [Delivery]) {
    if isUnsent { (isUnsent, lastSent) = (false, now) }
    (lastMove, isPositionAwaited) = (nil, false)
    for id in drawingViewers { out.append(viewers[id]?.rest(number, position), to: id) }
  }

  /// - Returns: the bytes that it takes.
  @discardableResult
  private mutating func tellImage(to id: String, into out: inout [Delivery]) -> Int {
    guard let image, let message = viewers[id]?.image(image.image, image.digest) else { return 0 }
    out.append(message, to: id)
    return message.count
  }
}

extension [CursorScheduler.Delivery] {
  fileprivate mutating func append(
    _ message: [UInt8]?, to viewer: String, _ channel: CursorScheduler.Channel = .everything
  ) {
    guard let message else { return }
    append(CursorScheduler.Delivery(viewer: viewer, channel: channel, message: message))
  }
}

extension CursorImage {
  /// The identity of the image (FNV-1a of 64 bits, over words).
  package var digest: UInt64 {
    var digest: UInt64 = 0xcbf2_9ce4_8422_2325
    func add(_ word: UInt32) { digest = (digest ^ UInt64(word)) &* 0x100_0000_01b3 }
    for value in [size.width, size.height, hotX, hotY] { add(UInt32(truncatingIfNeeded: value)) }
    for pixel in pixels { add(pixel) }
    return digest
  }
}
