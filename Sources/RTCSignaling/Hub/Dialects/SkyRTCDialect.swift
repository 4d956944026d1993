/// SkyRTC's rooms: `{"eventName":…,"data":{…}}`. The hub names its clients; a token, where one is needed, comes in the
/// address of the connection, `/skyrtc?token=…`.
enum SkyRTCDialect {
  /// The room of clients that name none.
  static let usualRoom = "__default"

  static func parse(_ bytes: [UInt8]) throws(HubFault) -> HubRequest {
    let message = try HubMessageReader(parsing: bytes)
    let event = try message.text("eventName")
    if event == "__leave", message.value("data") == nil { return .leave(room: nil) }
    let data = try message.object("data")
    switch event {
    case "__join": return .join(room: try room(data) ?? usualRoom)
    case "__leave": return .leave(room: try room(data))
    case "__offer", "__answer":
      return .relay(try relay(data, try description(data, kind: String(event.dropFirst(2)))))
    case "__ice_candidate": return .relay(try relay(data, try candidate(data)))
    default: throw .malformed("there is no event \"\(event.prefix(40))\"")
    }
  }

  /// Some clients write rooms as numbers.
  private static func room(_ data: HubMessageReader) throws(HubFault) -> String? {
    if case .number = data.value("room")?.value { return data.verbatim("room") }
    let room = try data.optionalText("room")
    return room?.isEmpty == true ? nil : room
  }

  private static func relay(_ data: HubMessageReader, _ body: HubRelay.Body) throws(HubFault) -> HubRelay {
    let members: [(String, JSONValue)] = data.members.compactMap { member in
      member.name == "socketId" ? nil : (member.name, .verbatim(data.verbatim(member.value)))
    }
    return HubRelay(to: try data.text("socketId"), call: nil, body: body, original: .skyRTC(members))
  }

  private static func description(_ data: HubMessageReader, kind: String) throws(HubFault) -> HubRelay.Body {
    if case .string(let sdp) = data.value("sdp")?.value {
      return .description(kind: kind, json: JSONValue.object([("type", .string(kind)), ("sdp", .string(sdp))]).text)
    }
    guard case .description(kind, let json) = try data.descriptionOrData("sdp") else {
      throw .malformed("\"sdp\" is not an \(kind)")
    }
    return .description(kind: kind, json: json)
  }

  private static func candidate(_ data: HubMessageReader) throws(HubFault) -> HubRelay.Body {
    let body = try data.candidate("candidate")
    guard case .candidate(var parts?, let json) = body else { return body }
    parts.sdpMid = try data.optionalText("id") ?? parts.sdpMid
    parts.sdpMLineIndex = try data.optionalNumber("label") ?? parts.sdpMLineIndex
    return .candidate(parts, json: json)
  }

  /// Nil if the protocol has no message for the notice.
  static func text(_ notice: HubNotice) -> String? {
    switch notice {
    case .peers(_, let peers, let you):
      event("_peers", [("connections", .array(peers.map { .string($0) })), ("you", .string(you))])
    case .joined(_, let peer): event("_new_peer", [("socketId", .string(peer))])
    case .left(_, let peer): event("_remove_peer", [("socketId", .string(peer))])
    case .relayed(let from, _, let relay): text(relay, from: from)
    case .fault(let fault, _):
      event("_error", [("code", .string(fault.code)), ("message", .string(fault.message))])
    case .registered, .iceServers, .present, .arrived, .gone, .pong: nil
    }
  }

  private static func text(_ relay: HubRelay, from: String) -> String? {
    let sender: [(String, JSONValue)] = [("socketId", .string(from))]
    switch relay.body {
    case .description(let kind, let json):
      guard kind == "offer" || kind == "answer" else { return nil }
      return event("_\(kind)", original(relay) ?? [("sdp", .verbatim(json))], sender)
    case .candidate(let candidate, _):
      guard let candidate else { return original(relay).map { event("_ice_candidate", $0, sender) } }
      let parts: [(String, JSONValue)] = [
        ("id", .optional(candidate.sdpMid)), ("label", candidate.sdpMLineIndex.map { .count($0) } ?? .null),
        ("candidate", .string(candidate.candidate)),
      ]
      return event("_ice_candidate", original(relay) ?? parts, sender)
    case .bye: return event("_remove_peer", sender)
    case .call, .data: return nil
    }
  }

  private static func original(_ relay: HubRelay) -> [(String, JSONValue)]? {
    if case .skyRTC(let members) = relay.original { members } else { nil }
  }

  private static func event(_ name: String, _ data: [(String, JSONValue)], _ more: [(String, JSONValue)] = []) -> String
  {
    JSONValue.object([("eventName", .string(name)), ("data", .object(data + more))]).text
  }
}
