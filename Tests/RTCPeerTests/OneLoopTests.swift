import FeatureKit
import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCTestKit
import Synchronization
import Testing

/// Peers of one loop have one address between them, whoever they call.
@Suite(.timeLimit(.minutes(1))) struct PeersOfOneLoop {
  /// The fingerprints in a connection's offer.
  private func fingerprints(_ connection: PeerConnection) async throws -> Set<String> {
    _ = try await connection.createDataChannel("chat")
    let offer = try await connection.createOffer()
    let lines = offer.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("a=fingerprint:") }
    return Set(lines.map { String($0.dropFirst(14)) })
  }

  @Test(.feature("S3.35")) func `the connections of a loop have one certificate, which another loop has not`()
    async throws
  {
    let (loop, other) = (try PeerLoop(TwoConnections.options), try PeerLoop(TwoConnections.options))
    let own = try await fingerprints(PeerConnection(on: loop))
    let certificate = loop.certificate.fingerprint
    #expect(own == ["\(certificate.algorithm) \(certificate.digits)"])
    #expect(try await fingerprints(PeerConnection(on: loop)) == own)
    #expect(try await fingerprints(PeerConnection(on: other)).isDisjoint(with: own))
    loop.stop()
    other.stop()
  }

  @Test func `two peers of one loop call each other: sound, pictures and messages go both ways`() async throws {
    let loop = try PeerLoop(TwoConnections.options)
    let pair = TwoConnections(loop, loop)
    let (sound, picture) = (loop.makeAudioTrack(), loop.makeVideoTrack(onKeyFrameRequest: {}))
    let (audio, video) = try await pair.cross(sound, picture)
    let (packet, frame) = await pair.carry(sound, to: audio, picture, to: video)
    #expect(packet != nil)
    #expect(frame != nil)
    let messages = try await pair.caller.createDataChannel("chat")
    #expect(await isOpen(messages))
    await pair.close()
  }

  @Test func `pairs of peers of one loop are not mistaken for each other`() async throws {
    let loop = try PeerLoop(TwoConnections.options)
    let pairs = (0..<3).map { _ in TwoConnections(loop, loop) }
    let sounds = pairs.map { _ in loop.makeAudioTrack() }
    for (pair, sound) in zip(pairs, sounds) { _ = try await pair.caller.addTrack(.audio(sound)) }
    for (pair, sound) in zip(pairs, sounds) {
      let tracks = await pair.ready(pair.callee, tracks: 1, sending: 0)
      #expect(tracks.map(\.id) == [sound.name.trackID])
      _ = await pair.ready(pair.caller, tracks: 0, sending: 1)
      guard case .audio(let audio)? = tracks.first else { continue }
      let (packets, feed) = AsyncStream.makeStream(of: ReceivedAudio.self)
      audio.setReceiver { feed.yield($0) }
      var source = SyntheticAudio()
      sound.send(source.next())
      #expect(await first(of: packets) { $0 } != nil)
    }
    // One call's end is no other's.
    await pairs[0].caller.close()
    let ended = await first(of: pairs[0].callee.events) { if case .stateChanged(.ended) = $0 { true } else { nil } }
    #expect(ended == true)
    let messages = try await pairs[1].caller.createDataChannel("still here")
    #expect(await isOpen(messages))
    for pair in pairs { await pair.close() }
  }
}
