import RTCEngine
import RTCPrimitives
import RTCTestKit
import RTCWire
import SDPKit
import Testing

@Suite struct AudioNegotiation {
  /// A peer's answer to `offer`.
  private func answer(
    to offer: String, _ configure: @escaping (inout PeerConfiguration) -> Void
  ) throws -> SessionDescription {
    var options = PeerPair.Options()
    options.configure = { side, configuration in
      configuration.sendsVideo = nil
      configuration.receivesVideo = false
      if side == .answerer { configure(&configuration) }
    }
    let pair = try PeerPair(options)
    pair.perform(.answerer, .acceptOffer(offer))
    #expect(pair.answerer.failures.isEmpty)
    return try SessionDescription(parsing: #require(pair.answerer.localDescription))
  }

  private func sendBoth(_ configuration: inout PeerConfiguration) {
    configuration.sendsVideo = .init()
    configuration.sendsAudio = .init()
  }

  @Test(arguments: [
    ChromiumOffers.receiver, FirefoxOffers.receiver, AiortcOffers.receiver,
  ]) func `browsers that want both are sent both, in one stream`(_ offer: String) throws {
    let answer = try answer(to: offer, sendBoth)
    let offered = try SessionDescription(parsing: offer)
    #expect(answer.media.map(\.kind) == offered.media.map(\.kind))
    let sound = try #require(answer.media.first { $0.kind == .audio })
    let video = try #require(answer.media.first { $0.kind == .video })
    #expect(!sound.isRejected && sound.direction == .sendonly && !video.isRejected && video.direction == .sendonly)
    #expect(answer.bundles == [answer.media.compactMap(\.mid)])
    // Each packet may bring the one before, to those who take that.
    let hasRedundancy = offer.contains("red/48000/2")
    #expect(sound.payloads.map(\.name) == (hasRedundancy ? ["opus", "red"] : ["opus"]))
    if hasRedundancy {
      let number = sound.payloads[0].payloadType.value
      #expect(sound.payloads[1].parameters.text == "\(number)/\(number)")
    }
    #expect(sound.payloads[0].parameters["sprop-stereo"] == "1" && sound.payloads[0].parameters["stereo"] == "1")
    #expect(sound.streamIdentifiers.map(\.stream) == video.streamIdentifiers.map(\.stream))
    #expect(sound.streamIdentifiers.map(\.track) != video.streamIdentifiers.map(\.track))
    #expect(sound.sources.map(\.cname) == [video.sources[0].cname])
    #expect(!video.sources.map(\.ssrc).contains(sound.sources[0].ssrc))
    // One number means one extension in the whole bundle (RFC 8843 §9.1).
    for (id, uri) in sound.headerExtensions.map({ ($0.id, $0.uri) }) {
      #expect(video.headerExtensions.allSatisfy { ($0.id == id) == ($0.uri == uri) })
    }
  }

  @Test(arguments: [
    ChromiumOffers.call, FirefoxOffers.call, AiortcOffers.call,
  ]) func `calls are answered both ways`(_ offer: String) throws {
    let answer = try answer(to: offer) {
      sendBoth(&$0)
      $0.receivesVideo = true
      $0.receivesAudio = true
    }
    #expect(answer.media.prefix(2).map(\.direction) == [.sendrecv, .sendrecv])
    let listening = try self.answer(to: offer) { $0.receivesAudio = true }
    #expect(listening.media.map(\.isRejected) == [false, true, true])
    #expect(listening.media[0].direction == .recvonly && listening.media[0].sources.isEmpty)
  }

  @Test func `whoever sends no sound turns the section off`() throws {
    let answer = try answer(to: ChromiumOffers.receiver) { $0.sendsVideo = .init() }
    #expect(answer.media.map(\.isRejected) == [false, true])
  }

  @Test(arguments: [
    [MediaDescription.Kind.video], [.audio], [.video, .audio], [.audio, .video],
  ]) func `what the far side does not offer is not sent`(_ kinds: [MediaDescription.Kind]) throws {
    var options = PeerPair.Options()
    options.sender = .answerer
    options.configure = { side, configuration in
      if side == .answerer {
        configuration.sendsAudio = .init()
      } else {
        configuration.receivesAudio = true
      }
    }
    options.rewrite = { side, text in
      guard side == .offerer, var offer = try? SessionDescription(parsing: text) else { return text }
      offer.media = kinds.compactMap { kind in offer.media.first { $0.kind == kind } }
      offer.bundles = [offer.media.compactMap(\.mid)]
      // Candidates stand in the bundle's first section.
      let transport = (try? SessionDescription(parsing: text))?.media[0].transport
      offer.media[0].transport = transport ?? offer.media[0].transport
      return offer.description
    }
    let pair = try PeerPair(options)
    pair.perform(.offerer, .createOffer)
    let offer = options.rewrite(.offerer, try #require(pair.offerer.localDescription))
    pair.perform(.answerer, .acceptOffer(offer))
    let answer = try SessionDescription(parsing: #require(pair.answerer.localDescription))
    #expect(answer.media.map(\.kind) == kinds && answer.media.allSatisfy { !$0.isRejected })
    #expect(answer.media.allSatisfy { $0.direction == .sendonly && $0.streamIdentifiers.first?.stream == "rtcast" })
    #expect(answer.bundles == [answer.media.compactMap(\.mid)])
  }

  @Test(arguments: [true, false]) func `an offer of ours with both is understood by a peer that takes one`(
    _ takesVideo: Bool
  ) throws {
    var options = PeerPair.Options()
    options.configure = { side, configuration in
      if side == .offerer {
        configuration.sendsAudio = .init()
      } else {
        configuration.receivesVideo = takesVideo
        configuration.receivesAudio = !takesVideo
      }
    }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.sender.audioSource = SyntheticAudio(from: pair.now)
    pair.run(for: .seconds(2))
    #expect(pair.receiver.frames.isEmpty != takesVideo)
    #expect(pair.receiver.audio.isEmpty == takesVideo)
    #expect(pair.receiver.peer.statistics.drops.total == 0)
  }

  @Test func `sound goes both ways at once`() throws {
    var options = PeerPair.Options()
    options.configure = { _, configuration in
      configuration.sendsAudio = .init()
      configuration.receivesAudio = true
    }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.offerer.audioSource = SyntheticAudio(from: pair.now)
    pair.answerer.audioSource = SyntheticAudio(packetSize: 90, from: pair.now)
    pair.run(for: .seconds(2))
    #expect(pair.offerer.audio.count >= 97 && pair.offerer.audio.allSatisfy { $0.payload.count == 90 })
    #expect(pair.answerer.audio.count >= 97 && pair.answerer.audio.allSatisfy { $0.payload.count == 160 })
  }

  @Test func `Opus is described as configured`() throws {
    let offer = ChromiumOffers.receiver
    let answer = try answer(to: offer) {
      var opus = PeerConfiguration.OpusParameters()
      opus.isStereo = false
      opus.usesDiscontinuousTransmission = false
      opus.usesForwardErrorCorrection = false
      opus.maximumAverageBitrate = 1_000_000
      opus.minimumPacketTime = 20
      $0.sendsAudio = .init(opus: opus)
    }
    let sound = try #require(answer.media.first { $0.kind == .audio })
    #expect(sound.payloads[0].parameters.text == "minptime=20;maxaveragebitrate=510000")
  }
}
