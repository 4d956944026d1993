import RTCPrimitives
import RTCSignaling

/// The client of a WHIP or WHEP server, with a server that responds arbitrarily at any time and a connection that comes
/// and goes. One byte for the event and one for its value. Requests are sent one by one, the token goes to its own
/// origin only, no deadline of the session repeats without end, and it ends when told to leave.
public func fuzzWHIP(_ bytes: Span<UInt8>) {
  var reader = ByteReader(bytes)
  guard let flags = reader.readUInt8(), var client = WHIPModel(flags) else { return }
  client.handle(.start)
  while !client.hasEnded, let deed = reader.readUInt8(), let how = reader.readUInt8() {
    client.happen(deed, how, &reader)
  }
  client.leave()
}

private struct WHIPModel {
  private static let home = "https://whip.example/live"
  private var session: WHIPSession
  private var now = Timestamp.zero
  /// Requests that have no answer yet.
  private var open: [WHIPRequest] = []
  private var newestRequest = 0
  private var wantsOffer = false
  private var wantsDescription = false
  private(set) var hasEnded = false

  init?(_ flags: UInt8) {
    var options = WHIPSession.Options()
    options.endsAtGoodbye = flags & 1 == 1
    options.persistence = flags & 2 == 2 ? .seconds(60) : nil
    guard
      let session = try? WHIPSession(
        endpoint: Self.home, token: flags & 4 == 4 ? "token" : nil, options: options, seed: UInt64(flags))
    else { return nil }
    self.session = session
  }

  mutating func happen(_ deed: UInt8, _ how: UInt8, _ reader: inout ByteReader) {
    switch deed & 15 {
    case 0, 1: if wantsOffer { handle(.offered("v=0\r\n")) }
    case 2, 3, 4: answer(deed >> 4, how, &reader)
    case 5: if let id = take(how)?.id { handle(.failed(id, .timeout(WebAddress(Self.home)!, seconds: 1))) }
    case 6: handle(.candidatesGathered)
    case 7: if wantsDescription { handle(how & 1 == 0 ? .described("a=ice-ufrag:x\r\n") : .undescribed) }
    case 8: handle(.path([.good, .silent, .lost][Int(how) % 3]))
    case 9: handle(.connected)
    case 10: handle(.disconnected([.goodbye, .unreachable, .broken("x")][Int(how) % 3]))
    case 11: handle(.answerRefused)
    case 12: wait()
    case 13: now += .milliseconds(Int64(how) * Int64(how))
    case 14: if how == 0 { handle(.leave) }
    default: handle(.deadline)
    }
  }

  private mutating func take(_ how: UInt8) -> WHIPRequest? {
    open.isEmpty ? nil : open.remove(at: Int(how) % open.count)
  }

  /// The statuses that servers give, and any other.
  private static let statuses = [201, 200, 204, 307, 308, 401, 403, 404, 405, 406, 409, 412, 428, 429, 503]

  /// A status, then fields of the answer's head, and a body.
  private mutating func answer(_ kind: UInt8, _ how: UInt8, _ reader: inout ByteReader) {
    guard let request = take(how) else { return }
    let status = kind == 15 ? Int(reader.readUInt8() ?? 0) * 4 : Self.statuses[Int(kind)]
    var headers = [HTTPHeader(name: "Content-Type", value: "application/sdp")]
    if how & 0x80 == 0 { headers.append(.init(name: "Location", value: "/session/1")) }
    if how & 0x40 != 0 {
      let names = ["Location", "Link", "ETag", "Retry-After", "Content-Type"]
      let field = HTTPHeader(name: names[Int(how) % names.count], value: reader.takeText())
      headers.insert(field, at: 0)
    }
    let body = how & 0x20 == 0 ? "v=0\r\n" : how & 0x10 == 0 ? "a=ice-ufrag:y\r\n" : reader.takeText()
    handle(.answered(request.id, WHIPResponse(status: status, headers: headers, body: body)))
  }

  private mutating func wait() {
    guard let deadline = session.deadline else { return }
    now = max(now, deadline)
    handle(.deadline)
    if let next = session.deadline { precondition(next > now, "the session wakes without end") }
  }

  mutating func handle(_ input: WHIPSession.Input) {
    switch input {
    case .offered: wantsOffer = false
    case .described, .undescribed: wantsDescription = false
    default: break
    }
    let actions = session.handle(input, now: now)
    precondition(actions.count <= 16 && (!hasEnded || actions.isEmpty), "\(actions) after \(input)")
    for action in actions { perform(action) }
  }

  private mutating func perform(_ action: WHIPSession.Action) {
    precondition(!hasEnded, "\(action) after the end")
    switch action {
    case .connect: wantsOffer = true
    case .send(let request): note(request)
    case .cancel(let id): open.removeAll { $0.id == id }
    case .answer, .describeCandidates, .restartICE: wantsDescription = true
    case .disconnect: (wantsOffer, wantsDescription) = (false, false)
    case .end: hasEnded = true
    case .use(let servers): precondition((1...32).contains(servers.count))
    case .accept, .acceptFragment, .report: break
    }
  }

  private mutating func note(_ request: WHIPRequest) {
    precondition(request.id > newestRequest, "two requests have one number")
    newestRequest = request.id
    let isHome = request.target.hasSameOrigin(as: WebAddress(Self.home)!)
    precondition(request.authorization == nil || isHome, "the token goes to \(request.target)")
    open.append(request)
    precondition(open.count <= 4, "too many requests at once: \(open)")
  }

  /// The server does not answer any more.
  mutating func leave() {
    if hasEnded { return }
    handle(.leave)
    for _ in 0..<4 where !hasEnded { wait() }
    precondition(hasEnded, "the session does not end")
  }
}
