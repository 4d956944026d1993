package import RTCEngine
import RTCMedia
package import RTCPrimitives
package import RTCSCTP

/// One peer of a pair, and its events.
package final class PeerEnd {
  /// The peer itself.
  package var peer: Peer
  /// The outbox of the peer's next step; empty between steps.
  package var outbox = Outbox()
  /// All events so far, with their times.
  package private(set) var events: [(time: Timestamp, event: Event)] = []
  /// The results of all commands so far, in order, except those for data channels.
  package private(set) var results: [Result<CommandResult, NegotiationFailure>] = []
  /// The data channels that it opened.
  package private(set) var openedChannels: [DataChannelHandle] = []
  /// The errors of commands for data channels, in order.
  package private(set) var channelErrors: [DataChannelError] = []
  /// The video that it sends, by transceiver.
  package var sources: [TransceiverID: SyntheticVideo] = [:]
  /// The sound it sends, by transceiver.
  package var audioSources: [TransceiverID: SyntheticAudio] = [:]
  /// Key frames that it was asked for are made; false for a source that has died.
  package var answersKeyFrameRequests = true
  /// Whether the source follows the target bitrate; false for one that serves other peers too.
  package var followsTargetBitrate = true
  /// A dead one takes nothing, sends nothing, and its timers do not run.
  package var isAlive = true

  private var lastBitrates: [TransceiverID: BitRate] = [:]
  private var arrivals: [(id: TransceiverID, frame: ReceivedFrame)] = []
  private var sounds: [(id: TransceiverID, packet: ReceivedAudio)] = []

  init(_ peer: consuming Peer) { self.peer = peer }

  /// The peer's state by its last event.
  package private(set) var state = PeerState.new
  /// The received frames of all transceivers.
  package var frames: [ReceivedFrame] { arrivals.map(\.frame) }
  /// The packets of sound that came, of all transceivers.
  package var audio: [ReceivedAudio] { sounds.map(\.packet) }

  /// The frames that came on one transceiver.
  package func frames(of id: TransceiverID) -> [ReceivedFrame] { arrivals.filter { $0.id == id }.map(\.frame) }
  /// The packets of sound that came on one transceiver.
  package func audio(of id: TransceiverID) -> [ReceivedAudio] { sounds.filter { $0.id == id }.map(\.packet) }

  // MARK: Transceivers

  /// The first transceiver of a kind that is not stopped.
  package func first(_ kind: MediaKind) -> TransceiverID? {
    peer.transceivers.first { $0.kind == kind && !$0.isStopped }?.id
  }

  /// The video of the first video transceiver.
  package var source: SyntheticVideo? {
    get { first(.video).flatMap { sources[$0] } }
    set { if let id = first(.video) { sources[id] = newValue } }
  }

  /// The audio of the first audio transceiver.
  package var audioSource: SyntheticAudio? {
    get { first(.audio).flatMap { audioSources[$0] } }
    set { if let id = first(.audio) { audioSources[id] = newValue } }
  }

  /// The transceivers that commands chose, in order.
  package var chosen: [TransceiverID] {
    results.compactMap { if case .success(.transceiver(let id)) = $0 { id } else { nil } }
  }

  /// The added remote tracks, in order.
  package var tracksAdded: [RemoteTrackDescription] {
    events.compactMap { if case .trackAdded(let track) = $0.event { track } else { nil } }
  }

  /// The removed remote tracks, in order.
  package var tracksRemoved: [RemoteTrackDescription] {
    events.compactMap { if case .trackRemoved(let track) = $0.event { track } else { nil } }
  }

  /// The number of `negotiationNeeded` events.
  package var negotiationsNeeded: Int {
    events.count { if case .negotiationNeeded = $0.event { true } else { false } }
  }

  /// Every state, in order, with when it began.
  package var states: [(time: Timestamp, state: PeerState)] {
    events.compactMap { if case .stateChanged(let state) = $0.event { ($0.time, state) } else { nil } }
  }

  /// How the way to the other peer was, in order, with when that began.
  package var connectivity: [(time: Timestamp, value: Connectivity)] {
    events.compactMap { if case .connectivityChanged(let value) = $0.event { ($0.time, value) } else { nil } }
  }

  /// The local candidates reported one by one, in order.
  package var gatheredCandidates: [ICECandidateInit] {
    events.compactMap { if case .localCandidateGathered(let candidate) = $0.event { candidate } else { nil } }
  }

  /// The fragments it made, in order.
  package var fragments: [String] {
    results.compactMap { if case .success(.fragment(let text)) = $0 { text } else { nil } }
  }

  /// When its sources were asked for key frames.
  package var keyFrameRequests: [Timestamp] {
    events.compactMap { if case .keyFrameRequested = $0.event { $0.time } else { nil } }
  }

  /// Every new target bitrate, in order, with its time.
  package var bitrates: [(time: Timestamp, rate: BitRate)] {
    events.compactMap { if case .targetBitrateChanged(let rate, _) = $0.event { ($0.time, rate) } else { nil } }
  }

  /// The reported losses of its sound.
  package var audioLosses: [Double] {
    events.compactMap { if case .audioLossReported(let loss, _) = $0.event { loss } else { nil } }
  }

  /// The failures of its commands, in order, except those for data channels.
  package var failures: [NegotiationFailure] {
    results.compactMap { if case .failure(let failure) = $0 { failure } else { nil } }
  }

  /// The latest description it made.
  package var localDescription: String? {
    description?.sdp
  }

  /// The last description, with its kind.
  package var description: Description? {
    for result in results.reversed() { if case .success(.description(let description)) = result { return description } }
    return nil
  }

  /// When its next deadline or frame is due.
  var nextTime: Timestamp {
    isAlive ? min(outbox.nextDeadline, nextMediaTime) : .distantFuture
  }

  var nextMediaTime: Timestamp {
    let video = sources.values.reduce(Timestamp.distantFuture) { min($0, $1.nextTime) }
    return audioSources.values.reduce(video) { min($0, $1.nextTime) }
  }

  /// The transceivers in order, so that a seed replays a run.
  var sending: [TransceiverID] { peer.transceivers.map(\.id) }

  /// Drops the sources of transceivers that are gone: their time would never pass.
  func keepSources(of ids: [TransceiverID]) {
    sources = sources.filter { ids.contains($0.key) }
    audioSources = audioSources.filter { ids.contains($0.key) }
  }

  func makeFrame(_ id: TransceiverID, _ now: Timestamp) -> EncodedFrame? {
    sources[id]?.targetBitrate = followsTargetBitrate ? lastBitrates[id] : nil
    return sources[id]?.next(now)
  }

  func add(_ result: Result<CommandResult, NegotiationFailure>) { results.append(result) }
  func add(_ channel: DataChannelHandle) { openedChannels.append(channel) }
  func add(_ error: DataChannelError) { channelErrors.append(error) }

  func takeEvents(_ now: Timestamp) {
    for event in outbox.events {
      events.append((now, event))
      switch event {
      case .keyFrameRequested(_, let id) where answersKeyFrameRequests: sources[id]?.needsKeyFrame = true
      case .targetBitrateChanged(let rate, let id): lastBitrates[id] = rate
      case .stateChanged(let state): self.state = state
      case .frameReceived(let frame, let id): arrivals.append((id, frame))
      case .audioReceived(let packet, let id): sounds.append((id, packet))
      default: break
      }
    }
  }
}
