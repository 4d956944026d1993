import FuzzSCTPBody
import RTCPrimitives
import RTCSCTP
import RTCWire
import Testing

/// Forged packets of a peer: no crash, no loop, no more memory than negotiated, and the association continues.
@Suite struct ForgedPacketTests {
  private typealias Block = SCTPSelectiveAck.GapBlock

  /// Lets the server have much under way, on a channel of its own.
  private func makeSend(_ peer: inout ForgedClient) -> DataChannelHandle? {
    peer.openOnServer(DataChannelParameters())
    guard case .opened(let handle)? = peer.events.last(where: { if case .opened = $0 { true } else { false } }) else {
      return nil
    }
    peer.acknowledge()
    peer.sendFromServer(.binary([UInt8](repeating: 1, count: 100_000)), on: handle)
    return handle
  }

  @Test func `acknowledgements of what was never sent change nothing`() throws {
    var peer = ForgedClient()
    let opened = makeSend(&peer)
    let handle = try #require(opened)
    // The first one lets what the window still has room for leave, as any packet does.
    peer.acknowledge(cumulative: peer.lastServerTSN &+ 5_000, gaps: [])
    let (last, waits) = (peer.lastServerTSN, peer.server.bufferedAmount(of: handle))
    for distance in [1, 2, 1_000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_F000] as [UInt32] {
      peer.acknowledge(cumulative: last &+ distance, gaps: [])
    }
    #expect(peer.server.bufferedAmount(of: handle) == waits && peer.lastServerTSN == last)
    // The true one is still believed.
    peer.acknowledge()
    #expect(peer.lastServerTSN != last)
  }

  @Test func `gap blocks that overlap, go back or point anywhere cost no more than their bytes`() {
    var peer = ForgedClient()
    let opened = makeSend(&peer)
    #expect(opened != nil)
    let first = peer.lastServerTSN &- 9
    let absurd = [
      Block(start: 0, end: 0), Block(start: 65_535, end: 0), Block(start: 3, end: 65_535), Block(start: 1, end: 2),
    ]
    let many = (0..<16_000).map { absurd[$0 % absurd.count] }
    for _ in 0..<20 { peer.acknowledge(cumulative: first, gaps: many) }
    peer.acknowledge(cumulative: first, gaps: absurd, duplicates: (0..<2_000).map { TSN(UInt32($0)) })
    peer.pass(.seconds(1))
    #expect(peer.server.nextDeadline != .distantFuture)
  }

  @Test func `what was reported lost and then acknowledged leaves nothing under way`()
    throws
  {
    var peer = ForgedClient()
    let opened = makeSend(&peer)
    let handle = try #require(opened)
    for _ in 0..<400 where peer.server.bufferedAmount(of: handle) > 0 {
      peer.acknowledge(cumulative: peer.lastServerTSN &- 4, gaps: [Block(start: 2, end: 3)], window: 1 << 20)
      peer.acknowledge(window: 1 << 20)
    }
    peer.acknowledge(window: 1 << 20)
    #expect(peer.server.bufferedAmount(of: handle) == 0)
    let count = peer.packetCount
    peer.pass(.seconds(5))
    #expect(peer.packetCount == count)
  }

  @Test(arguments: [false, true]) func `jumps by FORWARD TSN are taken while they are near`(interleaves: Bool) {
    var peer = ForgedClient(interleaves: interleaves)
    let first = peer.nextTSN
    peer.forward(to: first &+ 0x4000_0000, stream: 0, number: 60_000)
    peer.nextTSN = first
    peer.sendData([1], flags: 3, stream: 3, number: 0, protocol: 53)
    #expect(peer.acknowledged == first || peer.acknowledged == first &- 1)
    for _ in 0..<200 { peer.forward(to: peer.nextTSN &+ 30_000, stream: 5, number: 65_535) }
    peer.pass(.seconds(1))
    #expect(peer.acknowledged == peer.nextTSN &- 1)
    #expect(peer.server.nextDeadline != .distantFuture)
  }

  @Test func `chunks on thousands of streams are refused beyond those agreed on`() {
    var options = DataChannelOptions()
    options.maximumStreams = 16
    var peer = ForgedClient(options: options)
    for stream in 0..<10_000 {
      peer.sendData([1], flags: 3, stream: UInt16(stream), number: 0, protocol: 51)
    }
    peer.pass(.seconds(1))
    #expect(peer.server.brokenPackets >= 9_900 && peer.acknowledged == peer.nextTSN &- 1)
  }

  @Test func `unknown chunks are treated by their highest bits`() {
    var peer = ForgedClient()
    let data = ForgedClient.bytes(
      of: SCTPData(
        tsn: TSN(peer.nextTSN), stream: StreamID(1), isUnordered: false, isBeginning: true, isEnd: true,
        isImmediate: true, messageNumber: 0, fragmentNumber: 0, payloadProtocol: 53, isInterleaved: false),
      payload: [1, 2, 3, 4])
    let first = peer.nextTSN
    for (type, isRead) in [(63, false), (127, false), (191, true)] as [(UInt8, Bool)] {
      peer.send(chunks: [type, 0, 0, 4] + data)
      peer.pass(.seconds(1))
      #expect((peer.acknowledged == first) == isRead)
    }
    // Reported once a packet, however many there are.
    let before = peer.packetCount
    peer.send(chunks: (0..<10_000).flatMap { _ in [255, 0, 0, 4] as [UInt8] })
    #expect(peer.packetCount == before + 1)
  }

  @Test func `many small requests in a packet are not many answers`() {
    var peer = ForgedClient()
    let before = peer.packetCount
    peer.send(chunks: (0..<10_000).flatMap { _ in [4, 0, 0, 4] as [UInt8] })
    #expect(peer.packetCount - before <= 1)
  }

  @Test func `data without data, and chunks of no length, are passed over`() {
    var peer = ForgedClient()
    peer.sendData([], flags: 3, stream: 0, number: 0, protocol: 53)
    for type in 0...255 { peer.send(chunks: [UInt8(type), 0, 0, 0]) }
    for type in 0...255 where ![6, 7, 8, 14].contains(type) { peer.send(chunks: [UInt8(type), 255, 0, 4]) }
    #expect(peer.events == [.connected])
    #expect(peer.server.nextDeadline != .distantFuture)
  }

  @Test func `interleaved messages that never end fill the receive buffer and no more`() {
    var peer = ForgedClient(interleaves: true)
    let first = peer.nextTSN
    let block = [UInt8](repeating: 7, count: 1_000)
    for i in 0..<20_000 {
      peer.sendData(
        block, flags: ForgedClient.begins, stream: UInt16(i % 1_000), number: UInt16(i / 1_000), protocol: 53)
    }
    peer.pass(.seconds(1))
    #expect(Int(peer.acknowledged &- first) * 1_000 <= peer.server.options.receiveBuffer && peer.window < 2_000)
    // What it gives up makes room again.
    for stream in 0..<1_000 { peer.forward(to: peer.nextTSN, stream: UInt16(stream), number: 20) }
    peer.pass(.seconds(1))
    #expect(peer.window > 500_000)
  }

  @Test func `one fragment a thousand times over takes one place`() {
    var peer = ForgedClient(interleaves: true)
    for i in 0..<5_000 {
      peer.sendData([1, 2, 3], flags: 0, stream: 1, number: 0, protocol: 53, fragment: UInt32(i % 3) * 0x7FFF_FFFF)
    }
    peer.pass(.seconds(1))
    #expect(peer.acknowledged == peer.nextTSN &- 1 && peer.window > 900_000)
  }

  @Test func `resets without end are answered one for one, and a receiver that rests takes a few`() {
    var peer = ForgedClient()
    peer.setReceiving(false)
    for _ in 0..<2_000 { peer.sendReset(of: [0, 1, 2]) }
    peer.setReceiving(true)
    #expect(peer.server.nextDeadline != .distantFuture)
    let before = peer.packetCount
    for _ in 0..<1_000 { peer.sendReset(of: [0]) }
    #expect(peer.packetCount - before <= 1_000)
  }
}
