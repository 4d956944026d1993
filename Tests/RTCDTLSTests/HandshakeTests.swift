import RTCDTLS
import RTCPrimitives
import Testing

@Suite struct HandshakeTests {
  @Test func `both sides connect with each other's keys`() throws {
    let pair = try makePair()
    pair.run()
    let client = try #require(pair.keys(.client))
    let server = try #require(pair.keys(.server))
    #expect(client.profile == .aeadAes128Gcm && server.profile == .aeadAes128Gcm)
    #expect(client.local == server.remote && client.remote == server.local && client.local != client.remote)
    #expect(client.local.key.count == 16 && client.local.salt.count == 12)
    #expect(pair.events[.client]!.count == 1 && pair.events[.server]!.count == 1)
    #expect(pair.now == .zero + .milliseconds(40))  // two round trips, nothing sent twice
    #expect(pair.client.nextDeadline == .distantFuture && pair.server.nextDeadline == .distantFuture)
  }

  @Test func `the server takes gcm even when the client prefers counter mode`() throws {
    let pair = try makePair(clientProfiles: [.aes128CmSha1_80, .aeadAes128Gcm])
    pair.run()
    #expect(pair.keys(.client)?.profile == .aeadAes128Gcm)
  }

  @Test(arguments: [VirtualPair.Side.client, .server]) func `a peer without gcm gets counter mode`(
    _ side: VirtualPair.Side
  ) throws {
    let old: [SRTPProfile] = [.aes128CmSha1_80]
    let pair =
      side == .client ? try makePair(clientProfiles: old) : try makePair(serverProfiles: old)
    pair.run()
    let client = try #require(pair.keys(.client))
    let server = try #require(pair.keys(.server))
    #expect(client.profile == .aes128CmSha1_80)
    #expect(client.local == server.remote && client.remote == server.local)
    #expect(client.local.key.count == 16 && client.local.salt.count == 14)
  }

  @Test func `no common profile fails both sides`() throws {
    let pair = try makePair(clientProfiles: [.aes128CmSha1_80], serverProfiles: [.aeadAes128Gcm])
    pair.run()
    #expect(pair.events[.client] == [.failed(.noCommonSRTPProfile)])
    #expect(pair.events[.server] == [.failed(.noCommonSRTPProfile)])
  }

  @Test func `datagrams stay within the mtu when flights are split`() throws {
    let whole = try makePair()
    whole.run()
    #expect(whole.datagramSizes.max()! <= 1200)
    let split = try makePair(maximumDatagramSize: 256)
    split.run()
    #expect(split.datagramSizes.max()! <= 256)
    #expect(split.datagramSizes.count > whole.datagramSizes.count)
    #expect(split.keys(.client) != nil && split.keys(.server) != nil)
  }
}
