package import RTCPrimitives

/// One header field of HTTP (RFC 9110 §6.3).
package struct HTTPHeader: Sendable, Hashable {
  /// The name as written; compared case-insensitively.
  package var name: String
  /// Without surrounding space.
  package var value: String

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

/// A complete HTTP response. The sender adds `Content-Length`, `Date` and `Connection`.
package struct HTTPReply: Sendable, Equatable {
  /// RFC 9110 §15.
  package var status: Int
  /// In the order in which they are sent.
  package var headers: [HTTPHeader]
  /// The body; its length becomes `Content-Length`.
  package var body: [UInt8]

  package init(status: Int, headers: KeyValuePairs<String, String> = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers.map { HTTPHeader(name: $0.key, value: $0.value) }
    self.body = body
  }

  /// A sentence as plain text.
  package init(status: Int, sentence: String, headers: KeyValuePairs<String, String> = [:]) {
    self.init(status: status, headers: headers, body: Array((sentence + "\n").utf8))
    add("Content-Type", "text/plain; charset=utf-8")
  }

  /// The first value of a header field; nil when there is none.
  package func first(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  mutating func add(_ name: String, _ value: String) {
    headers.append(HTTPHeader(name: name, value: value))
  }
}

extension HTTPReply {
  /// 413.
  package static let tooLarge = HTTPReply(status: 413, sentence: "The body is larger than this server takes.")
  /// 431.
  package static let headTooLarge = HTTPReply(
    status: 431, sentence: "The request's header is larger than this server takes.")
  /// 400.
  package static let malformedRequest = HTTPReply(status: 400, sentence: "This is not a well-formed HTTP/1.1 request.")
  /// 408.
  package static let tooSlow = HTTPReply(status: 408, sentence: "The request did not arrive in time.")
  /// The two headers of a trusted proxy name different clients: one of them is the client's own.
  package static let contradictoryProxy = HTTPReply(
    status: 400,
    sentence: "Forwarded and X-Forwarded-For name different clients; let the proxy remove the one that it does not set."
  )
  /// The server has as many connections as it takes.
  package static let crowded = HTTPReply(
    status: 503, sentence: "The server has as many connections as it takes; try again shortly.",
    headers: ["Retry-After": "5"])
  /// The maximum number of offers wait for an answer.
  package static let busy = HTTPReply(
    status: 503, sentence: "Too many offers are waiting for an answer; try again shortly.",
    headers: ["Retry-After": "1"])
  /// The cast did not answer in time.
  package static let noAnswer = HTTPReply(
    status: 503, sentence: "The cast did not answer in time; try again shortly.", headers: ["Retry-After": "1"])

  /// The status and sentence of a refused offer.
  package static func refusal(_ refusal: WHEPRefusal) -> HTTPReply {
    var reply = HTTPReply(status: refusal.status, sentence: refusal.sentence)
    if let seconds = refusal.retryAfter { reply.add("Retry-After", String(seconds)) }
    if refusal == .trickleUnsupported { reply.add("Allow", "DELETE, GET, HEAD, OPTIONS") }
    return reply
  }

  /// The response to a refused request.
  package static func refusal(_ refusal: AccessRefusal) -> HTTPReply {
    var reply = HTTPReply(status: refusal.status, sentence: refusal.sentence)
    if refusal.status == 401 { reply.add("WWW-Authenticate", "Bearer realm=\"rtcast\"") }
    switch refusal {
    case .slowed(let seconds): reply.add("Retry-After", String(seconds))
    case .uncounted: reply.add("Retry-After", "2")
    default: break
    }
    return reply
  }

  /// 201 with the answer, `Location`, `ETag` and `Link`s (RFC 9725 §4.2).
  /// - Parameter path: the request's path. `Location` is relative to it (RFC 3986 §5.2), as a proxy may have removed the beginning
  ///   of the path that the client knows.
  package static func opened(
    _ answer: WHEPAnswer, at endpoint: SignalingEndpoint, path: some StringProtocol, iceServers: [ICEServer] = []
  ) -> HTTPReply {
    HTTPReply(
      status: 201,
      headers: [
        "Content-Type": "application/sdp", "Location": endpoint.sessionReference(from: path) + answer.id,
        "ETag": "\"\(answer.etag)\"", "Accept-Patch": RequestRouter.fragmentType,
      ], body: Array(answer.answer.utf8)
    ).linking(iceServers)
  }

  /// A copy with a `Link` header for each URL of each server (RFC 9725 §4.6).
  package func linking(_ servers: [ICEServer]) -> HTTPReply {
    var reply = self
    for link in servers.flatMap(\.links) { reply.add("Link", link) }
    return reply
  }

  /// A permanent redirect to a reference that is relative to the request.
  static func moved(to reference: String) -> HTTPReply {
    HTTPReply(status: 308, sentence: "This page is at \(reference).", headers: ["Location": reference])
  }

  /// 204 for a session that is there, else 404.
  /// - Parameter diagnosis: why it has no connection yet, or had none until it ended.
  package static func found(etag: String?, diagnosis: String? = nil) -> HTTPReply {
    var reply = HTTPReply.refusal(.noSuchSession)
    if let etag {
      reply = HTTPReply(status: 204, headers: ["ETag": "\"\(etag)\"", "Accept-Patch": RequestRouter.fragmentType])
    }
    if let diagnosis {
      let text = diagnosis.utf8.map { (32...126).contains($0) ? $0 : UInt8(ascii: "?") }
      reply.add(ViewerChecks.responseHeader, String(decoding: text, as: UTF8.self))
    }
    return reply
  }

  /// The response to a PATCH of candidates (RFC 9725 §4.3).
  package static func patched(_ result: WHEPPatchResult) -> HTTPReply {
    switch result {
    case .noContent: HTTPReply(status: 204)
    case .restarted(let fragment, let etag):
      HTTPReply(
        status: 200, headers: ["Content-Type": RequestRouter.fragmentType, "ETag": "\"\(etag)\""],
        body: Array(fragment.utf8))
    }
  }

  /// 200 for a session that was there, else 404.
  package static func closed(_ existed: Bool) -> HTTPReply {
    existed ? HTTPReply(status: 200) : .refusal(.noSuchSession)
  }

  /// The response to `/health`.
  /// - Parameter detail: whether it includes numbers.
  package static func health(_ status: CastStatus, hub: HubCounters? = nil, detail: Bool) -> HTTPReply {
    HTTPReply(
      status: 200, headers: ["Content-Type": "application/json", "Cache-Control": "no-store"],
      body: Array((status.json(hub: hub, detail: detail) + "\n").utf8))
  }

  /// The whole picture, or that there is none. Where it is exact, its number is the `ETag`, of eight hexadecimal digits.
  package static func snapshot(_ snapshot: CastSnapshot?) -> HTTPReply {
    guard let snapshot else {
      return HTTPReply(
        status: 404, sentence: "There is no picture: the source is not a screen, or the cast has not begun.")
    }
    var reply = HTTPReply(
      status: 200, headers: ["Content-Type": "image/webp", "Cache-Control": "no-store"], body: snapshot.webP)
    if let number = snapshot.number {
      let digits = String(number, radix: 16)
      reply.add("ETag", "\"\(String(repeating: "0", count: 8 - digits.count))\(digits)\"")
    }
    return reply
  }

  /// The figures of a cast or hub for Prometheus.
  package static func metrics(
    _ status: CastStatus, _ cast: [CastMetric] = [], hub: HubCounters?,
    refusals: [RefusalCounts.Subject: UInt64] = [:]
  ) -> HTTPReply {
    HTTPReply(
      status: 200, headers: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Cache-Control": "no-store"],
      body: Array(
        ((status.metrics + cast).map(\.prometheus).joined() + (hub?.prometheus ?? "") + prometheus(refusals)).utf8))
  }

  private static func prometheus(_ refusals: [RefusalCounts.Subject: UInt64]) -> String {
    let name = "rtcast_refused_total"
    let lines = refusals.sorted { $0.key.rawValue < $1.key.rawValue }.map { subject, count in
      "\(name){what=\"\(subject.rawValue)\"} \(count)\n"
    }
    return "# HELP \(name) Requests and connections refused or delayed because of a limit.\n# TYPE \(name) counter\n"
      + lines.joined()
  }

  /// A name that was given to no other client, as plain text.
  package static func freeName(_ name: String) -> HTTPReply {
    HTTPReply(
      status: 200, headers: ["Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"],
      body: Array(name.utf8))
  }

  /// The names of peers as PeerJS clients expect them, or a refusal where there is no list.
  package static func peerNames(_ names: [String]?) -> HTTPReply {
    guard let names else {
      return HTTPReply(
        status: 401, sentence: "The list of peers is sent only to clients that give the hub's token as the key.")
    }
    return HTTPReply(
      status: 200, headers: ["Content-Type": "application/json", "Cache-Control": "no-store"],
      body: Array(JSONValue.array(names.map { .string($0) }).text.utf8))
  }

  /// A page in one of the forms that it can be sent in.
  package struct Representation: Sendable {
    package var body: [UInt8]
    /// `Content-Encoding`.
    package var encoding: String?
    /// The entity tag, without quotes; each form has its own.
    package var tag: String

    package init(body: [UInt8], encoding: String?, tag: String) {
      self.body = body
      self.encoding = encoding
      self.tag = tag
    }
  }

  /// A page, with its `ContentSecurityPolicy`; 304 if the browser has it already (RFC 9110 §15.4.5).
  package static func page(
    _ form: Representation, _ policy: ContentSecurityPolicy, _ request: PageRequest
  ) -> HTTPReply {
    let isKnown = request.knownTags.contains(form.tag) || request.knownTags == ["*"]
    var reply = HTTPReply(
      status: isKnown ? 304 : 200,
      headers: [
        "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache", "ETag": "\"\(form.tag)\"",
        "Vary": "Accept-Encoding", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
        "Content-Security-Policy": policy.text(hosts: request.hosts),
      ], body: isKnown ? [] : form.body)
    if let encoding = form.encoding { reply.headers.append(HTTPHeader(name: "Content-Encoding", value: encoding)) }
    return reply
  }
}
