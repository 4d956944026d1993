import RTCDTLS
import RTCSignaling

/// A page with what it may do.
struct ServedPage {
  private let html: [UInt8]
  private let policy: ContentSecurityPolicy

  init(_ html: [UInt8], ancestors: [String]) {
    self.html = html
    policy = ContentSecurityPolicy(for: html, ancestors: ancestors) { MessageAuthentication.sha256(Array($0)) }
  }

  /// - Parameter host: what the client knows the server as.
  func reply(host: String?) -> HTTPReply { .page(html, policy, host: host) }
}
