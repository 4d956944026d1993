public import RTCEngine
import RTCPrimitives
import Synchronization

/// A track of the far side's.
public enum IncomingTrack: Sendable {
  case video(IncomingVideoTrack)
  case audio(IncomingAudioTrack)

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
  public let id: String
  public let streamIDs: [String]
  public let transceiver: TransceiverID
  let inlet = Inlet<ReceivedFrame>()
  private let ask: @Sendable () -> Void
  private let readStatistics: @Sendable () async -> StreamStatistics.Reception?

  /// - Parameter ask: asks the far sender for a key frame.
  init(
    _ track: RemoteTrack, ask: @escaping @Sendable () -> Void,
    statistics: @escaping @Sendable () async -> StreamStatistics.Reception?
  ) {
    id = track.id
    streamIDs = track.streamIDs
    transceiver = track.transceiver
    self.ask = ask
    readStatistics = statistics
  }

  /// False: muted here, nothing is handed on. A key frame is asked for when it is true again.
  public var isEnabled: Bool {
    get { inlet.isEnabled }
    set { if inlet.setEnabled(newValue), newValue { ask() } }
  }

  /// Whole pictures go to `handler` in decoding order, the first a key frame, which is asked for. Called on the loop's
  /// thread; must not wait. Nil: they go nowhere.
  public func setReceiver(_ handler: (@Sendable (ReceivedFrame) -> Void)?) {
    inlet.setReceiver(handler)
    if handler != nil { ask() }
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
  public let id: String
  public let streamIDs: [String]
  public let transceiver: TransceiverID
  let inlet = Inlet<ReceivedAudio>()
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
  public func setReceiver(_ handler: (@Sendable (ReceivedAudio) -> Void)?) { inlet.setReceiver(handler) }

  /// Called once, when the far side sends it no longer or the connection ends; at once if that has happened.
  public func onEnded(_ handler: @escaping @Sendable () -> Void) { inlet.onEnded(handler) }

  /// The far sender's clocks by its latest report; nil before the first.
  public var senderClock: SenderClock? { inlet.senderClock }

  /// What has arrived so far, and how loud it is now (`audioLevel`); nil before the first packet.
  public func reception() async -> StreamStatistics.Reception? { await readStatistics() }
}

/// What stands between a connection and whoever takes a track's media.
final class Inlet<Media: Sendable>: Sendable {
  struct State {
    var isEnabled = true
    var receiver: (@Sendable (Media) -> Void)?
    var onEnded: (@Sendable () -> Void)?
    var life = Life.running
    var clock: SenderClock?
  }

  enum Life {
    case running
    case ended
  }

  private let state = Mutex(State())

  var isEnabled: Bool { state.withLock { $0.isEnabled } }
  var senderClock: SenderClock? { state.withLock { $0.clock } }

  /// - Returns: true when that changes something.
  func setEnabled(_ isEnabled: Bool) -> Bool {
    state.withLock { state in
      let before = state.isEnabled
      state.isEnabled = isEnabled
      return before != isEnabled
    }
  }

  func setReceiver(_ handler: (@Sendable (Media) -> Void)?) { state.withLock { $0.receiver = handler } }

  func onEnded(_ handler: @escaping @Sendable () -> Void) {
    let isOver = state.withLock {
      if case .ended = $0.life { return true }
      $0.onEnded = handler
      return false
    }
    if isOver { handler() }
  }

  func note(_ clock: SenderClock) { state.withLock { $0.clock = clock } }

  func deliver(_ media: Media) {
    let receiver = state.withLock { $0.isEnabled ? $0.receiver : nil }
    receiver?(media)
  }

  func end() {
    let handler = state.withLock { state in
      let handler = state.onEnded
      state.life = .ended
      state.receiver = nil
      state.onEnded = nil
      return handler
    }
    handler?()
  }
}
