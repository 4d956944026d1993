public import RTCEngine
public import RTCMedia
package import RTCPlayout
import Synchronization

/// A video track of the remote peer: forwarded as it arrives, recorded, or decoded and shown while there is a sink. Any
/// thread.
public final class RemoteVideoTrack: Sendable {
  /// The content of a video.
  public enum Content: String, Sendable, Hashable {
    case camera
    /// To be read, so worth more room than a face.
    case screen
  }

  /// The remote peer's identifier of the track.
  public let id: String
  /// The remote peer's streams it is in; tracks of one stream are played in step.
  public let streamIDs: [String]
  /// The transceiver that receives it.
  public let transceiver: TransceiverID
  /// The remote peer's name; see `PeerConnection.Configuration.remotePeer`.
  public let peer: String
  private let decoders: [VideoCodec: VideoDecoderFactory]
  private let ask: @Sendable () -> Void
  private let onLoop: @Sendable (@escaping @Sendable () -> Void) -> Void
  private let readStatistics: @Sendable () async -> StreamStatistics.Reception?
  private let state = Mutex(State())

  private struct State {
    var isEnabled = true
    /// Receives the frames as they arrive.
    var receiver: (@Sendable (ReceivedFrame) -> Void)?
    var recordings: [VideoRecording] = []
    /// The playout; made with the first sink, or by `prepare`.
    var playout: VideoPlayout?
    var sinks = 0
    /// Whether decoding waits for the next key frame.
    var awaitsKeyFrame = false
    /// Frames that arrived before there was a receiver, from the newest key frame on.
    var kept: [ReceivedFrame] = []
    var keptBytes = 0
    /// Whether frames are kept, until the first receiver.
    var keeps = true
    var ending = TrackEnding()
    var clock: SenderClock?
    var content: Content?
    /// The budget of decoded pixels, and its handler.
    var budget: PictureBudget?
    var whenOverBudget: @Sendable () -> Void = {}

    var isTaken: Bool { receiver != nil || sinks > 0 || !recordings.isEmpty }

    mutating func forget() {
      kept = []
      keptBytes = 0
    }
  }

  /// One second of frames: later, a new key frame costs less than catching up.
  private static let mostKept = 30
  private static let mostKeptBytes = 1_048_576

  /// - Parameters:
  ///   - peer: whose it is.
  ///   - decoders: what makes a decoder for each codec that can be shown.
  ///   - ask: asks the remote sender for a key frame.
  ///   - onLoop: does something on the loop's thread.
  init(
    _ description: RemoteTrackDescription, of peer: String, decoders: [VideoCodec: VideoDecoderFactory],
    ask: @escaping @Sendable () -> Void, onLoop: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
    statistics: @escaping @Sendable () async -> StreamStatistics.Reception?
  ) {
    id = description.id
    streamIDs = description.streamIDs
    transceiver = description.transceiver
    self.peer = peer
    self.decoders = decoders
    self.ask = ask
    self.onLoop = onLoop
    readStatistics = statistics
  }

  // MARK: - Taking it

  /// Whole frames go to `handler` in decoding order, the first a key frame. The first taker gets the frames that have come
  /// since the newest key frame, where those are few; else a key frame is asked for. Called on the loop's thread; must not
  /// wait. Nil: they go to sinks and recorders alone.
  public func setReceiver(_ handler: (@Sendable (ReceivedFrame) -> Void)?) {
    state.withLock { state in
      state.receiver = handler
      if handler == nil, !state.isTaken {
        state.keeps = false
        state.forget()
      }
    }
    if handler != nil { begin() }
  }

  /// Shows the video to `sink` too, decoded. `videoDidEnd` is its last call, and the only one when the system has no thread
  /// left to decode on.
  public func add(_ sink: any VideoSink) {
    guard let playout = try? prepare() else { return sink.videoDidEnd() }
    playout.add(sink)
    let isFirst = state.withLock { state in
      state.sinks += 1
      if state.sinks == 1 { state.awaitsKeyFrame = true }
      return state.sinks == 1
    }
    if isFirst { begin() }
  }

  /// A call that is under way may be the sink's last.
  public func remove(_ sink: any VideoSink) {
    let idle = state.withLock { state in
      state.playout?.remove(sink)
      state.sinks = max(0, state.sinks - 1)
      return state.sinks == 0 ? state.playout : nil
    }
    idle?.notePause()
  }

  /// Passes the coded frames to `sink` as they arrive, from the next key frame on, which is requested.
  public func record(into sink: any EncodedMediaSink) {
    state.withLock { $0.recordings.append(VideoRecording(into: sink)) }
    begin()
  }

  /// Frames are needed from a key frame on: the first receiver gets those that have just arrived.
  private func begin() {
    let hasKept = state.withLock { state in
      state.keeps = false
      return !state.kept.isEmpty
    }
    guard hasKept else { return ask() }
    onLoop { [weak self] in self?.handOver(nil) }
  }

  /// Limits the decoded pixels; call it before `prepare`.
  /// - Parameter whenOverBudget: called once, on the decoding thread, when the video exceeds the rest of the budget.
  package func limit(to budget: PictureBudget, whenOverBudget: @escaping @Sendable () -> Void) {
    state.withLock { ($0.budget, $0.whenOverBudget) = (budget, whenOverBudget) }
  }

  /// Makes the decoder's thread, so that showing the video later cannot fail.
  /// - Throws: if the system has no thread or descriptor left.
  @discardableResult
  package func prepare() throws -> VideoPlayout {
    try state.withLock { state in
      if let playout = state.playout { return playout }
      let new = try VideoPlayout(
        decoders: decoders, budget: state.budget, requestKeyFrame: ask, whenOverBudget: state.whenOverBudget)
      if state.ending.hasEnded { new.end() }
      state.playout = new
      return new
    }
  }

  /// Whether the video is shown. If false, nothing is decoded or forwarded. A key frame is requested when it becomes
  /// true again.
  public var isEnabled: Bool {
    get { state.withLock { $0.isEnabled } }
    set {
      let (hasChanged, playout) = state.withLock { state in
        defer { state.isEnabled = newValue }
        if !newValue { state.forget() }
        return (state.isEnabled != newValue, state.playout)
      }
      if !newValue { playout?.notePause() } else if hasChanged { ask() }
    }
  }

  /// The remote peer's frames cannot be decoded without a key frame: asks for one.
  public func requestKeyFrame() { ask() }

  /// Called once, when the remote peer sends it no longer or the connection ends; at once if that has happened.
  public func onEnded(_ handler: @escaping @Sendable () -> Void) {
    if state.withLock({ $0.ending.setHandler(handler) }) { handler() }
  }

  // MARK: - Reading

  /// The content; nil if the remote peer does not announce it. It may change.
  public var content: Content? { state.withLock { $0.content } }

  /// - Returns: true when that is news.
  @discardableResult
  package func setContent(_ content: Content?) -> Bool {
    state.withLock { state in
      defer { state.content = content }
      return state.content != content
    }
  }

  /// The remote sender's clocks by its latest report; nil before the first.
  public var senderClock: SenderClock? { state.withLock { $0.clock } }

  /// The receiving statistics; nil before the first packet.
  public func reception() async -> StreamStatistics.Reception? { await readStatistics() }

  /// The playout; nil before it was needed.
  package var playout: VideoPlayout? { state.withLock { $0.playout } }

  // MARK: - On the loop

  func deliver(_ frame: ReceivedFrame) { handOver(frame) }

  /// Delivers the kept frames, then `frame`.
  private func handOver(_ frame: ReceivedFrame?) {
    guard let batch = state.withLock({ Self.takeOver(frame, &$0) }) else { return }
    for (index, frame) in batch.frames.enumerated() {
      batch.receiver?(frame)
      if index >= batch.firstShown { batch.playout?.receive(frame) }
      for recording in batch.recordings { recording.receive(frame) }
    }
  }

  private struct Batch {
    var frames: [ReceivedFrame]
    var receiver: (@Sendable (ReceivedFrame) -> Void)?
    var recordings: [VideoRecording]
    /// Nil without a sink.
    var playout: VideoPlayout?
    /// The first of the frames that can be decoded.
    var firstShown: Int
  }

  private static func takeOver(_ frame: ReceivedFrame?, _ state: inout State) -> Batch? {
    guard state.isEnabled else { return nil }
    guard state.isTaken else {
      if let frame, state.keeps { keep(frame, &state) }
      return nil
    }
    var frames = state.kept
    state.forget()
    if let frame { frames.append(frame) }
    var batch = Batch(
      frames: frames, receiver: state.receiver, recordings: state.recordings, playout: nil, firstShown: 0)
    guard state.sinks > 0 else { return batch }
    if state.awaitsKeyFrame {
      batch.firstShown = frames.firstIndex(where: \.isKeyFrame) ?? frames.count
      state.awaitsKeyFrame = batch.firstShown == frames.count
    }
    batch.playout = state.playout
    return batch
  }

  private static func keep(_ frame: ReceivedFrame, _ state: inout State) {
    if frame.isKeyFrame { state.forget() } else if state.kept.isEmpty { return }
    state.kept.append(frame)
    state.keptBytes += frame.data.count
    if state.kept.count > mostKept || state.keptBytes > mostKeptBytes { state.forget() }
  }

  func note(_ clock: SenderClock) { state.withLock { $0.clock = clock } }

  func end() {
    let (handler, playout) = state.withLock { state in
      state.receiver = nil
      state.recordings = []
      state.keeps = false
      state.forget()
      return (state.ending.end(), state.playout)
    }
    playout?.end()
    handler?()
  }
}
