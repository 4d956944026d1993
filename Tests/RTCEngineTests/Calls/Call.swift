import RTCEngine
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

extension PeerPair.Options {
  /// Two peers that begin without any media.
  static func call(seed: UInt64 = 1) -> PeerPair.Options {
    var options = PeerPair.Options()
    options.seed = seed
    options.configure = { _, configuration in
      configuration.sendsVideo = nil
      configuration.receivesVideo = false
    }
    return options
  }
}

extension PeerPair {
  /// A pair in a call that began with a sound each way.
  static func inCall(
    seed: UInt64 = 1, polite: Side = .answerer, delays: [Side: TimeDelta] = [:],
    configure: (inout Options) -> Void = { _ in }
  ) throws -> PeerPair {
    var options = Options.call(seed: seed)
    configure(&options)
    let pair = try PeerPair(options)
    pair.negotiatePerfectly(polite: polite, delays: delays)
    pair.addTrack(.audio, "voice", on: .offerer)
    pair.addTrack(.audio, "voice", on: .answerer)
    pair.run(for: .seconds(10)) { $0.areConnected && $0.areAgreed }
    try #require(pair.areConnected && pair.areAgreed)
    return pair
  }

  @discardableResult
  func addTrack(_ kind: MediaKind, _ name: String, on side: Side) -> TransceiverID {
    perform(side, .addTrack(kind, TrackName(streamID: "s-\(side)", trackID: name)))
    return self[side].chosen.last!
  }

  /// Nothing is pending and nothing is wanted on either side.
  var areAgreed: Bool {
    [offerer, answerer].allSatisfy { $0.peer.signalingState == .stable && !$0.peer.needsNegotiation }
  }

  /// The transceiver of the other side that belongs to the same m-section.
  func counterpart(of id: TransceiverID, on side: Side) -> TransceiverID? {
    let mid = self[side].peer.transceivers.first { $0.id == id }?.mid
    return mid.flatMap { mid in self[side.other].peer.transceivers.first { $0.mid == mid }?.id }
  }

  /// The remote side's decoding of the video that `id` sends.
  func chain(of id: TransceiverID, on side: Side) -> FrameChain {
    FrameChain(counterpart(of: id, on: side).map { self[side.other].frames(of: $0) } ?? [])
  }

  /// Both sides have the same m-sections, and one sends what the other receives.
  var agreesWithItself: Bool {
    let (ours, theirs) = (offerer.peer.transceivers, answerer.peer.transceivers)
    let mids = { (states: [TransceiverState]) in Set(states.filter { !$0.isStopped }.compactMap(\.mid)) }
    guard mids(ours) == mids(theirs) else { return false }
    return ours.filter { !$0.isStopped }.allSatisfy { state in
      theirs.contains {
        $0.mid == state.mid && $0.kind == state.kind
          && $0.currentDirection == state.currentDirection?.reversed
      }
    }
  }
}
