import RTCPrimitives
import RTCSignaling

/// A request: a line of letters that choose the server's configuration, then its method, target and fields, a line each.
/// Without the secret nothing that needs it is done, and names of streams are fit to be shown.
public func fuzzRoutes(_ bytes: Span<UInt8>) {
  let lines = fuzzLines(bytes).map { String(decoding: $0, as: UTF8.self) }
  let setup = Set(lines[0])
  func line(_ number: Int) -> String? { number < lines.count && !lines[number].isEmpty ? lines[number] : nil }
  let gate = setup.contains("o") ? AccessGate.open() : AccessGate(secret: AccessToken(fuzzSecret))
  let router = RequestRouter(
    listen: ListenAddress(host: HostName(setup.contains("l") ? "127.0.0.1" : "0.0.0.0"), port: 8080), gate: gate,
    isSecure: setup.contains("s"), hostNames: setup.contains("n") ? ["cast.example"] : [],
    hasHub: setup.contains("h"), takesPublications: setup.contains("p"),
    origins: setup.contains("a") ? ["*"] : ["https://friend.example"],
    publicAddress: setup.contains("u") ? try? PublicAddress(parsing: "https://lab.example/cast/") : nil,
    basePath: setup.contains("b") ? BasePath("/a/b") : nil)
  let sent = RequestHead(
    method: line(1) ?? "GET", target: line(2) ?? "/", host: line(3), origin: line(4), authorization: line(5),
    contentType: line(6), contentLength: setup.contains("0") ? 0 : nil, ifMatch: line(7), ifNoneMatch: line(8),
    acceptEncoding: line(9), upgrade: line(10), requestedMethod: line(11), client: line(12))
  let head = router.localized(sent, at: ForwardedPlace(host: line(13)))
  let action = router.evaluate(head, from: "192.0.2.1", now: AccessTime(unix: 1_700_000_000, monotonic: .zero))
  check(action, isAllowed: setup.contains("o") || line(5)?.contains(fuzzSecret) == true)
  _ = head.publicPath
  checkEncoding(lines[0])
}

let fuzzSecret = "secretsecret"

private func check(_ action: RequestRouter.Action, isAllowed: Bool) {
  switch action {
  case .reply(let reply): precondition((200...599).contains(reply.status))
  case .servers(_, let reply): precondition((200...299).contains(reply.status) && isAllowed)
  case .open(_, let stream, _, let client):
    precondition(isAllowed)
    precondition(stream.map { (1...128).contains($0.utf8.count) && !$0.contains("/") } ?? true)
    precondition(client.map { (16...64).contains($0.utf8.count) } ?? true)
  case .patch(_, let id, _), .accept(_, let id), .find(_, let id, _), .close(_, let id):
    precondition(isAllowed && (1...128).contains(id.utf8.count))
  case .picture(let stream, _, _):
    precondition(isAllowed && (1...128).contains(stream.utf8.count))
  case .snapshot, .metrics, .streams: precondition(isAllowed)
  case .pick: preconditionFailure("this server has no page to pick a source")
  case .page(let request), .viewer(let request), .wall(let request): precondition(request.knownTags.count <= 17)
  case .hub(_, let query): precondition(query.count <= 33)
  case .health(let detail): precondition(!detail || isAllowed)
  case .peerNames(let key): precondition(!key.isEmpty)
  case .reach(let request): precondition(isAllowed && request.udp != 0 && request.tcp != 0)
  case .freeName: break
  }
}

/// Any name survives an address.
private func checkEncoding(_ text: String) {
  let link = "https://host.example/#token=\(LinkFragment.encoded(text))"
  precondition(text.isEmpty || LinkFragment.split(link).fragment.token == text)
  _ = (LinkFragment(text), try? ListenAddress(parsing: text))
  guard let address = WebAddress(text) else { return }
  precondition(WebAddress(address.description) == address, "an address is read differently once more")
}

/// `Link` fields of a server, a line each: STUN and TURN servers, which are written as they were read.
public func fuzzLinkHeaders(_ bytes: Span<UInt8>) {
  let servers = ICEServer.parse(links: fuzzLines(bytes).map { String(decoding: $0, as: UTF8.self) })
  precondition(servers.count <= 32)
  for server in servers {
    let words = [server.username, server.credential].compactMap { $0 }
    // Characters that no header can contain are left out when it is written.
    guard words.allSatisfy({ $0.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 } }) else { continue }
    precondition(ICEServer.parse(links: server.links) == [server], "written differently: \(server.links)")
  }
}
