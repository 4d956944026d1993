import FeatureKit
import RTCEngine
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

@Suite struct MidCall {
  @Test(.feature("S0.19"), arguments: [PeerPair.Side.offerer, .answerer])
  func `a video is added in the middle of a call, from either side`(_ side: PeerPair.Side) throws {
    let pair = try PeerPair.inCall()
    pair.run(for: .seconds(2))
    let id = pair.addTrack(.video, "screen", on: side)
    pair[side].sources[id] = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(3))
    let chain = pair.chain(of: id, on: side)
    #expect(chain.isSound && chain.numbers.count > 65 && chain.numbers.first == 0)
    let track = try #require(pair[side.other].tracksAdded.last)
    #expect(track.kind == .video && track.id == "screen" && track.streamIDs == ["s-\(side)"])
    #expect(pair[side.other].failures.isEmpty && pair[side].failures.isEmpty)
  }

  @Test func `a track is removed and comes again on the same transceiver: source and numbers go on`() throws {
    let pair = try PeerPair.inCall()
    let id = pair.addTrack(.video, "screen", on: .offerer)
    pair.offerer.sources[id] = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(2))
    pair.recordsDepartures = true
    pair.perform(.offerer, .setDirection(.recvonly, id))
    pair.run(for: .seconds(2))
    let video = pair.counterpart(of: id, on: .offerer)
    #expect(pair.answerer.tracksRemoved.map(\.transceiver) == [video].compactMap { $0 })
    let frames = pair.answerer.frames.count
    pair.run(for: .seconds(1))
    #expect(pair.answerer.frames.count == frames)
    pair.perform(.offerer, .setDirection(.sendrecv, id))
    pair.run(for: .seconds(2))
    #expect(pair.answerer.frames.count > frames + 40)
    let chain = pair.chain(of: id, on: .offerer)
    #expect(chain.isSound && chain.keyFrames == 2)
    let headers = pair.departures.filter { $0.side == .offerer }.compactMap(\.header).filter {
      $0.payloadType.value == 96
    }
    #expect(Set(headers.map(\.ssrc)).count == 1)
    #expect(zip(headers, headers.dropFirst()).allSatisfy { $1.sequenceNumber.distance(from: $0.sequenceNumber) == 1 })
    #expect(pair.answerer.tracksAdded.filter { $0.kind == .video }.count == 2)
  }

  @Test func `replacing a track negotiates nothing, and a removed one may be put in again`() throws {
    let pair = try PeerPair.inCall()
    let id = pair.addTrack(.video, "first", on: .offerer)
    pair.run(for: .seconds(1))
    let offers = pair.offers(of: .offerer)
    pair.perform(.offerer, .setTrack(TrackName(trackID: "second"), id))
    pair.perform(.offerer, .setTrack(nil, id))
    pair.perform(.offerer, .setTrack(TrackName(trackID: "third"), id))
    pair.offerer.sources[id] = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(2))
    #expect(pair.offers(of: .offerer) == offers && pair.areAgreed)
    #expect(pair.chain(of: id, on: .offerer).numbers.count > 45)
  }

  @Test func `a transceiver without a track can be given one later without a negotiation`() throws {
    let pair = try PeerPair.inCall()
    pair.perform(.offerer, .addTransceiver(.video, .sendonly, nil))
    let id = try #require(pair.offerer.chosen.last)
    pair.run(for: .seconds(1))
    #expect(pair.offerer.peer.isSending(id) && !pair.offerer.bitrates.contains { $0.time < .zero })
    let offers = pair.offers(of: .offerer)
    pair.perform(.offerer, .setTrack(TrackName(trackID: "late"), id))
    pair.offerer.sources[id] = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(1))
    #expect(pair.offers(of: .offerer) == offers && pair.chain(of: id, on: .offerer).numbers.count > 20)
  }

  @Test func `stopping a transceiver ends it on both sides, and its m-section is used again`() throws {
    let pair = try PeerPair.inCall()
    let first = pair.addTrack(.video, "first", on: .offerer)
    pair.offerer.sources[first] = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(1))
    pair.perform(.offerer, .stop(first))
    pair.run(for: .seconds(1))
    #expect(pair.areAgreed)
    for end in [pair.offerer, pair.answerer] {
      #expect(end.peer.transceivers.filter(\.isStopped).map(\.kind) == [.video])
    }
    #expect(pair.answerer.tracksRemoved.count == 1)
    pair.perform(.offerer, .setDirection(.sendrecv, first))
    #expect(pair.offerer.failures.map(\.kind) == [.wrongState])
    let second = pair.addTrack(.video, "second", on: .offerer)
    pair.offerer.sources[second] = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(2))
    let offer = try SessionDescription(parsing: #require(pair.offerer.localDescription))
    #expect(offer.media.count == 2 && offer.media.allSatisfy { !$0.isRejected })
    #expect(pair.chain(of: second, on: .offerer).numbers.count > 40)
  }

  @Test func `a muted video takes no share of the bitrate, which goes to the others`() throws {
    let pair = try PeerPair.inCall()
    let ids = ["a", "b"].map { pair.addTrack(.video, $0, on: .offerer) }
    for id in ids { pair.offerer.sources[id] = SyntheticVideo(from: pair.now) }
    pair.run(for: .seconds(2))
    func rate(_ id: TransceiverID) -> BitRate? {
      for (_, event) in pair.offerer.events.reversed() {
        if case .targetBitrateChanged(let rate, id) = event { return rate }
      }
      return nil
    }
    let half = try #require(rate(ids[0]))
    #expect(abs(try #require(rate(ids[1])).bitsPerSecond - half.bitsPerSecond) < 4)
    let whole = pair.offerer.peer.statistics.targetBitrate
    #expect(abs(half.bitsPerSecond * 2 - whole.bitsPerSecond) < 4)
    pair.perform(.offerer, .setMuted(true, ids[1]))
    #expect(rate(ids[0]) == whole)
    pair.perform(.offerer, .setMuted(false, ids[1]))
    #expect(abs(try #require(rate(ids[0])).bitsPerSecond - half.bitsPerSecond) < 4)
  }

  @Test func `sound and pictures come and go on both sides while the others play on`() throws {
    let pair = try PeerPair.inCall()
    let voice = try #require(pair.offerer.first(.audio))
    pair.offerer.audioSources[voice] = SyntheticAudio(from: pair.now)
    for turn in 0..<6 {
      let side: PeerPair.Side = turn % 2 == 0 ? .offerer : .answerer
      let id = pair.addTrack(turn % 3 == 0 ? .audio : .video, "t\(turn)", on: side)
      pair.run(for: .seconds(1))
      if turn % 2 == 1 { pair.perform(side, .stop(id)) }
      pair.run(for: .seconds(1))
    }
    let numbers = pair.answerer.audio.compactMap { SyntheticAudio.number(of: $0.payload) }
    #expect(numbers == Array(0..<UInt64(numbers.count)) && numbers.count > 590)
    #expect(pair.areAgreed && pair.agreesWithItself)
  }

  @Test func `commands for transceivers that are not there are refused and change nothing`() throws {
    let pair = try PeerPair.inCall()
    let id = pair.addTrack(.video, "only here", on: .offerer)
    let many = try PeerPair.inCall()
    for command in [Command.setDirection(.inactive, id), .stop(id), .setTrack(nil, id)] {
      many.perform(.answerer, command)
    }
    #expect(many.answerer.failures.count == 3 && many.areAgreed)
  }
}
