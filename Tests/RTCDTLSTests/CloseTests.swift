import RTCDTLS
import Testing

@Suite struct CloseTests {
  @Test(arguments: [VirtualPair.Side.client, .server]) func `the peer hears the goodbye`(_ side: VirtualPair.Side)
    throws
  {
    let pair = try makePair()
    pair.run()
    pair.close(side)
    pair.settle()
    #expect(pair.events[side.other]!.last == .closedByPeer)
    #expect(pair.events[side]!.count == 1)
    #expect(throws: DTLSSendError.notConnected) { try pair.send([1], from: side.other) }
  }

  @Test func `closing before the handshake is silent and final`() throws {
    let pair = try makePair()
    pair.close(.client)
    pair.close(.client)
    pair.run()
    #expect(pair.datagramSizes.isEmpty && pair.events[.client] == [])
  }
}
