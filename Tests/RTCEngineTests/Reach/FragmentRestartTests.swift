import RTCEngine
import RTCICE
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// ICE restarts by fragment, as WHIP and WHEP have it (RFC 9725 §4.3).
@Suite struct FragmentRestartTests {
  private func names(_ pair: PeerPair, _ side: PeerPair.Side) -> [String] {
    pair[side].events.compactMap { if case .usernameFragmentAdded(let name) = $0.event { name } else { nil } }
  }

  private func checkUndisturbed(_ pair: PeerPair, since frames: Int) {
    pair.run(for: .seconds(3))
    #expect(pair.areConnected && pair.receiver.frames.count > frames + 60)
    #expect(FrameChain(pair.receiver.frames).isSound && FrameChain(pair.receiver.frames).keyFrames == 1)
  }

  @Test(arguments: [PeerPair.Side.offerer, .answerer])
  func `either side restarts, media goes on, and DTLS and SRTP are as before`(_ client: PeerPair.Side) throws {
    let pair = try Reach.connected()
    pair.recordsDepartures = true
    let frames = pair.receiver.frames.count
    for round in 1...3 {
      pair.perform(client, .restartFragment(pair.freshCredentials()))
      pair.run(for: .milliseconds(300))  // the request takes its time
      pair.exchangeFragment(from: client)
      pair.run(for: .seconds(1))
      #expect(names(pair, client).count == round && names(pair, client.other).count == round)
      let fragments = try [client, client.other].map {
        try TrickleFragment(parsing: #require(pair[$0].fragments.last)).credentials?.usernameFragment
      }
      #expect(fragments == [names(pair, client).last, names(pair, client.other).last])
    }
    #expect(pair.offerer.failures.isEmpty && pair.answerer.failures.isEmpty)
    #expect(!pair.departures.contains { $0.kind == .dtls })
    checkUndisturbed(pair, since: frames)
  }

  @Test func `the fragment says what it is for`() throws {
    let pair = try Reach.connected()
    pair.perform(.answerer, .localFragment)
    let text = try #require(pair.answerer.fragments.last)
    let fragment = try TrickleFragment(parsing: text)
    let description = try SessionDescription(parsing: #require(pair.answerer.localDescription))
    #expect(fragment.credentials == description.media[0].transport.credentials)
    #expect(fragment.candidates == description.media[0].transport.candidates && fragment.isComplete)
    #expect(fragment.sections.map(\.mid) == [description.media[0].mid] && fragment.bundle == description.bundles[0])
    // Taken as trickle: nothing restarts.
    pair.perform(.offerer, .applyFragment(text, pair.freshCredentials()))
    #expect(pair.offerer.results.last == .success(.done) && names(pair, .offerer).isEmpty)
  }

  @Test func `a restart by fragment brings back a way that was lost`() throws {
    let pair = try Reach.connected()
    pair.network.setConditions(.broken)
    pair.run(for: .seconds(34))
    #expect(pair.offerer.connectivity.map(\.value) == [.silent, .lost] && pair.offerer.state == .disconnected)
    pair.network.setConditions(.delayed(.milliseconds(20)))
    pair.perform(.offerer, .restartFragment(pair.freshCredentials()))
    pair.exchangeFragment(from: .offerer)
    pair.run(for: .seconds(2)) { $0.areConnected }
    #expect(pair.areConnected && pair.offerer.connectivity.last?.value == .good)
    let frames = pair.receiver.frames.count
    pair.run(for: .seconds(30))
    #expect(pair.areConnected && pair.receiver.frames.count > frames + 500)
  }

  @Test(arguments: [TimeDelta.zero, .milliseconds(150)])
  func `both sides restart at the same moment, and each fragment answers the other`(delay: TimeDelta) throws {
    let pair = try Reach.connected()
    let frames = pair.receiver.frames.count
    for side in [PeerPair.Side.offerer, .answerer] { pair.perform(side, .restartFragment(pair.freshCredentials())) }
    let fragments = [pair.offerer, pair.answerer].map(\.fragments.last!)
    pair.run(for: delay)
    pair.perform(.answerer, .applyFragment(fragments[0], pair.freshCredentials()))
    pair.run(for: delay)
    pair.perform(.offerer, .applyFragment(fragments[1], pair.freshCredentials()))
    let answers = [pair.offerer, pair.answerer].map(\.fragments.last!)
    pair.perform(.offerer, .acceptFragment(answers[1]))
    pair.perform(.answerer, .acceptFragment(answers[0]))
    #expect(pair.offerer.failures.isEmpty && pair.answerer.failures.isEmpty)
    #expect(names(pair, .offerer).last != nil && Set(names(pair, .offerer)).count == 1)
    checkUndisturbed(pair, since: frames)
  }

  @Test func `a restart that is answered with the old credentials is refused with a sentence, and the old way goes on`()
    throws
  {
    let pair = try Reach.connected()
    let frames = pair.receiver.frames.count
    pair.perform(.answerer, .localFragment)
    let old = try #require(pair.answerer.fragments.last)
    pair.perform(.offerer, .restartFragment(pair.freshCredentials()))
    pair.perform(.offerer, .acceptFragment(old))
    #expect(pair.offerer.failures.map(\.kind) == [.wrongState])
    #expect(pair.offerer.failures[0].sentence.contains("the credentials it had before"))
    pair.perform(.offerer, .acceptFragment("a=end-of-candidates\r\n"))
    #expect(pair.offerer.failures.last?.kind == .malformed)
    pair.run(for: .seconds(100))
    checkUndisturbed(pair, since: frames)
    // The next one is answered rightly.
    pair.perform(.offerer, .restartFragment(pair.freshCredentials()))
    pair.exchangeFragment(from: .offerer)
    #expect(pair.offerer.failures.count == 2)
    checkUndisturbed(pair, since: frames)
  }

  @Test func `candidates of the session before a restart are refused, and so is a restart back to it`() throws {
    let pair = try Reach.connected()
    pair.perform(.answerer, .localFragment)
    let old = try #require(pair.answerer.fragments.last)
    pair.perform(.answerer, .restartFragment(pair.freshCredentials()))
    pair.exchangeFragment(from: .answerer)
    pair.perform(.offerer, .applyFragment(old, pair.freshCredentials()))
    #expect(pair.offerer.failures.map(\.kind) == [.wrongState])
    pair.perform(.offerer, .addRemoteCandidates(old))
    #expect(pair.offerer.failures.count == 2)
  }

  @Test(arguments: [
    "a=ice-ufrag:abcd\r\na=ice-pwd:äöü\r\n", "a=ice-ufrag:ab:d\r\na=ice-pwd:0123456789012345678901\r\n", "nonsense",
  ]) func `fragments that cannot be used change nothing`(_ text: String) throws {
    let pair = try Reach.connected()
    let frames = pair.receiver.frames.count
    pair.perform(.offerer, .applyFragment(text, pair.freshCredentials()))
    #expect(pair.offerer.failures.map(\.kind) == [.malformed])
    checkUndisturbed(pair, since: frames)
  }

  @Test func `before a session is agreed there is nothing to restart`() throws {
    let pair = try PeerPair()
    pair.perform(.offerer, .localFragment)
    pair.perform(.offerer, .restartFragment(pair.freshCredentials()))
    pair.perform(.offerer, .createOffer)
    pair.perform(.offerer, .restartFragment(pair.freshCredentials()))
    #expect(pair.offerer.failures.map(\.kind) == [.wrongState, .wrongState, .wrongState])
    pair.perform(.offerer, .localFragment)
    #expect(pair.offerer.fragments.count == 1)
    // The refused restarts have changed nothing.
    #expect(pair.connect() != nil)
  }

  @Test func `descriptions after a restart by fragment go on with its credentials`() throws {
    let pair = try Reach.connected()
    pair.perform(.offerer, .restartFragment(pair.freshCredentials()))
    pair.exchangeFragment(from: .offerer)
    pair.run(for: .seconds(1))
    let frames = pair.receiver.frames.count
    pair.exchangeDescriptions()
    #expect(pair.offerer.failures.isEmpty && pair.answerer.failures.isEmpty)
    for end in [pair.offerer, pair.answerer] {
      let transport = try SessionDescription(parsing: #require(end.localDescription)).media[0].transport
      let fragment = try TrickleFragment(parsing: #require(end.fragments.last))
      #expect(transport.credentials == fragment.credentials)
    }
    checkUndisturbed(pair, since: frames)
  }
}
