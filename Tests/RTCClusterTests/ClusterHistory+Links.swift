import RTCCluster
import RTCPrimitives
import RTCSignaling

/// The links of a history, and what their users and owner did.
struct HistoryLinks {
  /// A use, by a client or by somebody without an identifier.
  struct Use: Hashable {
    var link: SignedLink
    var client: String?
  }

  /// A use that a hub has admitted, and that was not given back.
  struct Admission {
    var use: Use
    /// The use that was counted for it; nil: the client was known.
    var number: String?
  }

  /// The first has one use, the second two, and so on.
  let all = (1...3).map { (uses: Int) in SignedLink(.watch, issued: 1_000_000_000, uses: uses, id: "link-\(uses)-abcd")
  }
  var admissions: [Admission] = []
  var revoked: Set<String> = []

  func random(_ generator: inout SeededGenerator) -> SignedLink? { all.randomElement(using: &generator) }

  /// The number of users of a link: its clients, and each use without one.
  func users(of link: SignedLink) -> Int {
    let own = admissions.filter { $0.use.link == link }
    return Set(own.compactMap(\.use.client)).count + own.count { $0.use.client == nil }
  }
}

extension ClusterHistory {
  private static let clients: [String?] = [nil, "client-1", "client-2", "client-3", "client-4"]

  func stepLinks(_ event: Int, _ index: Int) throws {
    let hub = hubs[index]
    guard let link = links.random(&random) else { return }
    switch event {
    case 100..<117:
      let use = HistoryLinks.Use(link: link, client: Self.clients.randomElement(using: &random) ?? nil)
      hub.questionCount += 1
      hub.questions[hub.questionCount] = use
      try input(.use(hub.questionCount, link, client: use.client), index)
    case 117..<122:
      guard let place = hub.counted.indices.randomElement(using: &random) else { return }
      let (use, by) = hub.counted.remove(at: place)
      guard Bool.random(using: &random) else {
        _ = hub.ledger.use(by.link, client: by.client ?? use.user)
        return
      }
      links.admissions.removeAll { $0.number == use.number }
      try input(.giveBack(use), index)
    case 122:
      // Seldom, or no uses are left to look at.
      guard Int.random(in: 0..<4, using: &random) == 0 else { return }
      links.revoked.insert(link.id)
      hub.ledger.revoke(link.id, expires: nil)
      try input(.revoke(link.id, expires: nil), index)
    default: try execute(index)
    }
  }

  func note(_ answer: LinkUseAnswer, to question: UInt64, _ hub: SimulatedHub) {
    guard let use = hub.questions.removeValue(forKey: question) else { return expect(false, "answered twice") }
    switch answer {
    case .counted(let counted):
      expect(use.client.map { !counted.user.contains($0) } ?? true, "Redis learns the client's identifier")
      hub.counted.append((counted, use))
      links.admissions.append(HistoryLinks.Admission(use: use, number: counted.number))
    case .known: admit(use.link, use, hub)
    case .revoked: expect(links.revoked.contains(use.link.id), "\(use.link.id) is said to be revoked")
    case .usedUp, .unavailable: break
    }
  }

  /// A use that cannot be given back.
  func admit(_ link: SignedLink, _ use: HistoryLinks.Use, _ hub: SimulatedHub) {
    _ = hub.ledger.use(link, client: use.client)
    links.admissions.append(HistoryLinks.Admission(use: use))
  }

  /// A hub has failed before it has decided whether these uses are kept: nobody has got anything by them.
  func forgetUndecidedUses(of hub: SimulatedHub) {
    let numbers = Set(hub.counted.map(\.use.number))
    links.admissions.removeAll { $0.number.map(numbers.contains) ?? false }
  }

  /// No link has more users than uses.
  func checkLinks() {
    for link in links.all where links.users(of: link) > link.uses ?? 0 {
      let users = links.admissions.filter { $0.use.link == link }.map { "\($0.use.client ?? "?") \($0.number ?? "")" }
      breach = "\(link.id) has the users \(users)\n\((try? dump()) ?? "")"
    }
  }

  /// After everything has healed: all hubs know what is revoked, and known clients may come again.
  func endLinks() throws {
    for (index, hub) in hubs.enumerated() {
      expect(hub.questions.isEmpty, "h\(index) owes an answer about a link")
      for link in links.all where links.revoked.contains(link.id) {
        expect(hub.ledger.text.contains("\(link.id) - revoked"), "h\(index) does not know that \(link.id) is revoked")
      }
      for use in Set(links.admissions.map(\.use)) where use.client != nil && breach == nil {
        hub.questionCount += 1
        hub.questions[hub.questionCount] = use
        let before = links.admissions.count
        try input(.use(hub.questionCount, use.link, client: use.client), index)
        try flush()
        let isRevoked = links.revoked.contains(use.link.id)
        expect((links.admissions.count == before) == isRevoked, "a known client of \(use.link.id) was not judged right")
      }
    }
  }
}
