import RTCDTLS
import RTCPrimitives
import Testing

@Suite struct FingerprintTests {
  let wrong = CertificateFingerprint(sha256: [UInt8](repeating: 0xA5, count: 32))!
  let badCertificate: DTLSEvent = .failed(.alert(42))

  @Test func `the client refuses a server with another certificate`() throws {
    let pair = try makePair(clientExpects: [wrong])
    pair.run()
    #expect(pair.events[.client] == [.failed(.fingerprintMismatch)])
    #expect(pair.events[.server] == [badCertificate])
  }

  @Test func `the server refuses a client with another certificate`() throws {
    let pair = try makePair(serverExpects: [wrong])
    pair.run()
    #expect(pair.events[.server] == [.failed(.fingerprintMismatch)])
    #expect(pair.events[.client] == [badCertificate])
  }

  @Test func `no expected fingerprint fits nobody`() throws {
    let pair = try makePair(serverExpects: [])
    pair.run()
    #expect(pair.keys(.client) == nil && pair.keys(.server) == nil)
  }

  @Test func `one of several fingerprints is enough`() throws {
    let pair = try makePair(serverExpects: [wrong, clientCertificate.fingerprint])
    pair.run()
    #expect(pair.keys(.server) != nil)
  }

  @Test func `a handshake ahead of the description waits for it`() throws {
    let pair = try makePair(serverExpects: nil)
    pair.run()
    #expect(pair.keys(.client) != nil)
    #expect(pair.events[.server] == [])
    try pair.send([1, 2, 3], from: .client)
    pair.settle()
    #expect(pair.events[.server] == [])
    pair.expect([clientCertificate.fingerprint], at: .server)
    #expect(pair.keys(.server)?.remote == pair.keys(.client)?.local)
  }

  @Test func `a handshake ahead of a foreign description is refused`() throws {
    let pair = try makePair(serverExpects: nil)
    pair.run()
    pair.expect([wrong], at: .server)
    pair.settle()
    #expect(pair.events[.server] == [.failed(.fingerprintMismatch)])
    #expect(pair.events[.client]!.last == .closedByPeer)
  }

  @Test func `is written as in SDP`() throws {
    let fingerprint = clientCertificate.fingerprint
    let text = fingerprint.digits
    #expect(text.utf8.count == 95 && text == text.uppercased())
    #expect(text.split(separator: ":").map { UInt8($0, radix: 16) } == fingerprint.bytes)
    #expect(serverCertificate.fingerprint != fingerprint)
    #expect(CertificateFingerprint(sha256: [1, 2]) == nil)
  }
}
