import RTCPrimitives
import RTCSignaling

/// Links that are signed, shown, used, given back and revoked while time passes and the server is restarted: one byte
/// for the action and one for its value. The gate decides exactly as a model of one page, and admits no link with a
/// changed byte.
public func fuzzAccess(_ bytes: Span<UInt8>) {
  var reader = ByteReader(bytes)
  var model = AccessModel()
  while let deed = reader.readUInt8(), let how = reader.readUInt8() {
    switch deed & 7 {
    case 0: model.sign(deed, how, &reader)
    case 1: model.show(deed, how)
    case 2: model.use(deed, how)
    case 3: model.giveBack(deed, how)
    case 4: model.revoke(deed, how)
    case 5: model.now += Int64(how) * Int64(how)
    case 6: model.alter(deed, how, reader.readUInt8() ?? 0)
    default:
      model.restart()
      model.read(reader.takeText())
    }
  }
}

private struct AccessModel {
  private struct Link {
    var link: SignedLink
    var text: String
    var clients: [String] = []
    var isRevoked = false
  }

  private static let secret = AccessToken(fuzzSecret)!
  private static let clients: [String?] = [nil, "client-one-123456", "client-two-123456", "client-six-123456"]
  private static let mostLinks = 16
  private var gate: AccessGate
  private let kept: KeptLedger
  private var links: [Link] = []
  var now: Int64 = 1_700_000_000

  init() {
    kept = KeptLedger()
    gate = AccessGate(secret: Self.secret, keep: { [kept] in kept.text = $0.text })
  }

  private var time: AccessTime { AccessTime(unix: now, monotonic: .zero + .seconds(now)) }
  private func client(_ deed: UInt8) -> String? { Self.clients[Int(deed >> 3 & 3)] }
  private func right(_ deed: UInt8) -> AccessRight { AccessRight.allCases[Int(deed >> 5 & 3)] }
  private func index(_ how: UInt8) -> Int? { links.isEmpty ? nil : Int(how) % links.count }

  mutating func sign(_ deed: UInt8, _ how: UInt8, _ reader: inout ByteReader) {
    guard links.count < Self.mostLinks else { return }
    // Twenty characters, so that no text is longer than the 1,024 bytes that a link may have.
    let name = how & 0x40 == 0 ? nil : String(String.UnicodeScalarView(reader.takeText().unicodeScalars.prefix(20)))
    let link = SignedLink(
      right(deed), issued: now + (how & 0x80 == 0 ? 0 : 1_000), expires: how & 3 == 0 ? nil : now + Int64(how) * 40,
      uses: how & 0x0C == 0 ? nil : Int(how >> 2 & 3), id: "identifier-\(links.count)", name: name)
    links.append(Link(link: link, text: link.signed(with: Self.secret)))
  }

  /// The expected decision of the gate.
  private func expected(_ entry: Link, for right: AccessRight, client: String?) -> AccessRefusal? {
    if entry.link.issued > now + AccessGate.clockLeeway { return .clock(seconds: entry.link.issued - now) }
    if let expires = entry.link.expires, expires <= now { return .expired(seconds: now - expires) }
    if entry.link.right != right { return .otherRight(entry.link.right) }
    if entry.isRevoked { return .revoked }
    return isAdmitted(entry, client) ? nil : .usedUp
  }

  private func isAdmitted(_ entry: Link, _ client: String?) -> Bool {
    guard let uses = entry.link.uses else { return true }
    if let client, entry.clients.contains(client) { return true }
    return entry.clients.count < uses
  }

  private func evaluate(_ text: String, _ right: AccessRight, client: String?, from address: String) -> AccessRefusal? {
    do throws(AccessRefusal) {
      let grant = try gate.evaluate(text, for: right, client: client, isNew: true, from: address, now: time)
      precondition(grant.link != nil)
      return nil
    } catch { return error }
  }

  func show(_ deed: UInt8, _ how: UInt8) {
    guard let index = index(how) else { return }
    let wanted = expected(links[index], for: right(deed), client: client(deed))
    precondition(evaluate(links[index].text, right(deed), client: client(deed), from: "192.0.2.1") == wanted)
  }

  mutating func use(_ deed: UInt8, _ how: UInt8) {
    guard let index = index(how), expected(links[index], for: links[index].link.right, client: client(deed)) == nil
    else {
      return
    }
    let isUsed = (try? gate.use(.link(links[index].link), client: client(deed), now: time)) != nil
    precondition(isUsed, "a use that is left was refused")
    guard links[index].link.uses != nil else { return }
    if let client = client(deed), links[index].clients.contains(client) { return }
    links[index].clients.append(client(deed) ?? "")
  }

  mutating func giveBack(_ deed: UInt8, _ how: UInt8) {
    guard let index = index(how), links[index].link.uses != nil else { return }
    // Expired links are forgotten.
    if let expires = links[index].link.expires, expires <= now { return }
    gate.giveBack(.link(links[index].link), client: client(deed), now: time)
    guard let use = links[index].clients.firstIndex(of: client(deed) ?? "") else { return }
    links[index].clients.remove(at: use)
  }

  mutating func revoke(_ deed: UInt8, _ how: UInt8) {
    guard let index = index(how) else { return }
    let written = [
      links[index].text, links[index].link.id, "https://host.example/watch#token=\(links[index].text)",
    ][Int(deed >> 3) % 3]
    precondition((try? gate.revoke(written, now: time)) == links[index].link.id)
    links[index].isRevoked = true
  }

  /// A changed link admits nobody.
  func alter(_ deed: UInt8, _ how: UInt8, _ change: UInt8) {
    guard let index = index(how) else { return }
    var text = Array(links[index].text.utf8)
    let place = (Int(change) * 7 + Int(deed)) % text.count
    text[place] ^= max(1, deed >> 3)
    let altered = String(decoding: text, as: UTF8.self)
    guard altered != links[index].text else { return }
    let refusal = evaluate(altered, links[index].link.right, client: nil, from: "198.51.100.7")
    switch refusal {
    case .wrong, .slowed: break
    default: preconditionFailure("\(altered) was taken for a link: \(String(describing: refusal))")
    }
  }

  /// The ledger is a file while no server runs.
  mutating func restart() {
    gate = AccessGate(
      secret: Self.secret, ledger: LinkLedger(parsing: kept.text), keep: { [kept] in kept.text = $0.text })
  }

  /// Reads any text as a link.
  func read(_ text: String) {
    let ledger = LinkLedger(parsing: text)
    precondition(LinkLedger(parsing: ledger.text) == ledger, "a ledger is read differently once more")
    _ = SignedLink.id(of: text)
    if let token = AccessToken(text) { precondition(token.admits(authorization: token.authorization)) }
  }
}

/// The file of a ledger. One thread.
private final class KeptLedger: @unchecked Sendable {
  var text = ""
}
