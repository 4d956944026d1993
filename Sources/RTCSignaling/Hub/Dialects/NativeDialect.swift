import RTCPrimitives

/// The hub's own dialect. Each message is an object with a `type`.
///
/// | from a client | |
/// |---|---|
/// | `register` | `id`?, `token`?, `secret`? (of the name to be resumed), `listed`? (false: not among `present`), `returning`? (see below) |
/// | `list` | `follow`? (true: also changes, until the connection ends; false: no more changes) |
/// | `signal` | `to`, `data` (any value; a `CallSignal` for calls), `call`? |
/// | `candidate` | `to`, `candidate` (as `RTCIceCandidateInit`, null after the last), `call`? |
/// | `bye` | `to`, `reason`?, `call`? |
/// | `join`, `leave` | `room` |
/// | `ping` | |
///
/// | from the hub | |
/// |---|---|
/// | `registered` | `id`, `secret`, `resumed`, `rooms`, `iceServers` (as `RTCIceServer`) |
/// | `ice-servers` | `iceServers`: as in `registered`, with new credentials, before the old ones expire |
/// | `signal`, `candidate`, `bye` | as above, with `from` instead of `to` |
/// | `peers` | `room`, `peers`: the members before; the newcomer calls them |
/// | `peer-joined`, `peer-left` | `room`, `peer` |
/// | `present` | `peers`: the other peers at the hub that can be called, sorted by name; the answer to `list` |
/// | `peer-arrived`, `peer-gone` | `peer`, for clients that follow |
/// | `error` | `code`, `message`, `to`?, `room`? |
/// | `pong` | |
///
/// `call` distinguishes several calls between the same two peers; answers repeat it. `returning` is true if the client was
/// registered before its connection broke: from it, a hub learns that it has been restarted.
enum NativeDialect {
  static func parse(_ bytes: [UInt8]) throws(HubFault) -> HubRequest {
    let message = try HubMessageReader(parsing: bytes)
    switch try message.text("type") {
    case "register":
      return .register(
        name: try message.optionalText("id"), token: try message.optionalText("token", longest: 1024),
        secret: try message.optionalText("secret"), isListed: try message.optionalFlag("listed") ?? true,
        isReturning: try message.optionalFlag("returning") ?? false)
    case "list": return .list(isFollowing: try message.optionalFlag("follow") ?? false)
    case "signal": return .relay(try relay(message, try message.signal("data")))
    case "candidate": return .relay(try relay(message, try message.candidate("candidate")))
    case "bye": return .relay(try relay(message, .bye(reason: try message.optionalText("reason"))))
    case "join": return .join(room: try message.text("room"))
    case "leave": return .leave(room: try message.text("room"))
    case "ping": return .ping
    case let other: throw .malformed("there is no message of type \"\(other.prefix(40))\"")
    }
  }

  private static func relay(_ message: HubMessageReader, _ body: HubRelay.Body) throws(HubFault) -> HubRelay {
    HubRelay(to: try message.text("to"), call: try message.optionalText("call"), body: body, original: .native)
  }

  static func text(_ notice: HubNotice) -> String {
    switch notice {
    case .registered(let name, let secret, let iceServers, let rooms, let isResumed):
      return object(
        "registered",
        [
          ("id", .string(name)), ("secret", .string(secret)), ("resumed", .bool(isResumed)),
          ("rooms", .array(rooms.map { .string($0) })), ("iceServers", .array(iceServers.map(iceServer))),
        ])
    case .iceServers(let servers): return object("ice-servers", [("iceServers", .array(servers.map(iceServer)))])
    case .relayed(let from, _, let relay): return text(relay, from: from)
    case .peers(let room, let peers, _):
      return object("peers", [("room", .string(room)), ("peers", .array(peers.map { .string($0) }))])
    case .joined(let room, let peer): return object("peer-joined", [("room", .string(room)), ("peer", .string(peer))])
    case .left(let room, let peer): return object("peer-left", [("room", .string(room)), ("peer", .string(peer))])
    case .present(let peers): return object("present", [("peers", .array(peers.map { .string($0) }))])
    case .arrived(let peer): return object("peer-arrived", [("peer", .string(peer))])
    case .gone(let peer): return object("peer-gone", [("peer", .string(peer))])
    case .pong: return object("pong", [])
    case .fault(let fault, _):
      var members: [(String, JSONValue)] = [("code", .string(fault.code)), ("message", .string(fault.message))]
      if let peer = fault.peer { members.append(("to", .string(peer))) }
      if let room = fault.room { members.append(("room", .string(room))) }
      return object("error", members)
    }
  }

  private static func text(_ relay: HubRelay, from: String) -> String {
    var members: [(String, JSONValue)] = [("from", .string(from))]
    if let call = relay.call { members.append(("call", .string(call))) }
    switch relay.body {
    case .description(_, let json), .call(_, let json), .data(let json):
      return object("signal", members + [("data", .verbatim(json))])
    case .candidate(let candidate, let json):
      // Other dialects write candidates otherwise.
      let value: JSONValue =
        if case .native = relay.original { .verbatim(json) } else { candidate?.json ?? .null }
      return object("candidate", members + [("candidate", value)])
    case .bye(let reason): return object("bye", members + (reason.map { [("reason", .string($0))] } ?? []))
    }
  }

  private static func object(_ type: String, _ members: [(String, JSONValue)]) -> String {
    JSONValue.object([("type", .string(type))] + members).text
  }

  private static func iceServer(_ server: ICEServer) -> JSONValue {
    let urls = server.urls.map { JSONValue.string($0.description) }
    var members: [(String, JSONValue)] = [("urls", urls.count == 1 ? urls[0] : .array(urls))]
    if let username = server.username { members.append(("username", .string(username))) }
    if let credential = server.credential { members.append(("credential", .string(credential))) }
    return .object(members)
  }
}
