public import RTCPrimitives

/// A message of a hub's client to another.
public enum HubMessage: Sendable, Hashable {
  /// Any JSON, such as `CallSignal.json`. Text that is not JSON makes the hub refuse the message.
  case signal(data: String)
  /// Nil after the last.
  case candidate(ICECandidateInit?, call: String? = nil)
  /// Ends one call, or all calls.
  case bye(reason: String? = nil, call: String? = nil)

  func text(to peer: String) -> String {
    var members: [(String, JSONValue)] = [("to", .string(peer))]
    switch self {
    case .signal(let data): members = [("type", "signal")] + members + [("data", .verbatim(data))]
    case .candidate(let candidate, let call):
      members = [("type", "candidate")] + members + [("candidate", candidate?.json ?? .null)]
      if let call { members.append(("call", .string(call))) }
    case .bye(let reason, let call):
      members = [("type", "bye")] + members
      if let reason { members.append(("reason", .string(reason))) }
      if let call { members.append(("call", .string(call))) }
    }
    return JSONValue.object(members).text
  }
}

extension ICECandidateInit {
  var json: JSONValue {
    var members: [(String, JSONValue)] = [
      ("candidate", .string(candidate)), ("sdpMid", .optional(sdpMid)),
      ("sdpMLineIndex", sdpMLineIndex.map { .count($0) } ?? .null),
    ]
    if let usernameFragment { members.append(("usernameFragment", .string(usernameFragment))) }
    return .object(members)
  }
}
