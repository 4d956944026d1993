import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct ICEServerLinkTests {
  @Test func `the servers of an answer are read`() throws {
    let links = ICEServer.parse(links: [
      #"<stun:stun.example.net>; rel="ice-server""#,
      #"<turn:turn.example.net?transport=udp>; rel="ice-server"; username="us,er"; credential="my\"Pass;"; "#
        + #"credential-type="password", <turns:t.example:443?transport=tcp>;rel=ice-server;username=u;credential=p"#,
    ])
    #expect(
      links == [
        try ICEServer(parsing: ["stun:stun.example.net"]),
        try ICEServer(parsing: ["turn:turn.example.net?transport=udp"], username: "us,er", credential: "my\"Pass;"),
        try ICEServer(parsing: ["turns:t.example:443?transport=tcp"], username: "u", credential: "p"),
      ])
  }

  @Test(arguments: [
    "", "<", "<>", "<stun:a>", "<stun:a>; rel=next", "<http://a>; rel=ice-server", "stun:a; rel=ice-server",
    "<stun:a; rel=ice-server", "\"", ",,,;;;", "<stun:a>; rel=\"ice-server",
  ]) func `other links and rubbish are left out`(value: String) {
    #expect(ICEServer.parse(links: [value]).isEmpty)
  }

  @Test func `a flood of links is cut off`() {
    let flood = Array(repeating: "<stun:a>; rel=ice-server", count: 1000).joined(separator: ",")
    #expect(ICEServer.parse(links: [flood, flood]).count == 32)
  }
}
