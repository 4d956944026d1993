import FeatureKit
import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct TURNServiceTests {
  private static let url = ICEServerURL(scheme: .turn, host: "t.example")

  /// Computed with Python's hmac and base64.
  @Test(
    .feature("S0.30", "S0.31"),
    arguments: [
      ("alice", "1700043200:alice", "01Pv2e5apc0HX4gVDY1wJke35Uc="),
      ("Jörg's", "1700043200:J%C3%B6rg%27s", "1QAbkTiRV7JD2HgdJGjIJzK9Wic="),
      ("a b:c", "1700043200:a%20b%3Ac", "Vf9YSxJ33KwMUu/FCDWGXsVbG3Y="),
    ]) func `credentials are what a TURN server with the same secret computes`(
      name: String, username: String, credential: String
    )
  {
    let service = TURNService(urls: [Self.url], secret: "north")
    #expect(
      service.server(for: name, unixTime: 1_700_000_000)
        == ICEServer([Self.url], username: username, credential: credential))
  }

  @Test func `the secret does not show`() {
    let service = TURNService(urls: [Self.url], secret: "north")
    #expect("\(service)" == "turn:t.example" && !"\(String(reflecting: service))".contains("north"))
  }

  private static func servers(_ text: String?) -> Substring? { text?.split(separator: "\"iceServers\":").last }

  @Test func `each client gets its own, and fresh ones at half of their life`() throws {
    let turn = TURNService(urls: [Self.url], secret: "north", lifetime: .seconds(600))
    var bench = HubBench(iceServers: [ICEServer([ICEServerURL(scheme: .stun, host: "s")])], turn: turn)
    bench.open(1)
    bench.say(1, #"{"type":"register","id":"alice"}"#)
    #expect(
      Self.servers(bench.take(1).first)
        == #"[{"urls":"stun:s"},{"urls":"turn:t.example","username":"1700000600:alice","credential":"gthUwOpcRoLI0MMCziCEBOWYnpo="}]}"#
    )
    // A quiet client, and one that talks all the time.
    bench.enter(2, as: "bob")
    for _ in 0..<299 {
      bench.pass(.seconds(1))
      bench.handle(.heard(bench.id(1)))
      bench.say(2, #"{"type":"ping"}"#)
    }
    #expect(bench.take(1) == [])
    #expect(bench.take(2).allSatisfy { $0.contains("pong") })
    bench.pass(.seconds(1))
    #expect(
      bench.take(1) == [
        #"{"type":"ice-servers","iceServers":[{"urls":"stun:s"},{"urls":"turn:t.example","#
          + #""username":"1700000900:alice","credential":"kDfXYqDb8u0p2g6tczbVbPmXv0g="}]}"#
      ])
    #expect(bench.take(2).count { $0.contains("1700000900:bob") } == 1)
    for _ in 0..<30 {
      bench.pass(.seconds(10))
      bench.handle(.heard(bench.id(1)))
    }
    #expect(bench.take(1).count { $0.contains("1700001200:alice") } == 1)
  }

  @Test func `who comes back gets fresh ones`() {
    let turn = TURNService(urls: [Self.url], secret: "north", lifetime: .seconds(600))
    var bench = HubBench(turn: turn)
    bench.open(1)
    bench.say(1, #"{"type":"register","id":"alice","secret":"0123456789abcdef"}"#)
    bench.close(1, .lost)
    bench.pass(.seconds(20))
    bench.open(2)
    bench.say(2, #"{"type":"register","id":"alice","secret":"0123456789abcdef"}"#)
    #expect(bench.take(2).first?.contains("1700000620:alice") == true)
    bench.pass(.seconds(65))
    #expect(bench.hub.counters.peers == 1)
  }

  @Test(arguments: [HubDialect.peerJS, .skyRTC]) func `other dialects, which have no words for it, hear nothing`(
    dialect: HubDialect
  ) {
    let turn = TURNService(urls: [Self.url], secret: "north", lifetime: .seconds(60))
    var bench = HubBench(turn: turn)
    bench.open(1, dialect, query: ["id": "p", "token": "t", "key": "peerjs"])
    bench.say(1, #"{"eventName":"__join","data":{"room":"r"}}"#)
    _ = bench.take(1)
    for _ in 0..<10 {
      bench.pass(.seconds(10))
      bench.handle(.heard(bench.id(1)))
    }
    #expect(bench.take(1) == [])
    #expect(bench.closings.isEmpty)
  }
}
