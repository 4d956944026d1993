import RTCPrimitives
import RTCSignaling
import Synchronization
import Testing

@Suite struct AccessGateTests {
  private let secret = AccessToken("sesame")!
  private static let unix: Int64 = 1_700_000_000

  private func time(_ seconds: Int64 = 0) -> AccessTime {
    AccessTime(unix: Self.unix + seconds, monotonic: .zero + .seconds(max(0, seconds)))
  }

  private func evaluate(
    _ gate: AccessGate, _ shown: String?, for right: AccessRight = .watch, peer: String? = nil, client: String? = nil,
    isNew: Bool = false, from address: String = "192.0.2.1", after seconds: Int64 = 0
  ) -> Result<AccessGrant, AccessRefusal> {
    Result { () throws(AccessRefusal) in
      try gate.evaluate(
        shown, for: right, peer: peer, client: client, isNew: isNew, from: address, now: time(seconds))
    }
  }

  private func link(
    _ right: AccessRight = .watch, issued: Int64 = 0, expires: Int64? = nil, uses: Int? = nil, name: String? = nil
  ) -> (link: SignedLink, text: String) {
    let link = SignedLink(
      right, issued: Self.unix + issued, expires: expires.map { Self.unix + $0 }, uses: uses, name: name)
    return (link, link.signed(with: secret))
  }

  @Test(arguments: AccessRight.allCases) func `the secret gives every right, a link the one it was signed for`(
    right: AccessRight
  ) {
    let gate = AccessGate(secret: secret)
    #expect(evaluate(gate, "sesame", for: right) == .success(.owner))
    #expect(evaluate(gate, nil, for: right) == .failure(.missing))
    #expect(evaluate(gate, "", for: right) == .failure(.missing))
    let (link, text) = link(right)
    for asked in AccessRight.allCases {
      #expect(
        evaluate(gate, text, for: asked) == (asked == right ? .success(.link(link)) : .failure(.otherRight(right))))
    }
    #expect(evaluate(.open(), nil, for: right) == .success(.everybody))
  }

  @Test func `a link ends at its second, and its signer's clock may be minutes ahead, not hours`() {
    let gate = AccessGate(secret: secret)
    let (link, text) = link(expires: 60)
    #expect(evaluate(gate, text, after: 59) == .success(.link(link)))
    #expect(evaluate(gate, text, after: 60) == .failure(.expired(seconds: 0)))
    #expect(evaluate(gate, text, after: 7_260) == .failure(.expired(seconds: 7_200)))
    let early = self.link(issued: 600)
    #expect(evaluate(gate, early.text) == .success(.link(early.link)))
    #expect(evaluate(gate, self.link(issued: 7_200).text) == .failure(.clock(seconds: 7_200)))
    #expect(AccessRefusal.clock(seconds: 7_200).sentence.contains("2 hours from now"))
    #expect(AccessRefusal.expired(seconds: 300).sentence.contains("5 minutes ago"))
  }

  @Test func `so many may use a link, and who comes back is not one more`() throws {
    let gate = AccessGate(secret: secret)
    let (link, text) = link(uses: 2)
    let grant = AccessGrant.link(link)
    try gate.use(grant, client: "first-0123456789", now: time())
    try gate.use(grant, client: "first-0123456789", now: time())
    #expect(evaluate(gate, text, isNew: true) == .success(grant))
    try gate.use(grant, client: nil, now: time())
    #expect(throws: AccessRefusal.usedUp) { try gate.use(grant, client: nil, now: time()) }
    #expect(evaluate(gate, text, client: "other-0123456789", isNew: true) == .failure(.usedUp))
    #expect(evaluate(gate, text, client: "first-0123456789", isNew: true) == .success(grant))
    #expect(evaluate(gate, text) == .success(grant), "what was opened goes on")
    gate.giveBack(grant, client: nil, now: time())
    try gate.use(grant, client: "other-0123456789", now: time())
  }

  @Test func `a revoked link is over, by whatever it is named`() throws {
    for form in 0..<3 {
      let gate = AccessGate(secret: secret)
      let (link, text) = link()
      let named = [text, "https://h:1/watch#token=" + text, link.id][form]
      #expect(try gate.revoke(named, now: time()) == link.id)
      #expect(evaluate(gate, text) == .failure(.revoked))
    }
    let gate = AccessGate(secret: secret)
    #expect(throws: RevocationError.ownSecret) { try gate.revoke("http://h/#token=sesame", now: time()) }
    #expect(throws: RevocationError.noLink) { try gate.revoke("what?", now: time()) }
    let foreign = SignedLink(.watch, issued: 0).signed(with: AccessToken("another")!)
    #expect(throws: RevocationError.otherSecret) { try gate.revoke(foreign, now: time()) }
  }

  @Test func `what was used up and revoked is kept, and forgotten when the link has ended`() throws {
    let kept = Mutex(LinkLedger())
    let gate = AccessGate(secret: secret, keep: { ledger in kept.withLock { $0 = ledger } })
    let (once, gone) = (link(expires: 100, uses: 1), link())
    try gate.use(.link(once.link), client: "first-0123456789", now: time())
    _ = try gate.revoke(gone.text, now: time())
    let text = kept.withLock { $0.text }
    #expect(text.split(separator: "\n").count == 2 && !text.contains("sesame"))
    let again = AccessGate(secret: secret, ledger: LinkLedger(parsing: text))
    #expect(evaluate(again, once.text, isNew: true) == .failure(.usedUp))
    #expect(evaluate(again, once.text, client: "first-0123456789", isNew: true) == .success(.link(once.link)))
    #expect(evaluate(again, gone.text) == .failure(.revoked))
    // A link with its end in the past lets nobody in whatever else is known of it.
    _ = try gate.revoke(link().text, now: time(101))
    #expect(kept.withLock { !$0.text.contains(once.link.id) })
    #expect(LinkLedger(parsing: "rubbish\na b\n\n - - -\n").text.isEmpty)
  }

  @Test func `wrong tries are slowed for their address and for no other`() {
    let gate = AccessGate(secret: secret)
    for number in 0..<10 { #expect(evaluate(gate, "guess\(number)") == .failure(.wrong)) }
    #expect(evaluate(gate, "guess") == .failure(.slowed(seconds: 2)))
    #expect(evaluate(gate, "guess", from: "192.0.2.2") == .failure(.wrong))
    #expect(evaluate(gate, "guess", after: 2) == .failure(.wrong))
    #expect(evaluate(gate, "guess", after: 2) == .failure(.slowed(seconds: 2)))
    #expect(evaluate(gate, nil, after: 3) == .failure(.missing), "who shows nothing has not tried")
  }

  @Test func `what is right is admitted while others at its address are slowed`() {
    let long = AccessToken("open-sesame-open-sesame")!
    let gate = AccessGate(secret: long)
    let link = SignedLink(.watch, issued: Self.unix)
    for number in 0..<1_000 {
      _ = evaluate(gate, "guess\(number)")
      #expect(evaluate(gate, long.text) == .success(.owner))
      #expect(evaluate(gate, link.signed(with: long)) == .success(.link(link)))
    }
    #expect(evaluate(gate, "guess") == .failure(.slowed(seconds: 2)))
    #expect(evaluate(gate, link.signed(with: secret)) == .failure(.slowed(seconds: 2)), "signed with another secret")
  }

  @Test func `a short secret is admitted beside some wrong tries a second, and cannot be guessed by many`() {
    let gate = AccessGate(secret: secret)
    for _ in 0..<10 { _ = evaluate(gate, "guess") }
    for second in Int64(0)..<60 {
      for _ in 0..<3 { _ = evaluate(gate, "guess", after: second) }
      #expect(evaluate(gate, "sesame", after: second) == .success(.owner))
    }
    // Of a thousand tries at once few are looked at.
    for _ in 0..<3 { _ = evaluate(gate, "guess", after: 60) }
    let looked = (0..<1_000).count { _ in evaluate(gate, "sesame", after: 60) == .success(.owner) }
    #expect((1...10).contains(looked), "\(looked)")
    #expect(evaluate(gate, link().text, after: 60) != .failure(.slowed(seconds: 2)), "a link is no guess")
    #expect(evaluate(gate, "sesame", from: "192.0.2.2", after: 60) == .success(.owner))
  }

  @Test func `one IPv6 network is one address`() {
    let gate = AccessGate(secret: secret)
    for number in 0..<10 { _ = evaluate(gate, "guess", from: "2001:db8::\(number)") }
    #expect(evaluate(gate, "guess", from: "2001:db8::ffff") == .failure(.slowed(seconds: 2)))
    #expect(evaluate(gate, "guess", from: "2001:db8:1::1") == .failure(.wrong))
  }

  @Test func `links that are no more are no wrong tries`() {
    let gate = AccessGate(secret: secret)
    let ended = link(expires: -1).text
    for _ in 0..<30 { #expect(evaluate(gate, ended) == .failure(.expired(seconds: 1))) }
  }

  @Test func `very many addresses are not remembered for ever`() {
    let gate = AccessGate(secret: secret)
    for number in 0..<10_000 {
      for _ in 0..<10 { _ = evaluate(gate, "guess", from: "10.0.\(number / 256).\(number % 256)") }
    }
    #expect(evaluate(gate, "guess", from: "10.0.0.0") == .failure(.wrong))
    #expect(evaluate(gate, "guess", from: "10.0.39.15") == .failure(.slowed(seconds: 2)))
  }

  @Test func `a name with a token of its own is taken with it, or with a link for the name`() {
    let gate = AccessGate(secret: secret, perPeer: ["alice": AccessToken("hers")!])
    #expect(evaluate(gate, "hers", for: .call, peer: "alice") == .success(.peer("alice")))
    #expect(evaluate(gate, "sesame", for: .call, peer: "alice") == .failure(.wrong))
    #expect(evaluate(gate, "hers", for: .call, peer: "bob") == .failure(.wrong))
    #expect(evaluate(gate, "hers", for: .watch) == .failure(.wrong), "finding A1: it gives nothing else")
    #expect(evaluate(gate, link(.call).text, for: .call, peer: "alice") == .failure(.wrong))
    let (named, text) = link(.call, name: "alice")
    #expect(evaluate(gate, text, for: .call, peer: "alice") == .success(.link(named)))
    #expect(evaluate(gate, text, for: .call, peer: "bob") == .failure(.otherName("alice")))
    let namesAlone = AccessGate(secret: nil, perPeer: ["alice": AccessToken("hers")!])
    for right in AccessRight.allCases { #expect(evaluate(namesAlone, "hers", for: right) == .failure(.wrong)) }
  }

  @Test func `B4: a link that is over by the time of its use gives nothing`() throws {
    let gate = AccessGate(secret: secret)
    let (ending, _) = link(expires: 60)
    try gate.use(.link(ending), client: nil, now: time(59))
    try gate.recheck(.link(ending), now: time(59))
    #expect(throws: AccessRefusal.expired(seconds: 0)) { try gate.use(.link(ending), client: nil, now: time(60)) }
    #expect(throws: AccessRefusal.expired(seconds: 1)) { try gate.recheck(.link(ending), now: time(61)) }
    for uses in [nil, 3] {
      let (revoked, _) = link(uses: uses)
      try gate.use(.link(revoked), client: "first-0123456789", now: time())
      _ = try gate.revoke(revoked.id, now: time())
      #expect(throws: AccessRefusal.revoked) {
        try gate.use(.link(revoked), client: "first-0123456789", now: time())
      }
      #expect(throws: AccessRefusal.revoked) { try gate.recheck(.link(revoked), now: time()) }
    }
    for grant in [AccessGrant.owner, .everybody, .peer("alice")] {
      #expect(try !gate.use(grant, client: nil, now: time()))
      try gate.recheck(grant, now: time())
    }
  }

  @Test func `B5: a client that comes back in vain gives back nothing`() throws {
    let gate = AccessGate(secret: secret)
    let (link, text) = link(uses: 1)
    #expect(try gate.use(.link(link), client: "first-0123456789", now: time()))
    #expect(try !gate.use(.link(link), client: "first-0123456789", now: time()), "nothing was counted")
    #expect(evaluate(gate, text, client: "other-0123456789", isNew: true) == .failure(.usedUp))
  }

  @Test func `another gate's secret takes the place of the own one, and its links end with it`() throws {
    let kept = Mutex<[LinkLedger]>([])
    let gate = AccessGate(secret: secret, perPeer: ["alice": AccessToken("hers")!])
    let text = link().text
    gate.adopt(
      AccessGate(
        secret: AccessToken("other"), perPeer: ["bob": AccessToken("his")!],
        keep: { ledger in kept.withLock { $0.append(ledger) } }))
    #expect(evaluate(gate, "other") == .success(.owner))
    #expect(evaluate(gate, "sesame") == .failure(.wrong))
    #expect(evaluate(gate, text) == .failure(.wrong))
    #expect(evaluate(gate, "hers", for: .call, peer: "alice") == .failure(.wrong))
    #expect(evaluate(gate, "his", for: .call, peer: "bob") == .success(.peer("bob")))
    _ = try gate.revoke("q9ZcT2ePk1o", now: time())
    #expect(kept.withLock { $0.count } == 1)
  }

  @Test func `with the same secret, what was revoked stays so, and other names' tokens count`() throws {
    let gate = AccessGate(secret: secret)
    let (_, text) = link()
    _ = try gate.revoke(text, now: time())
    gate.adopt(AccessGate(secret: secret, perPeer: ["bob": AccessToken("his")!]))
    #expect(evaluate(gate, text) == .failure(.revoked))
    #expect(evaluate(gate, "his", for: .call, peer: "bob") == .success(.peer("bob")))
  }
}
