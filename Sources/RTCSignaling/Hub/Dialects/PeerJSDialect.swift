/// The language of PeerJS servers: objects with `type`, `src`, `dst` and `payload`. Names, tokens and keys come in the
/// address of the connection, `/peerjs?key=…&id=…&token=…`. The `key` is this hub's access token where it has one, else
/// anything.
enum PeerJSDialect {
  static func registration(_ query: [String: String]) throws(HubFault) -> HubRequest {
    guard let name = query["id"], !name.isEmpty, let token = query["token"], !token.isEmpty, let key = query["key"]
    else {
      throw .malformed("the address must carry id, token and key")
    }
    guard name.utf8.count <= HubMessageReader.longestWord, token.utf8.count <= HubMessageReader.longestWord else {
      throw .malformed("the address carries an id or token that is too long")
    }
    return .register(name: name, token: key, secret: token, isListed: true, isReturning: false)
  }

  static func parse(_ bytes: [UInt8]) throws(HubFault) -> HubRequest {
    let message = try HubMessageReader(parsing: bytes)
    // The protocol's own server ignores unknown messages, such as `{"ping":"once"}`, with which older clients begin.
    // They treat `ERROR` as the end.
    guard case .string(let type) = message.value("type")?.value else { return .heartbeat }
    switch type {
    case "HEARTBEAT": return .heartbeat
    case "LEAVE" where message.value("dst") == nil: return .quit
    case "OFFER", "ANSWER", "CANDIDATE", "LEAVE", "EXPIRE":
      let payload = try? message.object("payload")
      return .relay(
        HubRelay(
          to: try message.text("dst"), call: (try? payload?.optionalText("connectionId")) ?? nil,
          body: try body(type, message, payload),
          original: .peerJS(type: type, payload: message.verbatim("payload"))))
    default: return .heartbeat
    }
  }

  private static func body(
    _ type: String, _ message: HubMessageReader, _ payload: HubMessageReader?
  ) throws(HubFault) -> HubRelay.Body {
    let whole = HubRelay.Body.data(json: message.verbatim("payload") ?? "null")
    switch type {
    case "LEAVE": return .bye(reason: nil)
    case "EXPIRE": return .bye(reason: "expired")
    case "CANDIDATE": return (try? payload?.candidate("candidate")) ?? whole
    default: return (try? payload?.descriptionOrData("sdp")) ?? whole
    }
  }

  /// Nil if the protocol has no message for the notice.
  static func text(_ notice: HubNotice) -> String? {
    switch notice {
    case .registered: object("OPEN", [])
    case .relayed(let from, let to, let relay): text(relay, from: from, to: to)
    case .fault(.takenName, _): object("ID-TAKEN", [("payload", .object([("msg", "ID is taken")]))])
    case .fault(let fault, let name):
      // Clients give up at ERROR, so what concerns one message alone must not be said by it.
      if let peer = fault.peer, let name {
        object("EXPIRE", [("src", .string(peer)), ("dst", .string(name))])
      } else {
        object("ERROR", [("payload", .object([("msg", .string(fault.message))]))])
      }
    case .iceServers, .peers, .joined, .left, .present, .arrived, .gone, .pong: nil
    }
  }

  private static func text(_ relay: HubRelay, from: String, to: String) -> String? {
    let type: String
    var payload: JSONValue?
    if case .peerJS(let original, let json) = relay.original {
      type = original
      payload = json.map { .verbatim($0) }
    } else {
      // Clients distinguish the kinds of connection by the prefix of the identifier. Connections offered to them are
      // calls.
      let call = relay.call ?? "mc_\(from)_\(to)"
      let isData = if case .description("offer", _) = relay.body { false } else { call.hasPrefix("dc_") }
      let tail: [(String, JSONValue)] = [("type", isData ? "data" : "media"), ("connectionId", .string(call))]
      switch relay.body {
      case .description("offer", let json):
        type = "OFFER"
        payload = .object([("sdp", .verbatim(json))] + tail)
      case .description("answer", let json), .description("pranswer", let json):
        type = "ANSWER"
        payload = .object([("sdp", .verbatim(json))] + tail)
      case .candidate(let candidate?, _):
        type = "CANDIDATE"
        payload = .object([("candidate", candidate.json)] + tail)
      case .bye: type = "LEAVE"
      case .description, .call, .data, .candidate(nil, _): return nil
      }
    }
    return object(
      type, [("src", .string(from)), ("dst", .string(to))] + (payload.map { [("payload", $0)] } ?? []))
  }

  private static func object(_ type: String, _ members: [(String, JSONValue)]) -> String {
    JSONValue.object([("type", .string(type))] + members).text
  }
}
