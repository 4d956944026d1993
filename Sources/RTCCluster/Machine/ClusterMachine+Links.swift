import RTCPrimitives
import RTCSignaling

/// Used and revoked links, and wrong credentials.
extension ClusterMachine {
  /// The links that this hub knows as used or revoked.
  struct Links {
    struct Used {
      /// The Unix time of the link's end; nil: none.
      var expires: Int64?
      /// The users, and the number of the use that counted if it may be given back.
      var users: [String: String?] = [:]
    }

    /// The Unix time of the end of each revoked link; `.max`: none.
    var revoked: [String: Int64] = [:]
    /// The links that clients of this hub have used. Redis learns them again if it loses its data.
    var used: [String: Used] = [:]
    /// Uses to be given back when Redis can be reached.
    var owed: [LinkUse] = []
    /// Uses that wait because Redis has lost its data not long ago.
    var waiting: [(use: PendingUse, until: Timestamp)] = []
    /// Makes the uses of this hub distinct.
    var count: UInt64 = 0
  }

  /// A use whose script runs.
  struct PendingUse {
    /// The number of the question.
    var question: UInt64
    var link: SignedLink
    var use: LinkUse
  }

  // MARK: - Uses

  /// The users of a link are the clients, by the hashes of their identifiers. Each use without a client is a user of its own.
  mutating func newUse(of link: SignedLink, by client: String?) -> LinkUse {
    links.count += 1
    let number = "\(hub).\(links.count)"
    return LinkUse(link: link.id, user: client.map(Self.hash) ?? "?\(number)", number: number)
  }

  mutating func use(_ link: SignedLink, _ client: String?, _ question: UInt64, _ now: Timestamp) {
    guard canAsk else { return actions.append(.used(question, .unavailable)) }
    run(PendingUse(question: question, link: link, use: newUse(of: link, by: client)), now)
  }

  private mutating func run(_ pending: PendingUse, _ now: Timestamp) {
    run(.use, pending.use.arguments(pending.link), .use(pending), now)
  }

  mutating func takeUse(_ value: RESPValue, _ pending: PendingUse, _ now: Timestamp) {
    let parts = value.elements ?? []
    switch parts.first?.string {
    case "counted":
      noteUse(pending.use, of: pending.link, isCounted: true)
      actions.append(.used(pending.question, .counted(pending.use)))
    case "known":
      noteUse(pending.use, of: pending.link, isCounted: false)
      actions.append(.used(pending.question, .known))
    case "used-up": actions.append(.used(pending.question, .usedUp))
    case "revoked": actions.append(.used(pending.question, .revoked))
    case "wait" where parts.count >= 2:
      let until = now + .milliseconds(min(max(parts[1].integer ?? 1, 1), Int64(ClusterScript.grace)))
      links.waiting.append((pending, until))
    default:
      actions.append(.used(pending.question, .unavailable))
      drop(.unreadable, now)
    }
  }

  /// Runs the scripts of uses that have waited long enough.
  mutating func useAgain(_ now: Timestamp) {
    let due = links.waiting.filter { $0.until <= now }
    links.waiting.removeAll { $0.until <= now }
    for (pending, _) in due { run(pending, now) }
  }

  mutating func noteUse(_ use: LinkUse, of link: SignedLink, isCounted: Bool) {
    links.used[link.id, default: Links.Used(expires: link.expires)].users[use.user] =
      .some(isCounted ? use.number : nil)
  }

  mutating func giveBack(_ use: LinkUse, _ now: Timestamp) {
    if links.used[use.link]?.users[use.user] == .some(use.number) {
      links.used[use.link]?.users.removeValue(forKey: use.user)
    }
    guard canAsk else { return links.owed.append(use) }
    run(.giveBack, [use.link, use.user, use.number], .giveBack(use), now)
  }

  /// The connection is lost. Redis may have counted the use.
  mutating func abandon(_ pending: PendingUse) {
    links.owed.append(pending.use)
    actions.append(.used(pending.question, .unavailable))
  }

  mutating func abandonWaitingUses() {
    for (pending, _) in links.waiting { actions.append(.used(pending.question, .unavailable)) }
    links.waiting = []
  }

  mutating func giveBackOwed(_ now: Timestamp) {
    let owed = links.owed
    links.owed = []
    for use in owed { giveBack(use, now) }
  }

  // MARK: - Revocations

  mutating func revoke(_ link: String, expires: Int64?, _ now: Timestamp) {
    guard links.revoked.updateValue(expires ?? .max, forKey: link) == nil, canAsk else { return }
    stateLinks(now)
  }

  /// Another hub has revoked a link.
  mutating func learnRevoked(_ link: String, expires: Int64?) {
    guard links.revoked.updateValue(expires ?? .max, forKey: link) == nil else { return }
    actions.append(.report(.revoked(link, expires: expires)))
  }

  mutating func add(_ ledger: LinkLedger, _ now: Timestamp) {
    for (link, entry) in ledger.entries {
      if entry.isRevoked { links.revoked[link] = entry.expires ?? .max }
      for (number, client) in entry.clients.enumerated() {
        // A client without an identifier has the same number at each start of the hub, so that it counts once.
        let user = client.isEmpty ? "?\(number)" : client.hasPrefix("?") ? client : Self.hash(client)
        links.used[link, default: Links.Used(expires: entry.expires)].users[user] = .some(nil)
      }
    }
    if canAsk { stateLinks(now) }
  }

  // MARK: - Wrong credentials

  mutating func tellWrongTry(_ address: String, _ now: Timestamp) {
    guard canAsk else { return }
    let text = JSONValue.object([("h", .string(hub)), ("a", .string(address))]).text
    actions.append(.publish(note(.other, now), channel: wrongTriesChannel, text: text))
  }

  mutating func takeWrongTry(_ text: [UInt8]) {
    guard let fields = JSONFields(text), fields.text("h") != hub, let address = fields.text("a") else { return }
    actions.append(.report(.wrongTry(address)))
  }

  // MARK: - Stating

  /// States the used and revoked links, and reads the revoked ones.
  mutating func stateLinks(_ now: Timestamp) {
    func end(_ expires: Int64?) -> JSONValue { .string(expires.flatMap { $0 == .max ? nil : "\($0)" } ?? "") }
    let revoked = links.revoked.sorted { $0.key < $1.key }.map { JSONValue.array([.string($0.key), end($0.value)]) }
    let used = links.used.sorted { $0.key < $1.key }.map { link, used in
      JSONValue.array([.string(link), end(used.expires)] + used.users.keys.sorted().map { .string($0) })
    }
    run(.links, [JSONValue.object([("r", .array(revoked)), ("u", .array(used))]).text], .links, now)
  }

  mutating func takeLinks(_ value: RESPValue, _ now: Timestamp) {
    guard let parts = value.elements, parts.count % 2 == 1, let oldest = parts[0].integer else {
      return drop(.unreadable, now)
    }
    links.used = links.used.filter { $0.value.expires ?? .max > oldest && !$0.value.users.isEmpty }
    links.revoked = links.revoked.filter { $0.value > oldest }
    for index in stride(from: 1, to: parts.count, by: 2) {
      guard let link = parts[index].string else { continue }
      learnRevoked(link, expires: parts[index + 1].string.flatMap(Double.init).flatMap { Int64(exactly: $0) })
    }
  }
}

extension LinkUse {
  /// The arguments of the script that counts the use.
  func arguments(_ link: SignedLink) -> [String] {
    [self.link, "\(link.uses ?? 0)", link.expires.map { "\($0)" } ?? "", user, number]
  }
}
