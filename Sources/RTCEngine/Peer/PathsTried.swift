/// The candidate pairs that were tried before a peer was given up as unreachable, by kind.
public struct PathsTried: Hashable, Sendable {
  /// Straight from host to host.
  public var host = 0
  /// Through a NAT on either side.
  public var reflexive = 0
  /// Through a TURN server on either side.
  public var relay = 0
  /// Over a TCP connection (RFC 6544).
  public var tcp = 0
  /// We had an address that the remote peer could be tried from.
  public var hasLocalCandidates = true
  /// The remote peer had named an address that may be tried.
  public var hasRemoteCandidates = true
  /// Whether there was a working path before.
  public var wasConnected = false

  /// Makes the counts of each kind.
  public init(
    host: Int = 0, reflexive: Int = 0, relay: Int = 0, tcp: Int = 0, hasLocalCandidates: Bool = true,
    hasRemoteCandidates: Bool = true, wasConnected: Bool = false
  ) {
    self.host = host
    self.reflexive = reflexive
    self.relay = relay
    self.tcp = tcp
    self.hasLocalCandidates = hasLocalCandidates
    self.hasRemoteCandidates = hasRemoteCandidates
    self.wasConnected = wasConnected
  }
}

extension PathsTried: CustomStringConvertible {
  /// Part of a sentence, such as `3 pairs failed: 2 host, 1 relay`; without a full stop.
  public var description: String {
    let sorts = [(host, "host"), (reflexive, "reflexive"), (relay, "relay"), (tcp, "TCP")].filter { $0.0 > 0 }
    let total = host + reflexive + relay + tcp
    var text: String
    if total > 0 {
      text =
        "\(total) \(total == 1 ? "pair" : "pairs") failed: "
        + sorts.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    } else if !hasLocalCandidates {
      text = "there was no address of ours to try from"
    } else if !hasRemoteCandidates {
      text = "the remote peer named no address to try"
    } else {
      text = "no address of ours fits one of the remote peer's"
    }
    if wasConnected { text = "the way in use fell silent, and no other was found; " + text }
    return text
  }
}
