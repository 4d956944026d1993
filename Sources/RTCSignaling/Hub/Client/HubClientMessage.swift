import RTCPrimitives

/// A message of the hub to a client of the native dialect.
enum HubClientMessage {
  case registered(HubRegistration)
  case event(HubClientEvent)

  /// Parses a message; nil for malformed messages, unknown types and answers to pings.
  init?(parsing bytes: [UInt8]) {
    guard let message = try? HubMessageReader(parsing: bytes), let type = try? message.text("type"),
      let event = try? Self.read(type, message)
    else { return nil }
    self = event
  }

  private static func read(_ type: String, _ message: HubMessageReader) throws(HubFault) -> HubClientMessage? {
    switch type {
    case "registered": return .registered(try registration(message))
    case "ice-servers": return .event(.iceServers(message.objects("iceServers").flatMap(iceServers)))
    case "signal":
      guard let data = message.verbatim("data") else { return nil }
      return .event(
        .signal(from: try message.text("from"), data: data, call: try message.optionalText("call")))
    case "candidate":
      guard case .candidate(let candidate, _) = try message.candidate("candidate") else { return nil }
      return .event(
        .candidate(from: try message.text("from"), candidate, call: try message.optionalText("call")))
    case "bye":
      return .event(
        .bye(
          from: try message.text("from"), reason: try message.optionalText("reason"),
          call: try message.optionalText("call")))
    case "peers": return .event(.peers(room: try message.text("room"), message.texts("peers")))
    case "peer-joined":
      return .event(.peerJoined(room: try message.text("room"), peer: try message.text("peer")))
    case "peer-left": return .event(.peerLeft(room: try message.text("room"), peer: try message.text("peer")))
    case "present": return .event(.present(message.texts("peers")))
    case "peer-arrived": return .event(.peerArrived(try message.text("peer")))
    case "peer-gone": return .event(.peerGone(try message.text("peer")))
    case "error":
      return .event(
        .refused(
          HubRefusal(
            code: try message.text("code"),
            message: try (message.optionalText("message", longest: 1024) ?? "").foreignText(),
            peer: try message.optionalText("to"), room: try message.optionalText("room"))))
    default: return nil
    }
  }

  private static func registration(_ message: HubMessageReader) throws(HubFault) -> HubRegistration {
    var isResumed = false
    if case .bool(true) = message.value("resumed")?.value { isResumed = true }
    return HubRegistration(
      id: try message.text("id"), isResumed: isResumed, rooms: message.texts("rooms"),
      iceServers: message.objects("iceServers").flatMap(iceServers))
  }

  /// `urls` is a text or a list of texts.
  private static func iceServers(_ server: HubMessageReader) -> [ICEServer] {
    let urls = (try? server.text("urls")).map { [$0] } ?? server.texts("urls")
    let username = (try? server.optionalText("username", longest: 1024)) ?? nil
    let credential = (try? server.optionalText("credential", longest: 1024)) ?? nil
    let usable = urls.compactMap { try? ICEServer(parsing: [$0], username: username, credential: credential) }
    return usable.isEmpty ? [] : [ICEServer(usable.flatMap(\.urls), username: username, credential: credential)]
  }
}
