import RTCDTLS
import RTCEngine
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct Endings {
  @Test(arguments: [PeerPair.Side.offerer, .answerer]) func `a wrong fingerprint ends the connection before any media`(
    _ liar: PeerPair.Side
  ) throws {
    var options = PeerPair.Options()
    let other = try DTLSCertificate().fingerprint.digits
    options.rewrite = { side, description in
      guard side == liar else { return description }
      return description.split(separator: "\r\n").map {
        $0.hasPrefix("a=fingerprint:") ? "a=fingerprint:sha-256 \(other)\r\n" : "\($0)\r\n"
      }.joined()
    }
    let pair = try PeerPair(options)
    pair.recordsDepartures = true
    pair.sender.source = SyntheticVideo()
    #expect(pair.connect() == nil)
    #expect(pair[liar.other].states.map(\.state) == [.connecting, .ended(.fingerprintMismatch)])
    #expect(!pair[liar].states.contains { $0.state == .connected })
    #expect(!pair.departures.contains { $0.kind == .rtp || $0.kind == .rtcp })
  }

  @Test func `a peer that is never answered ends in time`() throws {
    let pair = try PeerPair()
    let start = pair.now
    pair.network.setConditions(.broken)
    #expect(pair.connect(within: .seconds(20)) == nil)
    for side in [pair.offerer, pair.answerer] {
      #expect(side.state == .ended(.timedOut))
      #expect(side.states.last!.time - start == .seconds(15))
    }
  }

  @Test func `an offer that nobody answers ends in time`() throws {
    let pair = try PeerPair()
    pair.perform(.offerer, .createOffer)
    pair.run(for: .seconds(16))
    #expect(pair.offerer.state == .ended(.timedOut))
  }

  @Test func `a viewer that vanishes is disconnected in seconds, lost within thirty, and then has time for a restart`()
    throws
  {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(5))
    pair.network.setConditions(.broken)
    let cut = pair.now
    pair.run(for: .seconds(60))
    let states = pair.sender.states
    let tried = PathsTried(host: 1, wasConnected: true)
    #expect(states.map(\.state) == [.connecting, .connected, .disconnected, .ended(.unreachable(tried))])
    #expect(states[2].time - cut < .seconds(12))
    let connectivity = pair.sender.connectivity
    #expect(connectivity.map(\.value) == [.silent, .lost])
    #expect(connectivity[1].time - cut <= .seconds(30))
    #expect(states[3].time - connectivity[1].time == .seconds(15))
    #expect("\(tried)" == "the way in use fell silent, and no other was found; 1 pair failed: 1 host")
    #expect(pair.sender.outbox.nextDeadline == .distantFuture)
    #expect(pair.sender.peer.statistics.video.framesSent > 0)  // the account outlives the connection
  }

  @Test func `a short outage is over by itself`() throws {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    pair.network.setConditions(.broken)
    pair.run(for: .seconds(15))
    #expect(pair.offerer.state == .disconnected && pair.answerer.state == .disconnected)
    pair.network.setConditions(.delayed(.milliseconds(20)))
    pair.run(for: .seconds(3))
    #expect(pair.areConnected)
  }

  @Test(arguments: [PeerPair.Side.offerer, .answerer]) func `closing tells the other side`(_ closer: PeerPair.Side)
    throws
  {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(1))
    pair.perform(closer, .close)
    #expect(pair[closer].state == .ended(.closedLocally))
    pair.run(for: .milliseconds(100))
    #expect(pair[closer.other].state == .ended(.closedRemotely))
    // Nothing more happens, and nothing is complained of.
    let events = pair[closer].events.count
    pair.perform(closer, .close)
    pair.perform(closer, .requestKeyFrame(nil))
    pair.run(for: .seconds(60))
    #expect(pair[closer].events.count == events)
    pair.perform(closer, .createOffer)
    #expect(pair[closer].failures.map(\.kind) == [.wrongState])
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func `where half of all datagrams are lost, media keeps a connection alive`(
    _ seed: UInt64
  ) throws {
    var options = PeerPair.Options()
    options.seed = seed
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.network[.aToB].loss = 0.5
    pair.network[.bToA].loss = 0.5
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(120))
    #expect(pair.sender.states.map(\.state) == [.connecting, .connected])
    #expect(pair.receiver.states.map(\.state) == [.connecting, .connected])
  }

  @Test func `who never shows himself is given up before one who is slow`() throws {
    var options = PeerPair.Options()
    options.configure = { _, configuration in configuration.firstContactTimeout = .seconds(6) }
    let absent = try PeerPair(options)
    absent.filter = { _, _ in false }
    absent.exchangeDescriptions()
    absent.run(for: .milliseconds(5_900))
    #expect(absent.answerer.state == .connecting)
    absent.run(for: .milliseconds(200))
    #expect(absent.answerer.state == .ended(.timedOut))
    // His checks come, and nothing else: he has the whole time.
    let slow = try PeerPair(options)
    slow.filter = { _, kind in kind == .stun }
    slow.exchangeDescriptions()
    slow.run(for: .seconds(14))
    #expect(slow.answerer.state == .connecting)
    slow.run(for: .seconds(2))
    #expect(slow.answerer.state == .ended(.timedOut))
  }
}
