import RTCDTLS
import Testing

/// The certificates that a client trusts, and that a server may have.
@Suite struct TLSCertificateTests {
  private static let unknownCA: UInt8 = 48
  private static let badCertificate: UInt8 = 42

  @Test(arguments: [
    TLSHost.name("good.example"), .name("GOOD.example"), .name("good.example."), .name("a.wild.example"),
    .address("192.0.2.1"), .address("2001:db8:0::1"), .address("2001:db8::1%eth0"),
  ]) func `a certificate is good for each name and address in it`(host: TLSHost) throws {
    let pair = try TLSPair.make(host: host)
    pair.run()
    #expect(pair.clientEvents == [.connected])
    #expect(pair.serverEvents == [.connected])
  }

  @Test(arguments: [
    TLSHost.name("bad.example"), .name("good.example.org"), .name("x.good.example"), .name("example"),
    .name("wild.example"), .name("a.b.wild.example"), .name("192.0.2.1"), .address("192.0.2.2"),
    .address("2001:db8::2"),
  ]) func `it is good for no other host`(host: TLSHost) throws {
    let pair = try TLSPair.make(host: host)
    pair.run()
    #expect(pair.clientEvents == [.failed(.certificate(.wrongHost))])
    #expect(pair.serverEvents == [.failed(.alert(Self.badCertificate))])
    #expect(!pair.client.isConnected && !pair.server.isConnected)
  }

  @Test(arguments: [
    ("the common name alone", TLSFixtures.commonNameAlone, TLSFailure.CertificateFault.wrongHost),
    ("a wildcard within a label", TLSFixtures.partialWildcard, .wrongHost),
    ("expired", TLSFixtures.expired, .expired), ("not yet valid", TLSFixtures.notYetValid, .notYetValid),
  ]) func `what a certificate lacks is told`(
    what: String, certificate: String, fault: TLSFailure.CertificateFault
  ) throws {
    let pair = try TLSPair.make(chain: [certificate, TLSFixtures.intermediate])
    pair.run()
    #expect(pair.clientEvents == [.failed(.certificate(fault))])
    #expect(pair.serverEvents.failure != nil)
  }

  @Test(arguments: [
    ("vouches for itself", [TLSFixtures.selfSigned], [TLSFixtures.root]),
    ("without what lies between", [TLSFixtures.good], [TLSFixtures.root]),
    ("of an authority nobody knows", [TLSFixtures.good, TLSFixtures.intermediate], [TLSFixtures.selfSigned]),
  ]) func `a chain that leads to no trusted root is refused`(what: String, chain: [String], roots: [String]) throws {
    let pair = try TLSPair.make(chain: chain, roots: roots)
    pair.run()
    #expect(pair.clientEvents == [.failed(.certificate(.untrusted))])
    #expect(pair.serverEvents == [.failed(.alert(Self.unknownCA))])
  }

  @Test(arguments: [
    ("a root's namesake", [TLSFixtures.good, TLSFixtures.intermediate], [TLSFixtures.otherRoot]),
    ("signed by a server", [TLSFixtures.byServer, TLSFixtures.good, TLSFixtures.intermediate], [TLSFixtures.root]),
    ("made for clients", [TLSFixtures.forClients, TLSFixtures.intermediate], [TLSFixtures.root]),
  ]) func `a chain with an unfit link is refused`(what: String, chain: [String], roots: [String]) throws {
    let pair = try TLSPair.make(chain: chain, roots: roots)
    pair.run()
    guard case .certificate = pair.clientEvents.failure else { return #expect(pair.clientEvents.isEmpty) }
    #expect(pair.clientEvents.count == 1)
    #expect(pair.serverEvents.failure != nil)
  }

  @Test func `one that vouches for itself is good where it is trusted itself`() throws {
    let pair = try TLSPair.make(chain: [TLSFixtures.selfSigned], roots: [TLSFixtures.selfSigned])
    pair.run()
    #expect(pair.clientEvents == [.connected])
    let elsewhere = try TLSPair.make(
      chain: [TLSFixtures.selfSigned], roots: [TLSFixtures.selfSigned], host: .name("bad.example"))
    elsewhere.run()
    #expect(elsewhere.clientEvents == [.failed(.certificate(.wrongHost))])
  }

  @Test func `this machine's own roots vouch for none of these`() throws {
    let context = try TLSContext(trusting: .system)
    let pair = TLSPair(
      client: try TLSSession(context, to: .name("good.example")),
      server: try TLSSession(try TLSPair.server(chain: [TLSFixtures.good, TLSFixtures.intermediate])))
    pair.run()
    #expect(pair.clientEvents == [.failed(.certificate(.untrusted))])
  }

  @Test func `an application that judges by itself decides alone`() throws {
    var seen: [[UInt8]] = []
    let taken = try TLSPair.make(
      chain: [TLSFixtures.expired], roots: [TLSFixtures.otherRoot], host: .name("bad.example")
    ) {
      seen.append($0)
      return true
    }
    taken.run()
    #expect(taken.clientEvents == [.connected])
    let expected = try WebCertificate(parsing: Array(TLSFixtures.expired.utf8)).fingerprint
    #expect(seen.map { WebCertificate.fingerprint(der: $0) } == [expected])
    let refused = try TLSPair.make { _ in false }
    refused.run()
    #expect(refused.clientEvents == [.failed(.certificate(.refused))])
  }

  @Test func `a server shows nothing that cannot hold`() throws {
    #expect(throws: TLSConfigurationError.keyOfAnotherCertificate) {
      try TLSPair.server(chain: [TLSFixtures.good], key: TLSFixtures.otherPrivateKey)
    }
    #expect(throws: TLSConfigurationError.noPrivateKey) {
      try TLSPair.server(chain: [TLSFixtures.good], key: TLSFixtures.good)
    }
    #expect(throws: TLSConfigurationError.noCertificate) { try TLSPair.server(chain: [TLSFixtures.privateKey]) }
    #expect(throws: TLSConfigurationError.noCertificate) {
      try TLSPair.server(chain: [
        TLSFixtures.good, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
      ])
    }
    #expect(throws: TLSConfigurationError.weakCertificate) {
      try TLSPair.server(chain: [TLSFixtures.weak], key: TLSFixtures.weakPrivateKey)
    }
  }

  @Test func `a file without certificates is no trust`() throws {
    #expect(throws: TLSConfigurationError.noTrustRoots(file: "/nowhere")) {
      try TLSContext(trusting: .file("/nowhere"))
    }
    _ = try TLSPair.withFile("nothing") { path in
      #expect(throws: TLSConfigurationError.noTrustRoots(file: path)) { try TLSContext(trusting: .file(path)) }
    }
  }

  @Test(arguments: [TLSHost.name(""), .name("."), .address("300.1.1.1"), .address("x")])
  func `a host that no certificate can name is not connected to`(host: TLSHost) throws {
    #expect(throws: TLSConfigurationError.self) { try TLSPair.make(host: host) }
  }
}
