public import RTCEngine
import RTCPrimitives
import Synchronization

/// A track of the far side's.
public enum IncomingTrack: Sendable {
  case video(IncomingVideoTrack)
  case audio(IncomingAudioTrack)

  /// The transceiver that receives it.
  public var transceiver: TransceiverID {
    switch self {
    case .video(let track): track.transceiver
    case .audio(let track): track.transceiver
    }
  }

  /// As the far side names it.
  public var id: String {
    switch self {
    case .video(let track): track.id
    case .audio(let track): track.id
    }
  }

  /// The far side's streams it is in; tracks of one stream are played in step.
  public var streamIDs: [String] {
    switch self {
    case .video(let track): track.streamIDs
    case .audio(let track): track.streamIDs
    }
  }

  func end() {
    switch self {
    case .video(let track): track.inlet.end()
    case .audio(let track): track.inlet.end()
    }
  }

  func note(_ clock: SenderClock) {
    switch self {
    case .video(let track): track.inlet.note(clock)
    case .audio(let track): track.inlet.note(clock)
    }
  }
}

/// A video of the far side's. Any thread.
public final class IncomingVideoTrack: Sendable {
  /// The track's identifier in the remote description.
  public let id: String
  /// The streams that the remote peer put it in.
  public let streamIDs: [String]
  /// The transceiver that receives it.
  public let transceiver: TransceiverID
  let inlet = TrackReceiver<ReceivedFrame> { .init(isBeginning: $0.isKeyFrame, bytes: $0.data.count) }
  private let ask: @Sendable () -> Void
  private let onLoop: @Sendable (@escaping @Sendable () -> Void) -> Void
  private let readStatistics: @Sendable () async -> StreamStatistics.Reception?

  /// - Parameters:
  ///   - ask: asks the far sender for a key frame.
  ///   - onLoop: does something on the loop's thread.
  init(
    _ track: RemoteTrack, ask: @escaping @Sendable () -> Void,
    onLoop: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
    statistics: @escaping @Sendable () async -> StreamStatistics.Reception?
  ) {
    id = track.id
    streamIDs = track.streamIDs
    transceiver = track.transceiver
    self.ask = ask
    self.onLoop = onLoop
    readStatistics = statistics
  }

  /// False: muted here, nothing is handed on. A key frame is asked for when it is true again.
  public var isEnabled: Bool {
    get { inlet.isEnabled }
    set { if inlet.setEnabled(newValue), newValue { ask() } }
  }

  /// Whole pictures go to `handler` in decoding order, the first a key frame. The first receiver gets the pictures that
  /// have come since the newest key frame, where those are few; else a key frame is asked for. Called on the loop's thread;
  /// must not wait. Nil: they go nowhere.
  public func setReceiver(_ handler: (@Sendable (ReceivedFrame) -> Void)?) {
    let hasKept = inlet.setReceiver(handler)
    guard handler != nil else { return }
    guard hasKept else { return ask() }
    let inlet = inlet
    onLoop { inlet.flush() }
  }

  /// Called once, when the far side sends it no longer or the connection ends; at once if that has happened.
  public func onEnded(_ handler: @escaping @Sendable () -> Void) { inlet.onEnded(handler) }

  /// The far side cannot be decoded without a key frame: asks for one.
  public func requestKeyFrame() { ask() }

  /// The far sender's clocks by its latest report; nil before the first.
  public var senderClock: SenderClock? { inlet.senderClock }

  /// What has arrived so far; nil before the first packet.
  public func reception() async -> StreamStatistics.Reception? { await readStatistics() }
}

/// A sound of the far side's. Any thread.
public final class IncomingAudioTrack: Sendable {
  /// The track's identifier in the remote description.
  public let id: String
  /// The streams that the remote peer put it in.
  public let streamIDs: [String]
  /// The transceiver that receives it.
  public let transceiver: TransceiverID
  let inlet = TrackReceiver<ReceivedAudio>()
  private let readStatistics: @Sendable () async -> StreamStatistics.Reception?

  init(_ track: RemoteTrack, statistics: @escaping @Sendable () async -> StreamStatistics.Reception?) {
    id = track.id
    streamIDs = track.streamIDs
    transceiver = track.transceiver
    readStatistics = statistics
  }

  /// False: muted here, nothing is handed on.
  public var isEnabled: Bool {
    get { inlet.isEnabled }
    set { _ = inlet.setEnabled(newValue) }
  }

  /// Packets go to `handler` as they come: order and gaps are the jitter buffer's. Called on the loop's thread; must not
  /// wait. Nil: they go nowhere.
  public func setReceiver(_ handler: (@Sendable (ReceivedAudio) -> Void)?) { _ = inlet.setReceiver(handler) }

  /// Called once, when the far side sends it no longer or the connection ends; at once if that has happened.
  public func onEnded(_ handler: @escaping @Sendable () -> Void) { inlet.onEnded(handler) }

  /// The far sender's clocks by its latest report; nil before the first.
  public var senderClock: SenderClock? { inlet.senderClock }

  /// What has arrived so far, and how loud it is now (`audioLevel`); nil before the first packet.
  public func reception() async -> StreamStatistics.Reception? { await readStatistics() }
}

/// What stands between a connection and whoever takes a track's media. What comes before anybody has taken any is kept,
/// from where one can begin.
final class TrackReceiver<Media: Sendable>: Sendable {
  /// What media is to one who is late.
  struct Worth {
    /// One can begin with it.
    var isBeginning: Bool
    var bytes: Int
  }

  struct State {
    var isEnabled = true
    var receiver: (@Sendable (Media) -> Void)?
    var onEnded: (@Sendable () -> Void)?
    var life = Life.running
    var clock: SenderClock?
    var kept: [Media] = []
    var keptBytes = 0
    /// Until there has been a receiver.
    var keeps: Bool
  }

  enum Life {
    case running
    case ended
  }

  /// One second of pictures: later, a new key frame costs less than catching up.
  private static var mostKept: Int { 30 }
  private static var mostKeptBytes: Int { 1_048_576 }

  private let state: Mutex<State>
  private let worth: (@Sendable (Media) -> Worth)?

  /// - Parameter worth: nil: nothing is kept.
  init(worth: (@Sendable (Media) -> Worth)? = nil) {
    self.worth = worth
    state = Mutex(State(keeps: worth != nil))
  }

  var isEnabled: Bool { state.withLock { $0.isEnabled } }
  var senderClock: SenderClock? { state.withLock { $0.clock } }

  /// - Returns: true when that changes something.
  func setEnabled(_ isEnabled: Bool) -> Bool {
    state.withLock { state in
      let before = state.isEnabled
      state.isEnabled = isEnabled
      if !isEnabled { Self.forget(&state) }
      return before != isEnabled
    }
  }

  /// - Returns: true when something was kept for it, which `flush` hands over.
  func setReceiver(_ handler: (@Sendable (Media) -> Void)?) -> Bool {
    state.withLock { state in
      state.receiver = handler
      state.keeps = false
      if handler == nil { Self.forget(&state) }
      return !state.kept.isEmpty
    }
  }

  func onEnded(_ handler: @escaping @Sendable () -> Void) {
    let isOver = state.withLock {
      if case .ended = $0.life { return true }
      $0.onEnded = handler
      return false
    }
    if isOver { handler() }
  }

  func note(_ clock: SenderClock) { state.withLock { $0.clock = clock } }

  /// On the loop's thread.
  func deliver(_ media: Media) { handOver(media) }

  /// On the loop's thread: hands over what was kept.
  func flush() { handOver(nil) }

  private func handOver(_ media: Media?) {
    let (receiver, all) = state.withLock { state -> ((@Sendable (Media) -> Void)?, [Media]) in
      guard state.isEnabled else { return (nil, []) }
      guard let receiver = state.receiver else {
        if let media { keep(media, &state) }
        return (nil, [])
      }
      let kept = state.kept
      Self.forget(&state)
      return (receiver, media.map { kept + [$0] } ?? kept)
    }
    guard let receiver else { return }
    for each in all { receiver(each) }
  }

  private func keep(_ media: Media, _ state: inout State) {
    guard state.keeps, let worth = worth?(media) else { return }
    if worth.isBeginning { Self.forget(&state) } else if state.kept.isEmpty { return }
    state.kept.append(media)
    state.keptBytes += worth.bytes
    if state.kept.count > Self.mostKept || state.keptBytes > Self.mostKeptBytes { Self.forget(&state) }
  }

  private static func forget(_ state: inout State) {
    state.kept = []
    state.keptBytes = 0
  }

  func end() {
    let handler = state.withLock { state in
      let handler = state.onEnded
      state.life = .ended
      state.receiver = nil
      state.onEnded = nil
      state.keeps = false
      Self.forget(&state)
      return handler
    }
    handler?()
  }
}
