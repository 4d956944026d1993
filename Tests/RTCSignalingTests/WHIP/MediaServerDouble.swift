import RTCSignaling

/// A double of media servers with WHIP, according to their sources: status codes, entity tags, locations and links.
final class MediaServerDouble {
  enum Kind: CaseIterable {
    /// 2025: the tag is the ufrag, without quotes; compared as text; `*` always means a restart; links percent-encoded.
    case liveKit
    /// 2025: every PATCH is taken for a restart, which candidates alone are not.
    case liveKitIngress
    /// 2024: the tag is `*`; 204 to every PATCH, restarts are not known.
    case mediaMTX
    /// 2025: a random tag without quotes; 204 to every PATCH, without looking at it.
    case ovenMediaEngine
    /// 2024: no tag; takes candidates, knows no restart; links in OPTIONS and 201.
    case galene
    /// 501 to every PATCH, as RFC 9725 §4.3.1 says.
    case plain
  }

  let kind: Kind
  private(set) var candidates: [String] = []
  private(set) var restarts: [String] = []
  private(set) var isOpen = false
  private var generation = 0
  /// Answered with this for so long as it is set.
  var trouble: WHIPResponse?

  init(_ kind: Kind) { self.kind = kind }

  func answer(_ request: WHIPRequest) -> WHIPResponse {
    if let trouble { return trouble }
    return switch request.method {
    case .options: WHIPResponse(status: 204, headers: kind == .galene || kind == .mediaMTX ? links : [])
    case .post: open(request)
    case .patch: patch(request)
    case .delete: close()
    }
  }

  private func open(_ request: WHIPRequest) -> WHIPResponse {
    guard !isOpen else { return WHIPResponse(status: 409) }
    isOpen = true
    generation += 1
    var headers = links + [header("Content-Type", "application/sdp"), header("Location", location)]
    if let etag { headers.append(header("ETag", etag)) }
    return WHIPResponse(status: 201, headers: headers, body: "v=0\r\ns=answer \(generation)\r\n")
  }

  private func patch(_ request: WHIPRequest) -> WHIPResponse {
    guard isOpen else { return WHIPResponse(status: 404) }
    guard request.contentType == "application/trickle-ice-sdpfrag", let body = request.body else {
      return WHIPResponse(status: 400)
    }
    switch kind {
    case .liveKit:
      guard let tag = request.ifMatch else { return WHIPResponse(status: 428) }
      guard tag == "*" else {
        candidates.append(body)
        return WHIPResponse(status: tag == etag ? 204 : 412)
      }
      return restart(body)
    case .liveKitIngress: return request.ifMatch == "*" ? restart(body) : WHIPResponse(status: 422)
    case .mediaMTX, .ovenMediaEngine, .galene:
      candidates.append(body)
      return WHIPResponse(status: 204)
    case .plain: return WHIPResponse(status: 501)
    }
  }

  private func restart(_ body: String) -> WHIPResponse {
    restarts.append(body)
    generation += 1
    return WHIPResponse(
      status: 200, headers: etag.map { [header("ETag", $0)] } ?? [],
      body: "a=ice-ufrag:server\(generation)\r\na=ice-pwd:0123456789012345678901\r\n")
  }

  private func close() -> WHIPResponse {
    defer { isOpen = false }
    return WHIPResponse(status: isOpen ? 200 : 404)
  }

  private var etag: String? {
    switch kind {
    case .liveKit: "ufrag\(generation)"
    case .liveKitIngress: "0badcafe"
    case .mediaMTX: "*"
    case .ovenMediaEngine: "hGd73kXa"
    case .galene, .plain: nil
    }
  }

  private var location: String {
    switch kind {
    case .liveKit: "/whip/v1/PA_x"
    case .liveKitIngress: "/w/key/RES_x"
    case .mediaMTX: "/stream/whip/3b0c9e1e"
    case .ovenMediaEngine: "/app/stream/AbCd?direction=whip"
    case .galene: "/group/g/.whip/oBfu"
    case .plain: "https://sfu.example/session/7"
    }
  }

  private var links: [HTTPHeader] {
    switch kind {
    case .liveKit:
      [header("Link", #"<turn:t.example:443%3Ftransport=tcp>; rel="ice-server"; username="u"; credential="c""#)]
    case .mediaMTX, .galene:
      [
        header("Link", #"<stun:s.example:3478>; rel="ice-server""#),
        header(
          "Link",
          #"<turn:t.example:3478?transport=tcp>; rel="ice-server"; username="u"; credential="c"; credential-type="password""#
        ),
      ]
    case .liveKitIngress, .ovenMediaEngine, .plain: []
    }
  }

  private func header(_ name: String, _ value: String) -> HTTPHeader {
    HTTPHeader(name: name, value: value)
  }
}
