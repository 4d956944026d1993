import RTCEngine
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct Glare {
  @Test(arguments: [PeerPair.Side.offerer, .answerer], [(0, 0), (100, 100), (30, 300), (300, 30)])
  func `both sides add a video at the same moment, and both videos arrive`(
    _ polite: PeerPair.Side, _ delays: (Int64, Int64)
  ) throws {
    let pair = try PeerPair.inCall(
      polite: polite, delays: [.offerer: .milliseconds(delays.0), .answerer: .milliseconds(delays.1)])
    let ours = pair.addTrack(.video, "a", on: .offerer)
    let theirs = pair.addTrack(.video, "b", on: .answerer)
    pair.offerer.sources[ours] = SyntheticVideo(from: pair.now)
    pair.answerer.sources[theirs] = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(5))
    #expect(pair.areAgreed && pair.agreesWithItself)
    #expect(pair.offerer.failures.isEmpty && pair.answerer.failures.isEmpty)
    for (id, side) in [(ours, PeerPair.Side.offerer), (theirs, .answerer)] {
      let chain = pair.chain(of: id, on: side)
      #expect(chain.isSound && chain.numbers.count > 80, "\(side): \(chain.numbers.count)")
    }
    let ignored = [pair.offerer, pair.answerer].map { end in
      end.results.count { if case .success(.offerIgnored) = $0 { true } else { false } }
    }
    // Once when the call began and once now: the impolite side alone, and never twice for one offer.
    #expect(ignored.max()! <= 2 && ignored.min() == 0)
  }

  @Test func `the polite side's video finds its place in the other's offer, when both begin with one`() throws {
    let pair = try PeerPair(.call())
    pair.negotiatePerfectly(delays: [.offerer: .milliseconds(50), .answerer: .milliseconds(50)])
    let ours = pair.addTrack(.video, "a", on: .offerer)
    let theirs = pair.addTrack(.video, "b", on: .answerer)
    pair.offerer.sources[ours] = SyntheticVideo(from: pair.now)
    pair.answerer.sources[theirs] = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(3))
    #expect(pair.areConnected && pair.areAgreed && pair.agreesWithItself)
    // One m-section carries both (RFC 8829 §5.10).
    #expect(pair.counterpart(of: ours, on: .offerer) == theirs)
    #expect(pair.chain(of: ours, on: .offerer).numbers.count > 50)
    #expect(pair.chain(of: theirs, on: .answerer).numbers.count > 50)
  }

  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func `whatever both sides change, and whenever, they agree in the end`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func delay() -> TimeDelta { .milliseconds(Int64(random.next() % 200)) }
    let pair = try PeerPair.inCall(
      seed: seed, polite: seed % 2 == 0 ? .offerer : .answerer, delays: [.offerer: delay(), .answerer: delay()])
    for _ in 0..<40 {
      let side: PeerPair.Side = random.next() % 2 == 0 ? .offerer : .answerer
      let running = pair[side].peer.transceivers.filter { !$0.isStopped }
      let some = running[Int(random.next() % UInt64(running.count))].id
      switch random.next() % 8 {
      case 0 where running.count < 8: pair.perform(side, .addTransceiver(.video, .sendrecv, nil))
      case 1 where running.count < 8: pair.addTrack(.audio, "t\(random.next() % 1_000)", on: side)
      case 2 where running.count > 3: pair.perform(side, .stop(some))
      case 3: pair.perform(side, .restartICE(pair.freshCredentials()))
      case 4: pair.perform(side, .setDirection(.inactive, some))
      case 5: pair.perform(side, .setDirection(.sendonly, some))
      case 6: pair.perform(side, .setDirection(.recvonly, some))
      default: pair.perform(side, .setDirection(.sendrecv, some))
      }
      pair.run(for: .milliseconds(Int64(random.next() % 150)))
    }
    pair.run(for: .seconds(10)) { $0.areAgreed }
    #expect(pair.areAgreed && pair.agreesWithItself)
    #expect(pair.offerer.failures.isEmpty && pair.answerer.failures.isEmpty)
    pair.run(for: .seconds(2))
    #expect(pair.areAgreed && pair.areConnected)
    // Tracks come and go in pairs.
    for end in [pair.offerer, pair.answerer] {
      let open = end.tracksAdded.count - end.tracksRemoved.count
      let receiving = end.peer.transceivers.filter { $0.currentDirection?.receives == true }
      #expect(open == receiving.count)
    }
  }

  @Test func `an offer that is rolled back takes the transceivers and tracks back that it had brought`() throws {
    let pair = try PeerPair(.call())
    pair.perform(.offerer, .addTrack(.video, TrackName(streamID: "s", trackID: "v")))
    pair.perform(.offerer, .addTransceiver(.audio, .sendrecv, nil))
    pair.perform(.offerer, .setLocalDescription(pair.freshCredentials()))
    let offer = try #require(pair.offerer.description)
    pair.perform(.answerer, .setRemoteDescription(offer))
    #expect(pair.answerer.peer.signalingState == .haveRemoteOffer)
    #expect(pair.answerer.tracksAdded.map(\.kind) == [.video, .audio])
    #expect(pair.answerer.tracksAdded.first?.id == "v" && pair.answerer.tracksAdded.first?.streamIDs == ["s"])
    #expect(pair.answerer.peer.transceivers.map(\.direction) == [.recvonly, .recvonly])
    // One of them is put to use, so it stays.
    let used = pair.addTrack(.audio, "mine", on: .answerer)
    pair.perform(.answerer, .rollback)
    #expect(pair.answerer.peer.signalingState == .stable)
    #expect(pair.answerer.tracksRemoved.map(\.kind) == [.video, .audio])
    #expect(pair.answerer.peer.transceivers.map(\.id) == [used])
    #expect(pair.answerer.peer.transceivers.map(\.mid) == [nil])
    #expect(pair.answerer.negotiationsNeeded == 1)
    // The same offer again is taken as if for the first time.
    pair.perform(.answerer, .setRemoteDescription(offer))
    pair.perform(.answerer, .setLocalDescription(pair.freshCredentials()))
    pair.perform(.offerer, .setRemoteDescription(try #require(pair.answerer.description)))
    #expect(pair.offerer.failures.isEmpty && pair.answerer.failures.isEmpty)
    #expect(pair.agreesWithItself && pair.areAgreed)
    #expect(pair.answerer.peer.transceivers.first { $0.id == used }?.currentDirection == .sendrecv)
  }

  @Test func `an offer that comes while ours is pending is refused until ours is rolled back`() throws {
    let pair = try PeerPair(.call())
    for side in [PeerPair.Side.offerer, .answerer] {
      pair.addTrack(.audio, "a", on: side)
      pair.perform(side, .setLocalDescription(pair.freshCredentials()))
    }
    let offer = try #require(pair.answerer.description)
    pair.perform(.offerer, .setRemoteDescription(offer))
    #expect(pair.offerer.failures.map(\.kind) == [.wrongState])
    pair.perform(.offerer, .rollback)
    pair.perform(.offerer, .setRemoteDescription(offer))
    #expect(pair.offerer.failures.count == 1 && pair.offerer.peer.signalingState == .haveRemoteOffer)
    pair.perform(.offerer, .rollback)
    pair.perform(.offerer, .rollback)
    #expect(pair.offerer.failures.map(\.kind) == [.wrongState, .wrongState])
  }
}
