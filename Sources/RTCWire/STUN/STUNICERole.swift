/// The role that a request's sender believes to have, with its tie-breaker (RFC 8445 §7.1.3).
public enum STUNICERole: Hashable, Sendable {
  case controlling(tieBreaker: UInt64)
  case controlled(tieBreaker: UInt64)
}
