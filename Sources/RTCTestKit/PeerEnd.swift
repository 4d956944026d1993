public import RTCEngine
import RTCMedia
public import RTCPrimitives

/// One peer of a pair, and what it has told.
public final class PeerEnd {
  public var peer: Peer
  public var outbox = Outbox()
  /// All events so far, with their times.
  public private(set) var events: [(time: Timestamp, event: Event)] = []
  /// What it sends, if anything.
  public var source: SyntheticVideo?
  public var audioSource: SyntheticAudio?
  /// Key frames that it was asked for are made; false for a source that has died.
  public var answersKeyFrameRequests = true
  /// The source keeps to the target bitrate; false for one that serves others too.
  public var followsTargetBitrate = true
  /// A dead one takes nothing, sends nothing, and its timers do not run.
  public var isAlive = true

  private var lastBitrate: BitRate?

  init(_ peer: consuming Peer) { self.peer = peer }

  public private(set) var state = PeerState.new
  public private(set) var frames: [ReceivedFrame] = []
  public private(set) var audio: [ReceivedAudio] = []

  /// Every state, in order, with when it began.
  public var states: [(time: Timestamp, state: PeerState)] {
    events.compactMap { if case .stateChanged(let state) = $0.event { ($0.time, state) } else { nil } }
  }

  public var keyFrameRequests: [Timestamp] {
    events.compactMap { if case .keyFrameRequested = $0.event { $0.time } else { nil } }
  }

  public var bitrates: [(time: Timestamp, rate: BitRate)] {
    events.compactMap { if case .targetBitrateChanged(let rate) = $0.event { ($0.time, rate) } else { nil } }
  }

  /// The losses of its sound that it was told of.
  public var audioLosses: [Double] {
    events.compactMap { if case .audioLossReported(let loss) = $0.event { loss } else { nil } }
  }

  public var failures: [NegotiationFailure] {
    events.compactMap { if case .negotiationFailed(let failure) = $0.event { failure } else { nil } }
  }

  /// The latest description it made.
  public var localDescription: String? {
    for (_, event) in events.reversed() { if case .localDescription(let sdp, _) = event { return sdp } }
    return nil
  }

  /// When its next deadline or frame is due.
  var nextTime: Timestamp {
    isAlive ? min(outbox.nextDeadline, nextMediaTime) : .distantFuture
  }

  private var nextMediaTime: Timestamp {
    min(source?.nextTime ?? .distantFuture, audioSource?.nextTime ?? .distantFuture)
  }

  func makeFrame(_ now: Timestamp) -> EncodedFrame? {
    source?.targetBitrate = followsTargetBitrate ? lastBitrate : nil
    return source?.next(now)
  }

  func takeEvents(_ now: Timestamp) {
    for event in outbox.events {
      events.append((now, event))
      switch event {
      case .keyFrameRequested where answersKeyFrameRequests: source?.needsKeyFrame = true
      case .targetBitrateChanged(let rate): lastBitrate = rate
      case .stateChanged(let state): self.state = state
      case .frameReceived(let frame): frames.append(frame)
      case .audioReceived(let packet): audio.append(packet)
      default: break
      }
    }
  }
}
