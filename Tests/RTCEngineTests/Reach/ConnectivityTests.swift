import RTCEngine
import RTCICE
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// Silence and lost consent are told of in time for a restart, and are the end only when none comes.
@Suite struct ConnectivityTests {
  @Test func `silence is told of, and that it is over`() throws {
    let pair = try Reach.connected()
    #expect(pair.offerer.connectivity.isEmpty)
    pair.network.setConditions(.broken)
    let cut = pair.now
    pair.run(for: .seconds(9))
    #expect(pair.offerer.connectivity.map(\.value) == [.silent])
    #expect(pair.offerer.connectivity[0].time - cut >= .seconds(5))
    pair.network.setConditions(.delayed(.milliseconds(20)))
    pair.run(for: .seconds(2))
    #expect(pair.offerer.connectivity.map(\.value) == [.silent, .good] && pair.areConnected)
  }

  @Test func `a way that the system refuses is silent at once`() throws {
    let pair = try Reach.connected()
    let route = try #require(pair.offerer.peer.statistics.selectedRoute)
    pair.network.setConditions(.broken)
    pair.perform(.offerer, .routeRefused(route))
    pair.run(for: .milliseconds(1))
    #expect(pair.offerer.connectivity.map(\.value) == [.silent] && pair.offerer.state == .disconnected)
  }

  @Test(arguments: [PeerPair.Side.offerer, .answerer])
  func `RFC 7675: when consent is over nothing is sent, and a restart by description brings it back`(
    _ side: PeerPair.Side
  )
    throws
  {
    let pair = try PeerPair.inCall()
    let id = pair.addTrack(.video, "screen", on: .offerer)
    pair.offerer.sources[id] = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(2))
    pair.network.setConditions(.broken)
    pair.run(for: .seconds(33))
    #expect(pair[side].connectivity.last?.value == .lost && pair[side].state == .disconnected)
    pair.recordsDepartures = true
    pair.run(for: .seconds(2))
    #expect(pair.departures.isEmpty)
    pair.network.setConditions(.delayed(.milliseconds(20)))
    pair.perform(side, .restartICE(pair.freshCredentials()))
    pair.run(for: .seconds(3)) { $0.areConnected }
    #expect(pair.areConnected && pair[side].connectivity.last?.value == .good)
    let frames = pair.answerer.frames.count
    pair.run(for: .seconds(60))
    #expect(pair.areConnected && pair.answerer.frames.count > frames + 1_000)
  }

  @Test func `a restart that nobody answers does not keep a lost peer alive`() throws {
    let pair = try Reach.connected()
    pair.perform(.offerer, .restartFragment(pair.freshCredentials()))
    pair.network.setConditions(.broken)
    pair.run(for: .seconds(60))
    guard case .ended(.unreachable(let tried)) = pair.offerer.state else {
      Issue.record("still \(pair.offerer.state)")
      return
    }
    #expect(tried.wasConnected && pair.offerer.connectivity.map(\.value) == [.silent, .lost])
  }

  @Test func `what was tried is told in a sentence`() {
    #expect("\(PathsTried(host: 2, relay: 1))" == "3 pairs failed: 2 host, 1 relay")
    #expect("\(PathsTried(reflexive: 1))" == "1 pair failed: 1 reflexive")
    #expect("\(PathsTried(hasLocalCandidates: false))" == "there was no address of ours to try from")
    #expect("\(PathsTried(hasRemoteCandidates: false))" == "the remote peer named no address to try")
    #expect("\(PathsTried())" == "no address of ours fits one of the remote peer's")
  }
}
