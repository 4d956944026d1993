import RTCEngine
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

@Suite struct Restarts {
  @Test(arguments: [PeerPair.Side.offerer, .answerer])
  func `an ICE restart from either side changes the credentials and interrupts nothing`(_ side: PeerPair.Side) throws {
    let pair = try PeerPair.inCall(delays: [.offerer: .milliseconds(80), .answerer: .milliseconds(80)])
    let id = pair.addTrack(.video, "screen", on: .offerer)
    pair.offerer.sources[id] = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(2))
    let before = try fragments(pair)
    let states = [pair.offerer, pair.answerer].map(\.states.count)
    for _ in 0..<3 {
      pair.perform(side, .restartICE(pair.freshCredentials()))
      pair.run(for: .seconds(2))
      #expect(pair.areAgreed && pair.areConnected)
    }
    let after = try fragments(pair)
    #expect(Set(before).isDisjoint(with: after) && Set(after).count == 2)
    #expect([pair.offerer, pair.answerer].map(\.states.count) == states)
    let chain = pair.chain(of: id, on: .offerer)
    #expect(chain.isSound && chain.keyFrames == 1)
    // Each side says all the names it can be asked for under.
    for (end, fragment) in zip([pair.offerer, pair.answerer], after) {
      let told = end.events.compactMap { if case .usernameFragmentAdded(let name) = $0.event { name } else { nil } }
      #expect(told.last == fragment)
    }
  }

  @Test func `a restart finds the way when the far side's address has changed meanwhile`() throws {
    let pair = try PeerPair.inCall()
    let id = pair.addTrack(.video, "screen", on: .offerer)
    pair.offerer.sources[id] = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(2))
    pair.network.setConditions(.broken)
    pair.run(for: .seconds(8))
    #expect(pair.offerer.state == .disconnected)
    pair.perform(.offerer, .restartICE(pair.freshCredentials()))
    pair.run(for: .seconds(1))
    pair.network.setConditions(.delayed(.milliseconds(20)))
    let frames = pair.answerer.frames.count
    pair.run(for: .seconds(5))
    #expect(pair.areConnected && pair.answerer.frames.count > frames + 50)
  }

  @Test func `a restart that is rolled back is offered again, and one side's does not undo the other's`() throws {
    let pair = try PeerPair.inCall(delays: [.offerer: .milliseconds(60), .answerer: .milliseconds(60)])
    let before = try fragments(pair)
    for side in [PeerPair.Side.offerer, .answerer] { pair.perform(side, .restartICE(pair.freshCredentials())) }
    pair.run(for: .seconds(3))
    #expect(pair.areAgreed && pair.areConnected)
    #expect(Set(before).isDisjoint(with: try fragments(pair)))
    #expect(pair.offerer.failures.isEmpty && pair.answerer.failures.isEmpty)
  }

  @Test func `a restart that is answered with the credentials of before is refused, and the call goes on`() throws {
    let pair = try Reach.connected()
    let answer = try #require(pair.answerer.localDescription)
    let frames = pair.receiver.frames.count
    pair.perform(.offerer, .restartICE(pair.freshCredentials()))
    pair.perform(.offerer, .createOffer)
    pair.perform(.offerer, .acceptAnswer(answer))
    let failure = try #require(pair.offerer.failures.last)
    #expect(failure.sentence.contains("answered with the credentials of before"))
    pair.perform(.offerer, .rollback)
    pair.run(for: .seconds(100))
    #expect(pair.areConnected && pair.receiver.frames.count > frames + 2_000)
  }

  @Test func `an answer that restarts ICE while our offer did not is followed`() throws {
    let pair = try Reach.connected()
    let frames = pair.receiver.frames.count
    pair.perform(.answerer, .restartFragment(pair.freshCredentials()))
    pair.exchangeDescriptions()
    pair.run(for: .seconds(30))
    #expect(pair.offerer.failures.isEmpty && pair.answerer.failures.isEmpty)
    #expect(pair.areConnected && pair.receiver.frames.count > frames + 600)
  }

  private func fragments(_ pair: PeerPair) throws -> [String] {
    try [pair.offerer, pair.answerer].map { end in
      let description = try SessionDescription(parsing: #require(end.localDescription))
      return try #require(description.media[0].transport.usernameFragment)
    }
  }
}
