import FuzzSCTPBody
import RTCPrimitives
import RTCSCTP
import RTCWire
import Testing

/// The cost of reassembling messages, in steps, with fragments in any order.
@Suite struct ReassemblyCostTests {
  /// How the fragments of a message arrive.
  enum Order: CaseIterable { case forward, reverse, oddsFirst, shuffled }

  private func numbers(_ count: Int, _ order: Order) -> [Int] {
    switch order {
    case .forward: return Array(0..<count)
    case .reverse: return (0..<count).reversed()
    case .oddsFirst: return Array(stride(from: 1, to: count, by: 2)) + Array(stride(from: 0, to: count, by: 2))
    case .shuffled:
      var random = SeededGenerator(seed: 3)
      return (0..<count).shuffled(using: &random)
    }
  }

  private func channel(interleaves: Bool) -> ForgedClient {
    var peer = ForgedClient(interleaves: interleaves)
    var bytes = [UInt8](repeating: 0, count: DataChannelOpen(label: "").size)
    var writer = ByteWriter(bytes.mutableSpan)
    DataChannelOpen(label: "").write(into: &writer)
    peer.sendData(bytes, flags: 3, stream: 0, number: 0, protocol: 50)
    return peer
  }

  @Test(arguments: Order.allCases, [false, true])
  func `B11: each fragment costs the same however many wait`(order: Order, interleaves: Bool) {
    var peer = channel(interleaves: interleaves)
    let (count, first) = (order == .reverse || order == .forward ? 5_000 : 1_800, peer.nextTSN)
    for number in numbers(count, order) {
      let flags = (number == 0 ? ForgedClient.begins : 0) | (number == count - 1 ? ForgedClient.ends : 0)
      peer.sendData(
        [UInt8(truncatingIfNeeded: number)], flags: flags, stream: 0, number: 1, protocol: 53,
        tsn: first &+ UInt32(number), fragment: UInt32(number))
    }
    let whole = DataChannelMessage.binary((0..<count).map { UInt8(truncatingIfNeeded: $0) })
    #expect(peer.events.contains { if case .message(_, whole) = $0 { true } else { false } })
    #expect(peer.server.reassemblySteps <= 4 * count, "\(peer.server.reassemblySteps)")
  }

  @Test(arguments: [false, true])
  func `B11: fragments without a beginning cost the same however many wait`(interleaves: Bool) {
    var peer = channel(interleaves: interleaves)
    let first = peer.nextTSN
    for number in (1...5_000).reversed() {
      peer.sendData(
        [7], flags: 0, stream: 0, number: 1, protocol: 53, tsn: first &+ UInt32(number), fragment: UInt32(number))
    }
    #expect(peer.server.reassemblySteps <= 2 * 5_000, "\(peer.server.reassemblySteps)")
  }

  @Test(arguments: [false, true])
  func `B11: skipping forward costs no more than what it passes`(interleaves: Bool) {
    var peer = channel(interleaves: interleaves)
    let first = peer.nextTSN
    // Far ahead, so that no skip passes them.
    for number in 0..<1_000 {
      let distance = 30_000 + 2 * number
      peer.sendData(
        [7], flags: ForgedClient.begins, stream: 0, number: UInt16(truncatingIfNeeded: distance), protocol: 53,
        tsn: first &+ UInt32(distance))
    }
    let before = peer.server.reassemblySteps
    for number in 1...500 as ClosedRange<UInt32> {
      peer.forward(to: first &+ number, stream: 0, number: UInt16(number))
    }
    // Incomplete messages of I-DATA are looked at by each: there are at most 2,048 of them.
    let limit = interleaves ? 500 * 1_010 : 500 * 4
    #expect(peer.server.reassemblySteps - before <= limit, "\(peer.server.reassemblySteps - before)")
  }

  @Test func `B11: incomplete messages of I-DATA are limited in number`() {
    var peer = channel(interleaves: true)
    let first = peer.nextTSN
    for number in 1...4_000 as ClosedRange<UInt16> {
      peer.sendData([7], flags: ForgedClient.begins, stream: 0, number: number, protocol: 53)
    }
    peer.pass(.seconds(1))
    #expect(peer.acknowledged &- first < 2_048)
    #expect(peer.server.nextDeadline != .distantFuture)
  }

  @Test func `B1: one packet has what was sent looked through twice and no more`() {
    var peer = ForgedClient()
    peer.openOnServer(DataChannelParameters())
    let before = peer.server.brokenPackets
    var chunk = [UInt8](repeating: 0, count: SCTPSelectiveAck.size(gapBlocks: 0, duplicates: 0))
    var writer = ByteWriter(chunk.mutableSpan)
    SCTPSelectiveAck.write(
      cumulativeTSN: TSN(peer.lastServerTSN), receiverWindow: 9_000, gapBlocks: [SCTPSelectiveAck.GapBlock]().span,
      duplicates: [TSN]().span, into: &writer)
    peer.send(chunks: Array(repeatElement(chunk, count: 50).joined()))
    #expect(peer.server.brokenPackets - before == 48)
    #expect(peer.server.nextDeadline != .distantFuture)
  }
}
