package import RTCPrimitives

/// The client's side of a WHIP publication (RFC 9725 §4.2) as a machine: tells which request to send, and what the
/// answer to it means. No input or output.
package struct WHIPExchange: Sendable {
  /// What comes next.
  package enum Step: Sendable, Equatable {
    /// Send the same POST to the new `target`.
    case follow
    /// The server has answered.
    case published(WHIPPublication)
  }

  /// Redirects that are followed.
  package static let redirectLimit = 5

  /// Where the next POST goes.
  package private(set) var target: WebAddress
  private let home: WebAddress
  private let token: AccessToken?
  private var visited: Set<WebAddress>

  /// - Throws: `WHIPError.badURL` or `badToken` for what cannot be used.
  package init(endpoint: String, token: String?) throws(WHIPError) {
    guard let address = WebAddress(endpoint) else { throw .badURL(endpoint) }
    if let token {
      guard let token = AccessToken(token) else { throw .badToken }
      self.token = token
    } else {
      self.token = nil
    }
    target = address
    home = address
    visited = [address]
  }

  /// The `Authorization` header for the next POST. A token never follows a redirect to another origin.
  package var authorization: String? { authorization(for: target) }

  /// Takes the answer to the POST.
  /// - Parameter header: the values of a header by its name in lower case.
  package mutating func receive(
    status: Int, header: (String) -> [String], body: String
  ) throws(WHIPError) -> Step {
    switch status {
    case 201: return .published(try publication(header: header, body: body))
    case 307, 308:
      try follow(header("location").first, status: status)
      return .follow
    case 300...399: throw .badRedirect(status: status, location: header("location").first)
    default: throw Self.error(status: status, method: "POST", body: body, hadToken: authorization != nil)
    }
  }

  /// What a status outside of the expected ones means.
  package static func error(status: Int, method: String, body: String, hadToken: Bool) -> WHIPError {
    switch status {
    case 401, 403: .unauthorized(status: status, hadToken: hadToken)
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

  private func publication(header: (String) -> [String], body: String) throws(WHIPError) -> WHIPPublication {
    let type = header("content-type").first
    let mediaType = type?.prefix { $0 != ";" }.trimmingBlanks().lowercased()
    // Some servers leave the type out; the body then has to speak for itself.
    guard mediaType == "application/sdp" || (mediaType == nil && body.hasPrefix("v=0")), body.hasPrefix("v=") else {
      throw .notSDP(contentType: type)
    }
    guard let location = header("location").first else { throw .badLocation(nil) }
    guard let resource = target.resolving(location) else { throw .badLocation(location) }
    return WHIPPublication(
      answer: body, resource: resource, etag: header("etag").first, iceServers: ICEServer.parse(links: header("link")),
      authorization: authorization(for: resource))
  }

  private func authorization(for address: WebAddress) -> String? {
    address.hasSameOrigin(as: home) ? token?.authorization : nil
  }

  /// The first line of a plain-text explanation, short enough for a message; markup is not worth repeating.
  private static func firstSentence(_ body: String) -> String {
    let line = body.split(whereSeparator: \.isNewline).first?.trimmingBlanks() ?? ""
    guard !line.hasPrefix("<"), !line.hasPrefix("{") else { return "" }
    return String(line.unicodeScalars.filter { $0.value > 31 && $0.value != 127 }.prefix(200).map(Character.init))
  }
}

/// A publication that a WHIP server accepted.
package struct WHIPPublication: Sendable, Equatable {
  /// The SDP answer.
  package var answer: String
  /// Amend and end the publication here.
  package var resource: WebAddress
  /// Entity tag of the ICE generation as the server sent it, quotes included.
  package var etag: String?
  /// From `Link` headers (RFC 9725 §4.6).
  package var iceServers: [ICEServer]
  /// The `Authorization` header for `resource`; nil without a token or when the resource is at another origin.
  package var authorization: String?

  /// See the properties.
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
