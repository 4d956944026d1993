/// The used and revoked links: the clients of links with a limited number of uses, and the revoked links. Other links
/// are not stored.
public struct LinkLedger: Sendable, Equatable {
  package struct Entry: Sendable, Equatable {
    /// The identifiers of clients that used the link; empty for a client without one.
    package var clients: [String] = []
    package var isRevoked = false
    /// The Unix time after which the entry can be removed; nil: never.
    package var expires: Int64?
  }

  package private(set) var entries: [String: Entry] = [:]

  /// Makes an empty ledger.
  public init() {}

  func isRevoked(_ id: String) -> Bool { entries[id]?.isRevoked == true }

  /// Whether one more may use the link, or this one again.
  func admits(_ link: SignedLink, client: String?) -> Bool {
    guard let uses = link.uses else { return true }
    let clients = entries[link.id]?.clients ?? []
    if let client, clients.contains(client) { return true }
    return clients.count < uses
  }

  /// Whether this client has used the link before.
  func isKnown(_ link: SignedLink, client: String?) -> Bool {
    client.map { entries[link.id]?.clients.contains($0) == true } ?? false
  }

  /// Counts one use; not again for a client that says who it is and has used it before.
  package mutating func use(_ link: SignedLink, client: String?) -> Bool {
    guard link.uses != nil else { return true }
    guard admits(link, client: client) else { return false }
    var entry = entries[link.id] ?? Entry(expires: link.expires)
    if let client, entry.clients.contains(client) { return true }
    entry.clients.append(client ?? "")
    entries[link.id] = entry
    return true
  }

  /// The use came to nothing.
  package mutating func giveBack(_ link: SignedLink, client: String?) {
    guard let index = entries[link.id]?.clients.firstIndex(of: client ?? "") else { return }
    entries[link.id]?.clients.remove(at: index)
  }

  package mutating func revoke(_ id: String, expires: Int64?) {
    var entry = entries[id] ?? Entry(expires: expires)
    entry.isRevoked = true
    entries[id] = entry
  }

  /// Removes the entries of expired links.
  mutating func prune(_ unixTime: Int64) {
    entries = entries.filter { $0.value.expires.map { $0 > unixTime } ?? true }
  }

  // MARK: - As a file

  /// One line for each link: identifier, expiry, `revoked` or `-`, and the clients that used it.
  public var text: String {
    entries.sorted { $0.key < $1.key }.map { id, entry in
      let clients = entry.clients.map { $0.isEmpty ? "?" : $0 }.joined(separator: ",")
      return "\(id) \(entry.expires.map { String($0) } ?? "-") \(entry.isRevoked ? "revoked" : "-") "
        + "\(clients.isEmpty ? "-" : clients)\n"
    }.joined()
  }

  /// Lines that cannot be read are left out.
  public init(parsing text: some StringProtocol) {
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 4 else { continue }
      let clients = words[3] == "-" ? [] : words[3].split(separator: ",").map { $0 == "?" ? "" : String($0) }
      entries[String(words[0])] = Entry(clients: clients, isRevoked: words[2] == "revoked", expires: Int64(words[1]))
    }
  }
}
