import FuzzSCTPBody
import RTCPrimitives
import RTCSCTP
import RTCTestKit
import RTCWire
import Testing

/// No packet is longer than was agreed on: it is all that bounds the path MTU that SCTP asks for (RFC 8831 §5).
@Suite struct PacketSizeTests {
  @Test(arguments: [1_160, 700], [false, true]) func `no packet is longer than the path bears, whatever goes into it`(
    packetSize: Int, interleaves: Bool
  ) throws {
    var options = DataChannelOptions()
    options.packetSize = packetSize
    options.interleavesMessages = interleaves
    var conditions = NetworkConditions.delayed(.milliseconds(30))
    conditions.loss = 0.3
    conditions.jitter = .milliseconds(20)
    conditions.reorders = true
    let pair = VirtualPair(seed: 9, conditions: conditions, options: options)
    pair.keepsPackets = false
    pair.start()
    // Many streams that are skipped, and reset, at once; and acknowledgements with many gaps.
    let channels = try (0..<400).map {
      try pair.open(DataChannelParameters(label: "\($0)", reliability: .maximumRetransmissions(0)), on: .client)
    }
    pair.run(for: .seconds(60), until: { pair.incoming(at: .server).count == channels.count })
    #expect(pair.incoming(at: .server).count == channels.count)
    for round in 0..<4 {
      for channel in channels where pair.bufferedAmount(of: channel, on: .client) == 0 {
        try pair.send(.binary([UInt8](repeating: 1, count: 1 + round * 1_500)), on: channel, from: .client)
      }
      pair.run(for: .seconds(5))
    }
    for channel in channels { try pair.close(channel, on: .client) }
    pair.run(for: .seconds(120))
    #expect(channels.allSatisfy { pair.events[.client]!.contains(.closed($0)) })
    // Filled to the last word or two.
    #expect((packetSize - 8...packetSize).contains(pair.longestPacket))
  }

  @Test func `what a peer wants answered does not make a packet longer`() {
    var peer = ForgedClient()
    let limit = peer.server.options.packetSize
    // HEARTBEAT, an unknown chunk that is to be reported, and gaps beyond number.
    for size in [1_000, limit - 16, limit - 12, limit, 20_000] {
      for type in [4, 0x7F, 0xFF] as [UInt8] {
        let bytes = [UInt8](repeating: 7, count: size - 4)
        peer.send(chunks: [type, 0, UInt8(size >> 8), UInt8(size & 0xFF)] + bytes)
      }
    }
    let first = peer.nextTSN
    for i in 0..<2_000 as Range<UInt32> {
      peer.sendData([1], flags: 3, stream: 0, number: 0, protocol: 53, tsn: first &+ 1 &+ 2 * i)
    }
    #expect((500...limit).contains(peer.longestPacket))
  }
}
