import FeatureKit
import RTCPrimitives
import Testing

@Suite struct ICEServerTests {
  @Test(
    .feature("S0.29"),
    arguments: [
      ("stun:s.example", ICEServerURL(scheme: .stun, host: "s.example", port: 3_478, transport: .udp)),
      ("STUN:s.example:19302", ICEServerURL(scheme: .stun, host: "s.example", port: 19_302)),
      ("stuns:s.example", ICEServerURL(scheme: .stuns, host: "s.example", port: 5_349, transport: .tcp)),
      ("turn:192.0.2.1?transport=tcp", ICEServerURL(scheme: .turn, host: "192.0.2.1", transport: .tcp)),
      ("turns:t.example:443?transport=tcp", ICEServerURL(scheme: .turns, host: "t.example", port: 443)),
      ("turn:[2001:db8::1]:3479", ICEServerURL(scheme: .turn, host: "2001:db8::1", port: 3_479)),
    ]) func `a server's URI is read`(text: String, url: ICEServerURL) throws
  {
    #expect(try ICEServerURL(parsing: text) == url)
    #expect(try ICEServerURL(parsing: url.description) == url)
  }

  @Test(arguments: [
    ("trun:t.example", "Did you mean turn:t.example?"), ("turms:a", "Did you mean turns:a?"),
    ("turn://t.example", "write turn:t.example"), ("t.example", "stun:t.example"), ("http:a", "must begin with"),
    ("turn:user@host", "do not belong into the URI"), ("stun:", "The host is missing"), ("stun:a:0", "from 1 to 65535"),
    ("stun:a:x", "from 1 to 65535"), ("stun:2001:db8::1", "in brackets"), ("stun:[::1", "closing ]"),
    ("turns:a?transport=udp", "leave ?transport=udp out"), ("turn:a?tls=1", "Only ?transport="),
    ("stun:ä", "visible ASCII"),
  ]) func `a misspelt URI is an error that shows the right one`(text: String, sentence: String) throws {
    let error = try #require(throws: ICEServerError.self) { try ICEServerURL(parsing: text) }
    #expect(error.description.contains(sentence))
  }

  @Test(.feature("S0.30", "S0.31")) func `a relay needs a user name and a password`() throws {
    #expect(throws: ICEServerError.self) { try ICEServer(parsing: ["turn:t.example"], username: "u") }
    #expect(try ICEServer(parsing: ["stun:s.example"]).urls.count == 1)
  }
}
