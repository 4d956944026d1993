import RTCEngine
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

@Suite struct SourceCollisions {
  @Test func `two peers that draw the same sources do not mix their streams`() throws {
    let pair = try PeerPair.inCall { options in
      let configure = options.configure
      options.configure = { side, configuration in
        configure(side, &configuration)
        configuration.seed = 42
      }
    }
    let ours = pair.addTrack(.video, "a", on: .offerer)
    let theirs = pair.addTrack(.video, "b", on: .answerer)
    let voices = [PeerPair.Side.offerer, .answerer].map { ($0, pair[$0].first(.audio)!) }
    pair.offerer.sources[ours] = SyntheticVideo(from: pair.now)
    pair.answerer.sources[theirs] = SyntheticVideo(frameSize: 2_000, from: pair.now)
    for (side, id) in voices {
      pair[side].audioSources[id] = SyntheticAudio(packetSize: side == .offerer ? 70 : 90, from: pair.now)
    }
    pair.network[.aToB].loss = 0.05
    pair.network[.bToA].loss = 0.05
    pair.recordsDepartures = true
    pair.run(for: .seconds(5))
    for (id, side) in [(ours, PeerPair.Side.offerer), (theirs, .answerer)] {
      let chain = pair.chain(of: id, on: side)
      #expect(chain.isSound && chain.numbers.count > 80)
    }
    #expect(pair.answerer.audio.allSatisfy { $0.payload.count == 70 } && pair.answerer.audio.count > 200)
    #expect(pair.offerer.audio.allSatisfy { $0.payload.count == 90 } && pair.offerer.audio.count > 200)
    // Whoever answers draws anew.
    let sources = { (side: PeerPair.Side) in
      Set(pair.departures.filter { $0.side == side }.compactMap(\.header).map(\.ssrc))
    }
    #expect(sources(.offerer).isDisjoint(with: sources(.answerer)))
  }

  @Test func `a description that gives the far side's source a second owner mixes nothing`() throws {
    let pair = try PeerPair.inCall()
    let ids = ["a", "b"].map { pair.addTrack(.video, $0, on: .offerer) }
    for (place, id) in ids.enumerated() {
      var source = SyntheticVideo(from: pair.now)
      for _ in 0..<place * 1_000 { _ = source.next(.zero) }
      (source.nextTime, source.needsKeyFrame) = (pair.now, true)
      pair.offerer.sources[id] = source
    }
    pair.run(for: .seconds(1))
    // The same descriptions once more, in which both videos have the first one's source.
    pair.signalingIsCut()
    pair.perform(.offerer, .setLocalDescription(pair.freshCredentials()))
    var offer = try SessionDescription(parsing: #require(pair.offerer.localDescription))
    let video = offer.media.indices.filter { offer.media[$0].kind == .video }
    offer.media[video[1]].sources = offer.media[video[0]].sources
    offer.media[video[1]].sourceGroups = offer.media[video[0]].sourceGroups
    let description = Description(kind: .offer, sdp: offer.description)
    pair.perform(.answerer, .negotiate(description, .polite, pair.freshCredentials()))
    pair.perform(.offerer, .setRemoteDescription(try #require(pair.answerer.description)))
    pair.run(for: .seconds(3))
    for (place, id) in ids.enumerated() {
      let chain = pair.chain(of: id, on: .offerer)
      #expect(chain.isSound && chain.numbers.allSatisfy { $0 / 1_000 == UInt64(place) })
      #expect(chain.numbers.count > 80)
    }
  }

  @Test func `packets without the name of their m-section are known by their source, then by their payload type`()
    throws
  {
    for strips in [["a=extmap:1 "], ["a=extmap:1 ", "a=ssrc"]] {
      let pair = try PeerPair(.call())
      let voice = pair.addTrack(.audio, "voice", on: .offerer)
      let screen = pair.addTrack(.video, "screen", on: .offerer)
      func strip(_ description: Description) -> Description {
        let lines = description.sdp.split(separator: "\r\n").filter { line in !strips.contains { line.hasPrefix($0) } }
        return Description(kind: description.kind, sdp: lines.joined(separator: "\r\n") + "\r\n")
      }
      pair.perform(.offerer, .setLocalDescription(pair.freshCredentials()))
      #expect(pair.offerer.localDescription?.contains("a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid") == true)
      pair.perform(
        .answerer, .negotiate(strip(try #require(pair.offerer.description)), .polite, pair.freshCredentials()))
      pair.perform(.offerer, .setRemoteDescription(strip(try #require(pair.answerer.description))))
      pair.run(for: .seconds(5)) { $0.areConnected }
      try #require(pair.areConnected)
      pair.network[.aToB].loss = 0.05
      pair.offerer.sources[screen] = SyntheticVideo(from: pair.now)
      pair.offerer.audioSources[voice] = SyntheticAudio(from: pair.now)
      pair.run(for: .seconds(3))
      #expect(pair.chain(of: screen, on: .offerer).isSound && pair.answerer.frames.count > 50)
      #expect(pair.answerer.audio.count > 120)
    }
  }
}

extension PeerPair {
  /// Descriptions are carried by the test from now on.
  func signalingIsCut() { stopNegotiating() }
}
