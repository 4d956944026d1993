import RTCSignaling
import Testing

@Suite struct ContentSecurityPolicyTests {
  private static let page =
    "<html>\n<script>\none();\n</script>\n<style>\na {}\n</style>\n<script>two();</script>\n</html>"

  private func policy(_ ancestors: [String] = [], hashed: (String) -> Void = { _ in }) -> ContentSecurityPolicy {
    ContentSecurityPolicy(for: Array(Self.page.utf8), ancestors: ancestors) { part in
      hashed(String(decoding: part, as: UTF8.self))
      return [UInt8](repeating: 0xFB, count: 32)
    }
  }

  @Test func `scripts and styles are those of the page, by what stands between their tags`() {
    var parts: [String] = []
    let policy = policy { parts.append($0) }
    #expect(parts == ["\none();\n", "two();", "\na {}\n"])
    let hash = "'sha256-" + String(repeating: "+/v7", count: 10) + "+/s='"
    let text = policy.text(hosts: [])
    #expect(text.contains("script-src \(hash) \(hash); style-src \(hash); connect-src 'self'; "))
    #expect(text.contains("require-trusted-types-for 'script'") && !text.contains("unsafe"))
  }

  @Test func `sockets go to the origin that the page was loaded from`() {
    #expect(policy().text(hosts: ["h.example:81"]).contains("connect-src 'self' ws://h.example:81 wss://h.example:81;"))
    #expect(policy().text(hosts: ["[::1]:81"]).contains("connect-src 'self' ws://[::1]:81 wss://[::1]:81;"))
    for forged in ["h;script-src *", "h 'unsafe-inline'", "h,x", "h:1;x", "*"] {
      #expect(policy().text(hosts: [forged]).contains("connect-src 'self';"), "\(forged)")
    }
  }

  @Test func `nobody shows the page in a frame but those who are named`() {
    #expect(policy().text(hosts: []).contains("frame-ancestors 'none';"))
    #expect(
      policy(["https://a.example", "https://b.example"]).text(hosts: [])
        .contains("frame-ancestors https://a.example https://b.example;"))
  }
}
