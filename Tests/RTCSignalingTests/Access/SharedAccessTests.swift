import RTCPrimitives
import RTCSignaling
import Synchronization
import Testing

/// The gate of a server that shares the uses of links with others.
@Suite struct SharedAccessTests {
  /// Others that answer as the test says, and note what they were told.
  private final class Others: SharedAccess {
    struct State {
      var answer = LinkUseAnswer.unavailable
      var uses: [String?] = []
      var givenBack: [LinkUse] = []
      var revoked: [String] = []
      var added: [String] = []
      var wrong: [String] = []
    }
    let state = Mutex(State())

    func use(_ link: SignedLink, client: String?) async -> LinkUseAnswer {
      state.withLock {
        $0.uses.append(client)
        return $0.answer
      }
    }
    func giveBack(_ use: LinkUse) { state.withLock { $0.givenBack.append(use) } }
    func revoke(_ id: String, expires: Int64?) { state.withLock { $0.revoked.append(id) } }
    func noteWrongTry(from address: String) { state.withLock { $0.wrong.append(address) } }
    func add(_ ledger: LinkLedger) { state.withLock { $0.added.append(ledger.text) } }
  }

  private final class Kept: Sendable {
    let text = Mutex("")
  }

  private let secret = AccessToken("sesame")!
  private let others = Others()
  private let kept = Kept()
  private let now = AccessTime(unix: 1_700_000_000, monotonic: .zero)
  private let link = SignedLink(.watch, issued: 1_700_000_000, uses: 1, id: "a-link-id")

  private func gate(_ ledger: String = "") -> AccessGate {
    let gate = AccessGate(
      secret: secret, ledger: LinkLedger(parsing: ledger),
      keep: { [kept] ledger in kept.text.withLock { $0 = ledger.text } })
    gate.share(by: others)
    return gate
  }

  private func answer(_ answer: LinkUseAnswer) { others.state.withLock { $0.answer = answer } }

  @Test(arguments: [
    (LinkUseAnswer.unavailable, AccessRefusal.uncounted), (.usedUp, .usedUp), (.revoked, .revoked),
  ]) func `the others' answer decides about a use`(said: LinkUseAnswer, refusal: AccessRefusal) async {
    let gate = gate()
    answer(said)
    await #expect(throws: refusal) { try await gate.count(.link(link), client: "ada", now: now) }
    #expect(kept.text.withLock { $0 }.isEmpty)
    #expect(AccessRefusal.uncounted.status == 503 && AccessRefusal.uncounted.code == "cluster-unavailable")
  }

  @Test func `a counted use is noted when it is kept, and can be given back`() async throws {
    let gate = gate()
    let use = LinkUse(link: link.id, user: "hash", number: "1")
    answer(.counted(use))
    let counted = try #require(try await gate.count(.link(link), client: "ada", now: now))
    #expect(kept.text.withLock { $0 }.isEmpty, "not yet")
    gate.giveBack(counted, now: now)
    #expect(others.state.withLock { $0.givenBack } == [use])
    gate.keep(counted, now: now)
    #expect(kept.text.withLock { $0 } == "a-link-id - - ada\n")
    // The others count, and not the list of this server.
    #expect(
      try gate.evaluate(link.signed(with: secret), for: .watch, client: "bob", isNew: true, from: "", now: now).link
        == link)
    #expect(try !gate.use(.link(link), client: "bob", now: now))
    #expect(kept.text.withLock { $0 } == "a-link-id - - ada\n")
    answer(.known)
    #expect(try await gate.count(.link(link), client: "ada", now: now) == nil)
    #expect(others.state.withLock { $0.uses } == ["ada", "ada"])
  }

  @Test func `a use without an identifier of the client is noted under its own name`() async throws {
    let gate = gate()
    answer(.counted(LinkUse(link: link.id, user: "?hub.1", number: "hub.1")))
    gate.keep(try #require(try await gate.count(.link(link), client: nil, now: now)), now: now)
    #expect(kept.text.withLock { $0 } == "a-link-id - - ?hub.1\n")
  }

  @Test func `links without a limit need no count`() async throws {
    var link = link
    link.uses = nil
    #expect(try await gate().count(.link(link), client: "ada", now: now) == nil)
    #expect(try await gate().count(.owner, client: nil, now: now) == nil)
    #expect(others.state.withLock { $0.uses }.isEmpty)
  }

  private func tryWrong(_ gate: AccessGate, from address: String = "192.0.2.1") -> AccessRefusal? {
    do throws(AccessRefusal) {
      _ = try gate.evaluate("wrong", for: .watch, from: address, now: now)
      return nil
    } catch { return error }
  }

  @Test func `wrong credentials at all servers count together`() {
    let gate = gate()
    for _ in 0..<4 { #expect(tryWrong(gate) == .wrong) }
    for _ in 0..<6 { gate.noteWrongTry(from: "192.0.2.1", now: now) }
    #expect(tryWrong(gate) == .slowed(seconds: 2))
    #expect(tryWrong(gate, from: "198.51.100.1") == .wrong, "another network")
    let told = ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.1", "198.51.100.1"]
    #expect(others.state.withLock { $0.wrong } == told, "those of a slowed client are not told")
  }

  @Test func `an owner who returns by another link keeps the credential that was counted`() {
    var bench = HubBench(gate: gate())
    let links = ["first-link", "other-link"].map { SignedLink(.call, issued: HubBench.start, uses: 1, id: $0) }
    for (index, link) in links.enumerated() {
      bench.open(index)
      bench.say(
        index,
        #"{"type":"register","id":"ada","secret":"secret-of-ada-16","token":"\#(link.signed(with: secret))"}"#)
    }
    #expect(bench.closings == [0: 4000], "the second connection has the name")
    bench.handle(.revoked("other-link"))
    #expect(bench.closings == [0: 4000])
    bench.handle(.revoked("first-link"))
    #expect(bench.closings == [0: 4000, 1: 1008])
  }

  @Test func `revocations are told, and those of the others are taken`() async throws {
    let gate = gate("old-link-id - revoked -\n")
    #expect(others.state.withLock { $0.added } == ["old-link-id - revoked -\n"])
    #expect(try gate.revoke(link.id, now: now) == link.id)
    #expect(others.state.withLock { $0.revoked } == [link.id])
    #expect(gate.noteRevoked("their-link", expires: nil, now: now))
    #expect(!gate.noteRevoked("their-link", expires: nil, now: now), "it is known")
    #expect(others.state.withLock { $0.revoked } == [link.id], "they know it")
    answer(.known)
    await #expect(throws: AccessRefusal.revoked) { try await gate.count(.link(link), client: "ada", now: now) }
    #expect(others.state.withLock { $0.uses }.isEmpty, "nobody is asked")
  }
}
