import RTCPeer
import Testing

/// The proxy that the environment names.
@Suite struct HTTPProxyTests {
  private func proxy(for host: String, _ environment: [String: String]) -> String? {
    HTTPProxy(for: host, environment: environment).map { "\($0.host) \($0.port) \($0.credentials ?? "-")" }
  }

  @Test func `small letters count before capitals, and no proxy is none`() {
    let both = ["https_proxy": "http://small:3128", "HTTPS_PROXY": "http://great:3128"]
    #expect(proxy(for: "turn.example", both) == "small 3128 -")
    #expect(proxy(for: "turn.example", ["HTTPS_PROXY": "great:8080/"]) == "great 8080 -")
    #expect(proxy(for: "turn.example", [:]) == nil && proxy(for: "turn.example", ["https_proxy": ""]) == nil)
  }

  @Test func `credentials are decoded, and the port is 1080 unless it is said`() {
    #expect(proxy(for: "a.example", ["https_proxy": "http://ada:l%40ve@proxy"]) == "proxy 1080 ada:l@ve")
    #expect(proxy(for: "a.example", ["https_proxy": "http://[2001:db8::1]:3128"]) == "2001:db8::1 3128 -")
  }

  @Test func `hosts that need no proxy, and proxies of other kinds, are left out`() {
    let environment = ["https_proxy": "http://proxy:3128", "no_proxy": "inside.example, .below.example,192.0.2.7"]
    for host in ["inside.example", "turn.inside.example", "turn.below.example", "192.0.2.7", "localhost", "127.0.0.1"] {
      #expect(proxy(for: host, environment) == nil, "\(host)")
    }
    for host in ["outside.example", "notinside.example", "192.0.2.70"] {
      #expect(proxy(for: host, environment) != nil, "\(host)")
    }
    #expect(proxy(for: "turn.example", ["https_proxy": "http://proxy", "NO_PROXY": "*"]) == nil)
    #expect(proxy(for: "turn.example", ["https_proxy": "socks5://proxy"]) == nil)
  }
}
