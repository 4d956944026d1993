import RTCEngine
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// Media that overtakes the answer to our offer (RFC 3264 §5.1, RFC 8829 §4.1.8).
@Suite struct EarlyMediaTests {
  /// A call in which the offerer asks for a video and the answerer's answer takes its time, or for ever.
  private func pair(answerTakes delay: TimeDelta) throws -> (PeerPair, TransceiverID, TransceiverID) {
    let pair = try PeerPair.inCall()
    pair.run(for: .seconds(1))
    // The call itself has begun without.
    pair.negotiatePerfectly(delays: [.answerer: delay])
    // No offer of its own: it takes up the m-section that comes.
    pair.perform(.answerer, .startConfiguration)
    let sending = pair.addTrack(.video, "screen", on: .answerer)
    pair.perform(.offerer, .addTransceiver(.video, .recvonly, nil))
    let receiving = try #require(pair.offerer.chosen.last)
    pair.answerer.sources[sending] = SyntheticVideo(from: pair.now)
    return (pair, sending, receiving)
  }

  @Test
  func `a video that comes before the answer is shown from its first picture on, and no key frame is asked for again`()
    throws
  {
    let (pair, sending, receiving) = try pair(answerTakes: .milliseconds(200))
    pair.run(for: .milliseconds(150))
    #expect(pair.offerer.peer.signalingState == .haveLocalOffer && pair.answerer.peer.isSending(sending))
    #expect(pair.offerer.frames(of: receiving).isEmpty)
    let asked = pair.answerer.keyFrameRequests.count
    pair.run(for: .seconds(2))
    let chain = FrameChain(pair.offerer.frames(of: receiving))
    #expect(chain.isSound && chain.numbers.first == 0 && chain.numbers.count > 40 && chain.keyFrames == 1)
    #expect(pair.answerer.keyFrameRequests.count == asked)
    // The application hears of the track before its pictures.
    let added = pair.offerer.events.firstIndex {
      if case .trackAdded(let track) = $0.event { track.transceiver == receiving } else { false }
    }
    let shown = pair.offerer.events.firstIndex {
      if case .frameReceived(_, receiving) = $0.event { true } else { false }
    }
    #expect(try #require(added) < #require(shown))
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func `losses among what came early are repaired once the answer is there`(
    seed: UInt64
  ) throws {
    let (pair, _, receiving) = try pair(answerTakes: .milliseconds(200))
    pair.network[.bToA].loss = 0.1
    pair.run(for: .seconds(4))
    let chain = FrameChain(pair.offerer.frames(of: receiving))
    #expect(chain.isSound && chain.numbers.count > 80)
  }

  @Test func `what comes early for an offer that is taken back is let go, and an answer that never comes costs little`()
    throws
  {
    let (pair, _, receiving) = try pair(answerTakes: .seconds(600))
    pair.run(for: .seconds(20))
    #expect(pair.offerer.frames(of: receiving).isEmpty)
    // The rest did not fit.
    #expect(pair.offerer.peer.statistics.drops[.unknownStream] > 0)
    pair.perform(.offerer, .rollback)
    #expect(pair.offerer.peer.signalingState == .stable)
    #expect(pair.offerer.frames(of: receiving).isEmpty && pair.offerer.failures.isEmpty)
  }
}
