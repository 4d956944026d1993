import FeatureKit
import RTCEngine
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct Batches {
  @Test(.feature("S0.15", "S0.16")) func `changes between startConfiguration and commitConfiguration make one offer`()
    throws
  {
    let pair = try PeerPair.inCall()
    let (offers, notices) = (pair.offers(of: .offerer), pair.offerer.negotiationsNeeded)
    pair.perform(.offerer, .startConfiguration)
    for name in ["a", "b", "c"] {
      pair.addTrack(.video, name, on: .offerer)
      pair.run(for: .milliseconds(200))
    }
    pair.perform(.offerer, .stop(pair.offerer.first(.audio)!))
    pair.run(for: .seconds(1))
    #expect(pair.offers(of: .offerer) == offers && pair.offerer.negotiationsNeeded == notices)
    pair.perform(.offerer, .commitConfiguration)
    pair.run(for: .seconds(1))
    #expect(pair.offers(of: .offerer) == offers + 1 && pair.offerer.negotiationsNeeded == notices + 1)
    #expect(pair.areAgreed && pair.agreesWithItself)
    #expect(pair.answerer.tracksAdded.count { $0.kind == .video } == 3)
  }

  @Test(.feature("S0.15"))
  func `an offer of the far side is answered while a batch is open, and the batch is told once at its end`() throws {
    let pair = try PeerPair.inCall()
    let notices = pair.offerer.negotiationsNeeded
    pair.perform(.offerer, .startConfiguration)
    let ours = pair.addTrack(.video, "ours", on: .offerer)
    pair.addTrack(.video, "theirs", on: .answerer)
    pair.run(for: .seconds(1))
    #expect(pair.answerer.peer.signalingState == .stable && pair.offerer.negotiationsNeeded == notices)
    pair.perform(.offerer, .commitConfiguration)
    pair.run(for: .seconds(1))
    #expect(pair.areAgreed && pair.agreesWithItself)
    #expect(pair.offerer.peer.transceivers.first { $0.id == ours }?.currentDirection?.sends == true)
  }

  @Test(.feature("S0.16")) func `a batch that changes nothing tells nothing`() throws {
    let pair = try PeerPair.inCall()
    let notices = pair.offerer.negotiationsNeeded
    pair.perform(.offerer, .startConfiguration)
    pair.perform(.offerer, .setDirection(.recvonly, pair.offerer.first(.audio)!))
    pair.perform(.offerer, .setDirection(.sendrecv, pair.offerer.first(.audio)!))
    pair.perform(.offerer, .commitConfiguration)
    #expect(pair.offerer.negotiationsNeeded == notices && pair.areAgreed)
  }

  @Test(.feature("S0.15")) func `what was told before a batch and not acted on in time is told again at its end`()
    throws
  {
    let pair = try PeerPair.inCall()
    pair.addTrack(.video, "a", on: .offerer)
    // Who acts on the notice finds the batch open.
    pair.perform(.offerer, .startConfiguration)
    pair.run(for: .milliseconds(200))
    #expect(pair.answerer.tracksAdded.allSatisfy { $0.kind == .audio })
    pair.perform(.offerer, .commitConfiguration)
    pair.run(for: .seconds(1))
    #expect(pair.areAgreed && pair.agreesWithItself)
    #expect(pair.answerer.tracksAdded.count { $0.kind == .video } == 1)
  }

  @Test func `many changes outside a batch are told once until they are agreed`() throws {
    let pair = try PeerPair(.call())
    for name in ["a", "b", "c"] { pair.addTrack(.video, name, on: .offerer) }
    #expect(pair.offerer.negotiationsNeeded == 1)
  }
}
