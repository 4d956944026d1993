import LibSRTPKit
import RTCPrimitives
import RTCSRTP
import Testing

/// Ours and libsrtp2, which browsers have, on the same packets: they write the same bytes, and each opens what the other
/// protected.
@Suite struct LibSRTPDifferenceTests {
  /// RTP of any form: CSRCs, an extension, a payload of any length; numbers that go forth, back and over the end.
  struct Packets {
    var random: SeededGenerator
    var next: [UInt32: UInt16] = [:]

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) } }

    mutating func rtp() -> [UInt8] {
      let source = UInt32(random.next() % 5) &+ 0xFFFF_FFFD
      let number = next[source] ?? UInt16(truncatingIfNeeded: random.next())
      // Steps of one mostly, at times of thousands.
      next[source] = number &+ (random.next() % 4 == 0 ? UInt16(random.next() % 9_000) : 1)
      let (csrcs, words) = (Int(random.next() % 16), Int(random.next() % 12))
      let isExtended = random.next() % 2 == 0
      var packet: [UInt8] = [0x80 | (isExtended ? 0x10 : 0) | UInt8(csrcs), UInt8(truncatingIfNeeded: random.next())]
      packet += [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
      packet += bytes(4) + (0..<4).map { UInt8(truncatingIfNeeded: source >> UInt32(24 - 8 * $0)) } + bytes(4 * csrcs)
      if isExtended { packet += bytes(2) + [0, UInt8(words)] + bytes(4 * words) }
      return packet + bytes(Int(random.next() % 1_300))
    }

    mutating func rtcp() -> [UInt8] {
      [0x80 | UInt8(random.next() % 32), UInt8(200 + random.next() % 8)] + bytes(2) + [
        0, 0, 0, UInt8(random.next() % 4),
      ]
        + bytes(4 * Int(random.next() % 300))
    }
  }

  @Test(arguments: SRTPProfile.allCases)
  func `both write the same packets and open each other's`(_ profile: SRTPProfile) throws {
    for seed in 1...4 as ClosedRange<UInt64> {
      let keys = makeKeys(profile)
      var packets = Packets(seed: seed)
      var ours = try SRTPPair(profile)
      let (theirSender, theirReceiver) = (
        try LibSRTPSession(keys: keys.sender), try LibSRTPSession(keys: keys.receiver)
      )
      for number in 0..<1_500 {
        let packet = packets.rtp()
        let protected = try ours.sender.protectedRTP(packet)
        #expect(try theirSender.protectedRTP(packet) == protected, "seed \(seed), packet \(number)")
        guard packets.random.next() % 3 != 0 else { continue }  // lost
        #expect(try theirReceiver.openedRTP(protected) == packet, "seed \(seed), packet \(number)")
        #expect(try ours.receiver.openedRTP(protected) == packet, "seed \(seed), packet \(number)")
      }
    }
  }

  @Test(arguments: SRTPProfile.allCases)
  func `both open each other's reports`(_ profile: SRTPProfile) throws {
    let keys = makeKeys(profile)
    var packets = Packets(seed: 5)
    var ours = try SRTPPair(profile)
    let (theirSender, theirReceiver) = (try LibSRTPSession(keys: keys.sender), try LibSRTPSession(keys: keys.receiver))
    // libsrtp2 counts a source's reports from 1 on.
    for source in 0..<4 as Range<UInt8> { _ = try ours.sender.protectedRTCP([0x80, 201, 0, 1, 0, 0, 0, source]) }
    for number in 0..<1_000 {
      let packet = packets.rtcp()
      let protected = try ours.sender.protectedRTCP(packet)
      #expect(try theirSender.protectedRTCP(packet) == protected, "report \(number)")
      guard packets.random.next() % 3 != 0 else { continue }  // lost
      #expect(try theirReceiver.openedRTCP(protected) == packet, "report \(number)")
      #expect(try ours.receiver.openedRTCP(protected) == packet, "report \(number)")
    }
  }

  /// Reordered, doubled, cut and changed: both take a packet, or neither does.
  @Test(arguments: SRTPProfile.allCases)
  func `both refuse the same packets`(_ profile: SRTPProfile) throws {
    for seed in 1...4 as ClosedRange<UInt64> {
      let keys = makeKeys(profile)
      var packets = Packets(seed: 100 + seed)
      var ours = try SRTPPair(profile)
      let theirs = try LibSRTPSession(keys: keys.receiver)
      var sent: [[UInt8]] = []
      var (taken, refused) = (0, 0)
      for number in 0..<2_000 {
        sent.append(try ours.sender.protectedRTP(packets.rtp()))
        var packet = sent[sent.count - 1 - Int(packets.random.next() % UInt64(min(sent.count, 60)))]
        switch packets.random.next() % 8 {
        case 0: packet.removeLast(min(packet.count, Int(packets.random.next() % 40)))
        case 1: packet[Int(packets.random.next() % UInt64(packet.count))] ^= 1 << UInt8(packets.random.next() % 8)
        default: break
        }
        let mine = try? ours.receiver.openedRTP(packet)
        #expect(mine == (try? theirs.openedRTP(packet)), "seed \(seed), packet \(number)")
        if mine == nil { refused += 1 } else { taken += 1 }
      }
      #expect(taken > 500 && refused > 300)
    }
  }
}

extension LibSRTPSession {
  fileprivate func protectedRTP(_ packet: [UInt8]) throws(Failure) -> [UInt8] {
    var room = packet + [UInt8](repeating: 0, count: Self.headroom)
    var span = room.mutableSpan
    let count = try protectRTP(&span, count: packet.count)
    return Array(room[..<count])
  }

  fileprivate func protectedRTCP(_ packet: [UInt8]) throws(Failure) -> [UInt8] {
    var room = packet + [UInt8](repeating: 0, count: Self.headroom)
    var span = room.mutableSpan
    let count = try protectRTCP(&span, count: packet.count)
    return Array(room[..<count])
  }

  fileprivate func openedRTP(_ packet: [UInt8]) throws(Failure) -> [UInt8] {
    var room = packet
    var span = room.mutableSpan
    let count = try unprotectRTP(&span)
    return Array(room[..<count])
  }

  fileprivate func openedRTCP(_ packet: [UInt8]) throws(Failure) -> [UInt8] {
    var room = packet
    var span = room.mutableSpan
    let count = try unprotectRTCP(&span)
    return Array(room[..<count])
  }
}
