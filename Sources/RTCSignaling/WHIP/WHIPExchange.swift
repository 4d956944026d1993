package import RTCPrimitives

/// The client's side of a WHIP publication (RFC 9725 §4.2): decides which request to send, and evaluates the response.
/// No input or output.
package struct WHIPExchange: Sendable {
  /// The next step.
  package enum Step: Sendable, Equatable {
    /// Send the same POST to the new `target`.
    case follow
    /// The server has answered.
    case published(WHIPPublication)
    /// The server answered with an offer of its own, which must be answered by PATCH (draft-ietf-wish-whep §4.3.2).
    case countered(WHIPPublication)
  }

  /// Redirects that are followed.
  package static let redirectLimit = 5

  /// The address of the next POST.
  package private(set) var target: WebAddress
  private(set) var credentials: WHIPCredentials
  private var visited: Set<WebAddress>

  /// - Throws: `WHIPError.badURL` or `badToken` for an invalid argument.
  package init(endpoint: String, token: String?) throws(WHIPError) {
    guard let address = WebAddress(endpoint) else { throw .badURL(endpoint) }
    let secret = token.flatMap { AccessToken($0) }
    guard secret != nil || token == nil else { throw .badToken }
    credentials = WHIPCredentials(secret, home: address)
    target = address
    visited = [address]
  }

  /// The `Authorization` header for the next POST. A token follows a redirect to another origin only if a hub sends it to
  /// another hub that has the same token.
  package var authorization: String? { credentials.authorization(for: target) }

  /// Takes the answer to the POST.
  package mutating func receive(_ response: WHIPResponse) throws(WHIPError) -> Step {
    let location = response.values("location").first
    switch response.status {
    case 201: return .published(try publication(response))
    // WHEP: the server would rather offer itself.
    case 406 where response.mediaType == "application/sdp" && location != nil:
      return .countered(try publication(response))
    case 307, 308:
      let previous = target
      try follow(location, status: response.status)
      let isToHub = response.values(HTTPReply.clusterHeader).first == "1"
      if isToHub, credentials.authorization(for: previous) != nil { credentials.trust(target) }
      return .follow
    case 300...399: throw .badRedirect(status: response.status, location: location)
    default:
      throw Self.error(
        status: response.status, method: "POST", body: response.body, hadToken: authorization != nil)
    }
  }

  /// The error for an unexpected status.
  package static func error(status: Int, method: String, body: String, hadToken: Bool) -> WHIPError {
    switch status {
    case 401, 403:
      .unauthorized(status: status, hadToken: hadToken, sentence: hadToken ? firstSentence(body) : "")
    default: .httpStatus(status, method: method, sentence: firstSentence(body))
    }
  }

  private mutating func follow(_ location: String?, status: Int) throws(WHIPError) {
    guard let location, let next = target.resolving(location) else {
      throw .badRedirect(status: status, location: location)
    }
    if target.scheme == .https, next.scheme == .http { throw .insecureRedirect(next.description) }
    guard visited.count <= Self.redirectLimit, visited.insert(next).inserted else { throw .redirectLoop(next) }
    target = next
  }

  private func publication(_ response: WHIPResponse) throws(WHIPError) -> WHIPPublication {
    // Some servers leave the type out; the body then has to speak for itself.
    let (type, body) = (response.mediaType, response.body)
    guard type == "application/sdp" || (type == nil && body.hasPrefix("v=0")), body.hasPrefix("v=") else {
      throw .notSDP(contentType: response.values("content-type").first)
    }
    guard let location = response.values("location").first else { throw .badLocation(nil) }
    guard let resource = target.resolving(location) else { throw .badLocation(location) }
    return WHIPPublication(
      answer: body, resource: resource, etag: response.values("etag").first,
      iceServers: ICEServer.parse(links: response.values("link")),
      authorization: credentials.authorization(for: resource))
  }

  /// The first line of a plain-text explanation, short enough for a message; markup is not worth repeating.
  private static func firstSentence(_ body: String) -> String {
    let line = body.split(whereSeparator: \.isNewline).first?.trimmingBlanks() ?? ""
    guard !line.hasPrefix("<"), !line.hasPrefix("{") else { return "" }
    return line.foreignText()
  }
}

/// A publication that a WHIP server accepted.
package struct WHIPPublication: Sendable, Equatable {
  /// The SDP answer; of a server's own offer that offer.
  package var answer: String
  /// Amend and end the publication here.
  package var resource: WebAddress
  /// Entity tag of the ICE generation as the server sent it, quotes included.
  package var etag: String?
  /// From `Link` headers (RFC 9725 §4.6).
  package var iceServers: [ICEServer]
  /// The `Authorization` header for `resource`; nil without a token or when the resource is at another origin.
  package var authorization: String?

  package init(
    answer: String, resource: WebAddress, etag: String?, iceServers: [ICEServer], authorization: String?
  ) {
    self.answer = answer
    self.resource = resource
    self.etag = etag
    self.iceServers = iceServers
    self.authorization = authorization
  }
}

/// The token of a WHIP client, and the origins that may see it.
package struct WHIPCredentials: Sendable, Hashable {
  private var homes: [WebAddress]
  private let token: AccessToken?

  /// - Parameter home: the endpoint that the user named.
  package init(_ token: AccessToken?, home: WebAddress) {
    homes = [home]
    self.token = token
  }

  /// The `Authorization` header for a request; nil for origins that may not see the token.
  package func authorization(for address: WebAddress) -> String? {
    homes.contains { address.hasSameOrigin(as: $0) } ? token?.authorization : nil
  }

  /// Lets the origin of an address see the token.
  mutating func trust(_ address: WebAddress) { homes.append(address) }
}
