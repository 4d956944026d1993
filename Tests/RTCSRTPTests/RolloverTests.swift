import RTCPrimitives
import RTCSRTP
import Testing

/// Roll-over counters (ROC): sequence numbers that wrap, with loss, reordering and sources that come late.
@Suite struct RolloverTests {
  @Test(
    arguments: [
      // sequence number, highest index so far, index
      (0, nil, 0),
      (65_535, nil, 65_535),
      (11, 10, 11),
      (9, 10, 9),
      (32_778, 10, 32_778),
      // Nothing lies before the first ROC.
      (32_779, 10, 32_779),
      (65_535, 0, 65_535),
      (0, 65_535, 65_536),
      (32_766, 65_535, 65_536 + 32_766),
      (32_767, 65_535, 32_767),
      (65_535, 65_536, 65_535),
      (65_534, 65_537, 65_534),
      (32_768, 65_536, 65_536 + 32_768),
      (32_769, 65_536, 32_769),
      (5, 3 << 16 | 65_000, 4 << 16 | 5),
      (65_000, 3 << 16 | 5, 2 << 16 | 65_000),
    ] as [(UInt16, UInt64?, UInt64)])
  func `an index is the one nearest to the highest`(_ sequence: UInt16, highest: UInt64?, index: UInt64) throws {
    #expect(try PacketIndex.estimate(sequence, after: highest) == index)
  }

  @Test func `no index comes after the last`() throws {
    let last = PacketIndex.limit - 1
    #expect(try PacketIndex.estimate(65_535, after: last - 1) == last)
    #expect(throws: SRTPError.keyExpired) { () throws(SRTPError) in try PacketIndex.estimate(0, after: last) }
  }

  /// Packets as a network may bring them, around two roll-overs.
  @Test(arguments: SRTPProfile.allCases)
  func `loss and reordering around a roll-over lose no other packet`(_ profile: SRTPProfile) throws {
    var random = SeededGenerator(seed: 3)
    var pair = try SRTPPair(profile)
    var underway: [(packet: [UInt8], protected: [UInt8])] = []
    var opened = 0
    for start in [65_400, 65_400 + 32_000, 65_400 + 2 * 32_000, 2 * 65_536 - 136] {
      for number in start..<start + 272 {
        let packet = rtpPacket(UInt16(truncatingIfNeeded: number), payload: 20)
        let protected = try pair.sender.protectedRTP(packet)
        if random.next() % 5 == 0 { continue }
        underway.append((packet, protected))
        guard underway.count > 40 else { continue }
        let next = underway.remove(at: Int(random.next() % 40))
        #expect(try pair.receiver.openedRTP(next.protected) == next.packet)
        #expect(throws: SRTPError.replayed) { () throws(SRTPError) in try pair.receiver.openedRTP(next.protected) }
        opened += 1
      }
      for next in underway { #expect(try pair.receiver.openedRTP(next.protected) == next.packet) }
      underway = []
    }
    #expect(opened > 600)
  }

  @Test(arguments: SRTPProfile.allCases)
  func `the sender may go back over a roll-over within its window`(_ profile: SRTPProfile) throws {
    var pair = try SRTPPair(profile)
    for sequence in [65_534, 0, 65_535, 1] as [UInt16] {
      let packet = rtpPacket(sequence)
      #expect(try pair.receiver.openedRTP(try pair.sender.protectedRTP(packet)) == packet)
    }
    for sequence in [65_534, 0, 65_535, 1] as [UInt16] {
      #expect(throws: SRTPError.replayed) { () throws(SRTPError) in
        try pair.sender.protectedRTP(rtpPacket(sequence))
      }
    }
  }

  @Test(arguments: SRTPProfile.allCases)
  func `the same number after a roll-over is another packet`(_ profile: SRTPProfile) throws {
    var pair = try SRTPPair(profile)
    var seen: Set<[UInt8]> = []
    for round in 0..<3 {
      for sequence in [0, 20_000, 40_000, 60_000] as [UInt16] {
        let protected = try pair.sender.protectedRTP(rtpPacket(sequence))
        #expect(seen.insert(protected).inserted, "round \(round)")
        _ = try pair.receiver.openedRTP(protected)
      }
    }
    // What an earlier round sent is not taken for this one's.
    for old in seen { #expect(throws: SRTPError.self) { () throws(SRTPError) in try pair.receiver.openedRTP(old) } }
  }

  /// A receiver that joins late starts at ROC 0 (RFC 3711 §3.3.1): it hears a source that has not rolled over from any
  /// number on, and one that has not at all, without a trace.
  @Test(arguments: SRTPProfile.allCases)
  func `a source that is heard late opens as long as it has not rolled over`(_ profile: SRTPProfile) throws {
    var pair = try SRTPPair(profile)
    for sequence in [30_000, 60_000] as [UInt16] { _ = try pair.sender.protectedRTP(rtpPacket(sequence)) }
    let late = try pair.sender.protectedRTP(rtpPacket(60_001))
    #expect(try pair.receiver.openedRTP(late) == rtpPacket(60_001))
    // Heard before, it is followed over the roll-over.
    let after = try pair.sender.protectedRTP(rtpPacket(10))
    #expect(try pair.receiver.openedRTP(after) == rtpPacket(10))
    var other = try SRTPSession(keys: makeKeys(profile).receiver)
    #expect(throws: SRTPError.authenticationFailed) { () throws(SRTPError) in try other.openedRTP(after) }
    #expect(other.inboundSources == 0)
  }

  @Test(arguments: SRTPProfile.allCases) func `each source rolls over by itself`(_ profile: SRTPProfile) throws {
    var pair = try SRTPPair(profile)
    for sequence in [65_535, 0, 1] as [UInt16] {
      for ssrc in 1...3 as ClosedRange<UInt32> {
        // The second has no roll-over, the third is a packet ahead.
        let packet = rtpPacket(ssrc == 2 ? sequence &+ 100 : sequence &+ UInt16(ssrc - 1), ssrc: ssrc)
        #expect(try pair.receiver.openedRTP(try pair.sender.protectedRTP(packet)) == packet)
      }
    }
  }
}
