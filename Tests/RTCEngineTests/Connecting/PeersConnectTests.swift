import FeatureKit
import RTCEngine
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct PeersConnect {
  @Test(.feature("S1.7", "S1.14", "S1.16"), arguments: [PeerPair.Side.offerer, .answerer])
  func `connect whoever offers and whoever sends`(_ sender: PeerPair.Side) throws {
    var options = PeerPair.Options()
    options.sender = sender
    let pair = try PeerPair(options)
    pair.sender.source = SyntheticVideo()
    let time = try #require(pair.connect())
    #expect(time < .milliseconds(400))  // a check, a handshake of two round trips
    #expect(pair.offerer.states.map(\.state) == [.connecting, .connected])
    #expect(pair.answerer.states.map(\.state) == [.connecting, .connected])
    pair.run(for: .seconds(1))
    #expect(pair.receiver.frames.count >= 20)
    #expect(FrameChain(pair.receiver.frames).isSound)
  }

  @Test func `agree on AES-GCM`() throws {
    let pair = try PeerPair()
    #expect(pair.connect() != nil)
    #expect(pair.offerer.peer.statistics.srtpProfile == "AEAD_AES_128_GCM")
    #expect(pair.answerer.peer.statistics.srtpProfile == "AEAD_AES_128_GCM")
  }

  @Test func `ask the source for a key frame as soon as they are connected`() throws {
    let pair = try PeerPair()
    #expect(pair.connect() != nil)
    let connected = try #require(pair.sender.states.last)
    #expect(pair.sender.keyFrameRequests.first == connected.time)
    #expect(pair.sender.bitrates.first?.rate == .megabitsPerSecond(1))
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>) func `connect on a network that loses a third of all datagrams`(
    _ seed: UInt64
  ) throws {
    var options = PeerPair.Options()
    options.seed = seed
    options.conditions.loss = 0.3
    options.configure = { $1.connectTimeout = .seconds(60) }
    let pair = try PeerPair(options)
    #expect(pair.connect(within: .seconds(60)) != nil)
  }
}
