import Glibc
import NIOCore
import NIOPosix
import RTCSignaling
import RTCSignalingNIO
import Testing

@Suite(.timeLimit(.minutes(1))) struct WHIPClientTests {
  static let offer = "v=0\r\ns=offer\r\n"
  static let accepted = ScriptedServer.Act.reply(
    201,
    [
      ("Content-Type", "application/sdp"), ("Location", "/resource/1"), ("ETag", "\"e1\""),
      ("Link", "<stun:stun.example>; rel=\"ice-server\""),
      ("Link", "<turn:turn.example>; rel=\"ice-server\"; username=\"u\"; credential=\"c\""),
    ], body: "v=0\r\ns=answer\r\n")

  /// Publishes to a scripted server and returns what came of it.
  func publish(
    to path: String = "/whip", token: String? = nil, timeout: Int64 = 10, bodyLimit: Int = 262_144,
    tls: TLSIdentity? = nil, scheme: String = "http", trust: String? = nil,
    _ script: @escaping @Sendable (ScriptedServer.Request) -> ScriptedServer.Act,
    then check: (Result<WHIPPublication, WHIPError>, WHIPClient, ScriptedServer) async throws -> Void
  ) async throws {
    let server = try await ScriptedServer(tls: tls, script)
    var configuration = WHIPClient.Configuration()
    configuration.timeout = timeout
    configuration.bodyLimit = bodyLimit
    configuration.trustRootsFile = trust
    let client = WHIPClient(configuration: configuration)
    let result: Result<WHIPPublication, WHIPError>
    do throws(WHIPError) {
      result = .success(try await client.publish(to: server.url(path, scheme: scheme), token: token, offer: Self.offer))
    } catch {
      result = .failure(error)
    }
    do { try await check(result, client, server) } catch { Issue.record(error) }
    await client.shutdown()
    await server.close()
  }

  func failure(_ result: Result<WHIPPublication, WHIPError>) -> WHIPError? {
    if case .failure(let error) = result { error } else { nil }
  }

  @Test func `requests and answers are what they are on the wire`() async throws {
    let server = try await ScriptedServer { request in
      request.method == "POST"
        ? Self.accepted
        : .reply(200, [("ETag", "\"e2\""), ("Link", "<stun:a>"), ("Link", "<stun:b>")], body: "a=x\r\n")
    }
    let client = WHIPClient()
    let target = try #require(WebAddress(server.url("/resource/1")))
    let response = try await client.send(
      WHIPRequest(
        id: 1, .patch, target, authorization: "Bearer sesame", contentType: "application/trickle-ice-sdpfrag",
        ifMatch: "W/\"e1\"", body: "a=candidate:1"))
    #expect(response.status == 200 && response.body == "a=x\r\n")
    #expect(response.values("etag") == ["\"e2\""])
    #expect(response.values("Link") == ["<stun:a>", "<stun:b>"])
    _ = try await client.send(WHIPRequest(id: 2, .options, target))
    _ = try await client.send(WHIPRequest(id: 3, .delete, target))
    let requests = server.requests
    #expect(requests.map(\.method) == ["PATCH", "OPTIONS", "DELETE"])
    #expect(requests.map(\.path) == ["/resource/1", "/resource/1", "/resource/1"])
    #expect(requests[0].headers.first(name: "Authorization") == "Bearer sesame")
    #expect(requests[0].headers.first(name: "If-Match") == "W/\"e1\"")
    #expect(requests[0].headers.first(name: "Content-Type") == "application/trickle-ice-sdpfrag")
    #expect(requests[0].body == "a=candidate:1")
    #expect(!requests[2].headers.contains(name: "Authorization") && !requests[2].headers.contains(name: "If-Match"))
    await client.shutdown()
    await server.close()
  }

  @Test func `redirects are followed and the token stays at home`() async throws {
    let elsewhere = try await ScriptedServer { _ in Self.accepted }
    let away = elsewhere.url("/whip")
    try await publish(
      token: "sesame",
      { $0.path == "/whip" ? .reply(307, [("Location", "/next")]) : .reply(308, [("Location", away)]) },
      then: { result, _, server in
        let publication = try result.get()
        #expect(publication.resource.description == elsewhere.url("/resource/1"))
        #expect(publication.authorization == nil)
        #expect(server.requests.map(\.path) == ["/whip", "/next"])
        #expect(server.requests.allSatisfy { $0.headers.contains(name: "Authorization") })
        #expect(elsewhere.requests.count == 1)
        #expect(elsewhere.requests.allSatisfy { !$0.headers.contains(name: "Authorization") && $0.body == Self.offer })
      })
    await elsewhere.close()
  }

  @Test func `a redirect loop ends`() async throws {
    try await publish(
      { .reply(307, [("Location", $0.path == "/whip" ? "/b" : "/whip")]) },
      then: { result, _, server in
        #expect(failure(result) == .redirectLoop(WebAddress(server.url("/whip"))!))
        #expect(server.requests.count == 2)
      })
  }

  @Test(
    arguments: [
      (401, WHIPError.unauthorized(status: 401, hadToken: false)), (403, .unauthorized(status: 403, hadToken: false)),
      (404, .httpStatus(404, method: "POST", sentence: "")), (405, .httpStatus(405, method: "POST", sentence: "")),
      (500, .httpStatus(500, method: "POST", sentence: "")), (200, .httpStatus(200, method: "POST", sentence: "")),
      (302, .badRedirect(status: 302, location: nil)),
    ] as [(UInt, WHIPError)]) func `a status that refuses is told`(status: UInt, expected: WHIPError) async throws
  {
    try await publish({ _ in .reply(status) }, then: { result, _, _ in #expect(failure(result) == expected) })
  }

  @Test func `a server that says nothing is given up`() async throws {
    try await publish(
      timeout: 1, { _ in .silence },
      then: { result, _, server in
        #expect(failure(result) == .timeout(WebAddress(server.url("/whip"))!, seconds: 1))
      })
  }

  @Test func `a server that drips is given up`() async throws {
    try await publish(
      timeout: 1, { _ in .drip },
      then: { result, _, server in
        #expect(failure(result) == .timeout(WebAddress(server.url("/whip"))!, seconds: 1))
      })
  }

  @Test func `an answer without measure is refused`() async throws {
    try await publish(
      bodyLimit: 1000,
      { _ in
        .reply(
          201, [("Content-Type", "application/sdp"), ("Location", "/r")], body: String(repeating: "a", count: 5000))
      }, then: { result, _, _ in #expect(failure(result) == .tooLarge(limit: 1000)) })
  }

  @Test(arguments: ["hello", "\u{0}\u{1}", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 201 X\r\nA"])
  func `rubbish is the server's fault`(text: String) async throws {
    try await publish({ _ in .raw(text) }) { result, _, _ in
      #expect(failure(result)?.fault == .server)
      guard case .brokenAnswer = failure(result) else {
        Issue.record("\(result)")
        return
      }
    }
  }

  @Test func `a server that hangs up is told`() async throws {
    try await publish({ _ in .hangUp }) { result, _, _ in
      guard case .brokenAnswer = failure(result) else {
        Issue.record("\(result)")
        return
      }
    }
  }

  @Test func `nobody listening is told`() async throws {
    let server = try await ScriptedServer { _ in .silence }
    let url = server.url("/whip")
    await server.close()
    let client = WHIPClient()
    await #expect(throws: WHIPError.refused(WebAddress(url)!)) {
      try await client.publish(to: url, token: nil, offer: Self.offer)
    }
    let byName = url.replacing("127.0.0.1", with: "localhost")
    await #expect(throws: WHIPError.refused(WebAddress(byName)!)) {
      try await client.publish(to: byName, token: nil, offer: Self.offer)
    }
    await #expect(throws: WHIPError.unknownHost("nowhere.invalid")) {
      try await client.publish(to: "http://nowhere.invalid/whip", token: nil, offer: Self.offer)
    }
    await client.shutdown()
  }

  @Test func `an untrusted certificate is refused`() async throws {
    try await publish(tls: TestCertificate.identity, scheme: "https", { _ in Self.accepted }) { result, _, server in
      guard case .tls(_, let reason) = failure(result) else {
        Issue.record("\(result)")
        return
      }
      #expect(
        reason
          == "this machine does not trust the server's certificate; to trust it, name its PEM file in SSL_CERT_FILE")
      #expect(server.requests.isEmpty)
    }
  }

  /// Publishes by TLS to a server whose certificate is trusted.
  func publish(
    showing certificate: String, as identity: TLSIdentity, timeout: Int64 = 10,
    _ script: @escaping @Sendable (ScriptedServer.Request) -> ScriptedServer.Act,
    then check: (Result<WHIPPublication, WHIPError>, WHIPClient, ScriptedServer) async throws -> Void
  ) async throws {
    let file = "/tmp/rtcast-test-\(getpid()).pem"
    let handle = try #require(fopen(file, "w"))
    fputs(certificate, handle)
    fclose(handle)
    defer { unlink(file) }
    try await publish(timeout: timeout, tls: identity, scheme: "https", trust: file, script, then: check)
  }

  @Test func `a trusted one is not`() async throws {
    try await publish(showing: TestCertificate.certificate, as: TestCertificate.identity, { _ in Self.accepted }) {
      (result, client, server) async throws in
      let publication = try result.get()
      #expect(publication.resource.scheme == .https)
      _ = try await client.send(WHIPRequest(id: 9, .delete, publication.resource))
      #expect(server.requests.map(\.method) == ["POST", "DELETE"])
    }
  }

  @Test(arguments: [
    (TestCertificate.elsewhere, "the server's certificate is for another name"),
    (TestCertificate.expired, "the server's certificate has expired"),
  ]) func `a certificate whose name or time is wrong is refused although it is trusted`(
    certificate: String, reason: String
  ) async throws {
    try await publish(showing: certificate, as: TestCertificate.identity(of: certificate), { _ in Self.accepted }) {
      (result, _, server) async throws in
      guard case .tls(_, reason) = failure(result) else {
        Issue.record("\(result)")
        return
      }
      #expect(server.requests.isEmpty)
    }
  }

  /// An answer without a length is whole when the server says goodbye, and only then (RFC 9112 §9.8).
  @Test(arguments: [false, true]) func `an answer that is cut off is not taken for a whole one`(isCutOff: Bool)
    async throws
  {
    let text = "HTTP/1.1 201 Created\r\nContent-Type: application/sdp\r\nLocation: /r\r\n\r\nv=0\r\n"
    try await publish(
      showing: TestCertificate.certificate, as: TestCertificate.identity, { _ in isCutOff ? .cutOff(text) : .raw(text) }
    ) { (result, _, _) async throws in
      if isCutOff {
        #expect(failure(result) == .brokenAnswer("the server closed the connection in the middle of it"))
      } else {
        let publication = try result.get()
        #expect(publication.answer == "v=0\r\n")
      }
    }
  }

  @Test func `a server that takes the connection and never speaks TLS is given up`() async throws {
    let mute = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { $0.eventLoop.makeSucceededVoidFuture() }
      .bind(host: "127.0.0.1", port: 0).get()
    let address = try #require(WebAddress("https://127.0.0.1:\(mute.localAddress?.port ?? 0)/whip"))
    var configuration = WHIPClient.Configuration()
    configuration.timeout = 1
    let client = WHIPClient(configuration: configuration)
    await #expect(
      throws: WHIPError.tls(address, reason: "the TLS handshake took too long; the server may expect http:// or ws://")
    ) {
      try await client.publish(to: address.description, token: nil, offer: Self.offer)
    }
    await client.shutdown()
    try await mute.close()
  }

  @Test func `a file without certificates to trust is named`() async throws {
    var configuration = WHIPClient.Configuration()
    configuration.trustRootsFile = "/nowhere.pem"
    let client = WHIPClient(configuration: configuration)
    let address = try #require(WebAddress("https://127.0.0.1:1/whip"))
    await #expect(
      throws: WHIPError.tls(
        address, reason: "/nowhere.pem, the file of trusted certificates, has none or cannot be read; see SSL_CERT_FILE"
      )
    ) {
      try await client.publish(to: address.description, token: nil, offer: Self.offer)
    }
    await client.shutdown()
  }

  @Test func `speaking TLS to a server that does not is told`() async throws {
    try await publish(scheme: "https", { _ in Self.accepted }) { result, _, _ in
      guard case .tls(_, let reason) = failure(result) else {
        Issue.record("\(result)")
        return
      }
      #expect(reason == "the server does not speak TLS there; use http:// or ws:// if that is intended")
    }
  }

  @Test func `it publishes nothing to a WHEP server of ours`() async throws {
    try await Bench.run { bench in
      let client = WHIPClient()
      await #expect(throws: WHIPError.self) {
        try await client.publish(to: bench.server.link, token: nil, offer: Self.offer)
      }
      await client.shutdown()
    }
  }
}

extension WHIPClient {
  /// Sends an offer, and follows where it is redirected to.
  fileprivate func publish(
    to endpoint: String, token: String?, offer: String
  ) async throws(WHIPError) -> WHIPPublication {
    var exchange = try WHIPExchange(endpoint: endpoint, token: token)
    while true {
      let request = WHIPRequest(
        id: 1, .post, exchange.target, authorization: exchange.authorization, contentType: "application/sdp",
        body: offer)
      if case .published(let publication) = try exchange.receive(try await send(request)) { return publication }
    }
  }
}
