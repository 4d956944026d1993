import RTCDTLS
import RTCSignaling

/// A page with its security policy. Lives on the server's event loop.
final class ServedPage {
  private let plain: HTTPReply.Representation
  /// Made when it is first asked for: a cast that only publishes never serves a page.
  private lazy var compressed = Gzip.compress(plain.body).map {
    HTTPReply.Representation(body: $0, encoding: "gzip", tag: "\(digest)-gzip")
  }
  private let digest: String
  private let policy: ContentSecurityPolicy

  init(_ html: [UInt8], ancestors: [String]) {
    digest = Base64URL.encode(Array(MessageAuthentication.sha256(html).prefix(9)))
    plain = HTTPReply.Representation(body: html, encoding: nil, tag: digest)
    policy = ContentSecurityPolicy(for: html, ancestors: ancestors) { MessageAuthentication.sha256(Array($0)) }
  }

  func reply(to request: PageRequest) -> HTTPReply {
    .page(request.acceptsGzip ? compressed ?? plain : plain, policy, request)
  }
}
