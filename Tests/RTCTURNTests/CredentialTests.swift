import RTCPrimitives
import RTCTURN
import RTCWire
import Testing

@Suite struct CredentialTests {
  @Test func `a request without credentials gets realm and nonce`() {
    var kit = ServerKit()
    let answer = kit.ask(.allocate)
    #expect(answer?.code == 401 && answer?.nonce?.isEmpty == false && answer?.isAuthentic == false)
    #expect(kit.request(.allocate, user: "nobody")?.code == 401)
  }

  @Test func `a nonce of ten minutes ago is stale, and so is that of another client`() {
    var kit = ServerKit()
    let nonce = kit.nonce()
    kit.wait(600)
    #expect(kit.request(.allocate, nonce: nonce) { $0.write(.requestedTransport, 17 << 24) }?.code == nil)
    kit.wait(1)
    let answer = kit.request(.refresh, nonce: nonce)
    #expect(answer?.code == 438 && answer?.nonce != nil && answer?.nonce != nonce)
    #expect(kit.request(.refresh, nonce: answer?.nonce)?.code == nil)
    let other = kit.nonce(for: ServerKit.other)
    #expect(kit.request(.refresh, nonce: other)?.code == 438)
    #expect(kit.request(.refresh, nonce: Array("ffffffff0000000000000000".utf8))?.code == 438)
  }

  @Test func `time-limited credentials count until their end, and an allocation outlives them`() {
    let secret = Array("between-us".utf8)
    var kit = ServerKit { $0.users = .timeLimited(secret: secret) }
    kit.server.unixTime = 1_000
    let name = "1010:ada"
    let password = TURNPassword.timeLimited(username: Array(name.utf8).span, secret: secret.span)
    let key = STUNIntegrityKey(
      username: Array(name.utf8).span, realm: Array("rtcast".utf8).span, password: password.span)
    func request(_ method: STUNMethod, _ kit: inout ServerKit) -> UInt16? {
      let (nonce, id) = (kit.nonce(), kit.freshID())
      kit.sent = []
      kit.send(
        ServerKit.message(.request, method, id, key: key) { writer in
          writer.write(.requestedTransport, 17 << 24)
          writer.write(.username, Array(name.utf8).span)
          writer.write(.realm, Array("rtcast".utf8).span)
          writer.write(.nonce, nonce.span)
        })
      guard let bytes = kit.take().first?.bytes, let message = try? STUNMessage(parsing: bytes.span) else { return 0 }
      return message.errorCode?.code
    }
    #expect(request(.allocate, &kit) == nil)
    kit.server.unixTime = 1_010
    #expect(request(.refresh, &kit) == nil)
    kit.server.ended(ServerKit.client, into: &kit.out)
    #expect(request(.allocate, &kit) == 401)
  }

  @Test(
    arguments: [
      ("12:ada", 12), ("12", 12), ("0:", 0), ("", nil), (":ada", nil), ("a:12", nil), ("-1:a", nil),
      ("99999999999999999999:a", nil),
    ] as [(String, Int64?)])
  func `the end stands at the start of a user name`(name: String, end: Int64?) {
    #expect(TURNPassword.end(of: Array(name.utf8).span) == end)
  }

  @Test func `strangers get only so many answers in a second`() {
    var kit = ServerKit { $0.limits.refusalsPerSecond = 3 }
    for _ in 0..<3 { #expect(kit.ask(.allocate)?.code == 401) }
    #expect(kit.ask(.allocate) == nil && kit.ask(.binding) == nil)
    kit.wait(1)
    #expect(kit.ask(.binding)?.mapped == ServerKit.client.remote)
  }
}
