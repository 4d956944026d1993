/// One HTTP request that a WHIP or WHEP client is to send.
package struct WHIPRequest: Sendable, Hashable {
  /// The HTTP methods that WHIP uses.
  package enum Method: String, Sendable {
    /// Asks for the endpoint's capabilities; the response may name STUN and TURN servers.
    case options = "OPTIONS"
    /// Hands the offer over.
    case post = "POST"
    /// Candidates, an ICE restart, or the answer to a server's offer.
    case patch = "PATCH"
    /// Ends the session.
    case delete = "DELETE"
  }

  /// Different for each request of a session.
  package var id: Int
  /// The method.
  package var method: Method
  /// The request's URL.
  package var target: WebAddress
  /// The header's value, token and all.
  package var authorization: String?
  /// The media type of `body`.
  package var contentType: String?
  /// `If-Match`, as the server is to see it.
  package var ifMatch: String?
  /// Nil for none.
  package var body: String?

  package init(
    id: Int, _ method: Method, _ target: WebAddress, authorization: String? = nil, contentType: String? = nil,
    ifMatch: String? = nil, body: String? = nil
  ) {
    self.id = id
    self.method = method
    self.target = target
    self.authorization = authorization
    self.contentType = contentType
    self.ifMatch = ifMatch
    self.body = body
  }
}

/// The server's answer to a `WHIPRequest`.
package struct WHIPResponse: Sendable, Hashable {
  /// RFC 9110 §15.
  package var status: Int
  /// In the order they came; a name may come several times.
  package var headers: [HTTPHeader]
  /// The body as text.
  package var body: String

  package init(status: Int, headers: [HTTPHeader] = [], body: String = "") {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The values of a header field, in order.
  package func values(_ name: String) -> [String] {
    headers.lazy.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  /// Whole seconds of `Retry-After`; a date counts as nothing said.
  package var retryAfter: Int? { values("retry-after").first.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil } }

  /// The media type without its parameters, in lower case.
  package var mediaType: String? {
    values("content-type").first.map { $0.prefix { $0 != ";" }.trimmingBlanks().lowercased() }
  }
}
