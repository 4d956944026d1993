import Glibc
import RTCPrimitives
import RTCSRTP
import Testing

/// A peer that has the right keys and sends from ever new sources.
@Suite struct ManySourcesTests {
  private static func report(_ source: UInt32) -> [UInt8] {
    [0x80, 201, 0, 1] + (0..<4).map { UInt8(truncatingIfNeeded: source >> UInt32(24 - 8 * $0)) }
  }

  /// The resident pages of this process, as the system counts them.
  private static func residentPages() -> Int {
    let file = open("/proc/self/statm", O_RDONLY)
    defer { close(file) }
    var text = [UInt8](repeating: 0, count: 200)
    let count = read(file, &text, text.count)
    return Int(String(decoding: text.prefix(max(0, count)), as: UTF8.self).split(separator: " ")[1]) ?? 0
  }

  @Test(arguments: SRTPProfile.allCases) func `ever new sources of media and reports cost no memory that grows`(
    _ profile: SRTPProfile
  ) throws {
    let keys = makeKeys(profile)
    var receiver = try SRTPSession(keys: keys.receiver)
    var used: [Int] = []
    for round in 0..<4 as Range<UInt32> {
      // The sender's own end would grow as well: each round has another one.
      var sender = try SRTPSession(keys: keys.sender)
      let packets = try (0..<2_500 as Range<UInt32>).map { number in
        let source = round * 10_000 + number
        return (try sender.protectedRTP(rtpPacket(1, ssrc: source)), try sender.protectedRTCP(Self.report(~source)))
      }
      for (media, report) in packets {
        _ = try receiver.openedRTP(media)
        _ = try receiver.openedRTCP(report)
        #expect(receiver.inboundSources <= PeerLimits.sources)
      }
      _ = consume sender
      used.append(Self.residentPages() * 4_096)
    }
    // 5,000 sources a round would be some megabytes.
    #expect(used[3] - used[1] < 2_000_000, "\(used)")
  }

  @Test func `who is heard keeps its replay window among ever new sources`() throws {
    var pair = try SRTPPair(.aeadAes128Gcm)
    var own: [[UInt8]] = []
    for number in 0..<1_000 as Range<UInt16> {
      let packet = try pair.sender.protectedRTP(rtpPacket(number + 1))
      own.append(packet)
      _ = try pair.receiver.openedRTP(packet)
      let other = try pair.sender.protectedRTP(rtpPacket(1, ssrc: UInt32(number) + 7))
      _ = try pair.receiver.openedRTP(other)
    }
    for packet in own.suffix(500) {
      #expect(throws: SRTPError.replayed) { () throws(SRTPError) in try pair.receiver.openedRTP(packet) }
    }
  }

  @Test func `a source starts afresh in the place of one that gave way`() throws {
    var pair = try SRTPPair(.aeadAes128Gcm)
    let report = [UInt8](Self.report(0))
    _ = try pair.receiver.openedRTCP(try pair.sender.protectedRTCP(report))
    for source in 0..<UInt32(PeerLimits.sources) {
      // Numbers that the one after the last has as well.
      for sequence in [60_000, 60_001] as [UInt16] {
        _ = try pair.receiver.openedRTP(try pair.sender.protectedRTP(rtpPacket(sequence, ssrc: source)))
      }
    }
    for sequence in [59_999, 60_000, 60_001] as [UInt16] {
      let packet = rtpPacket(sequence, ssrc: UInt32(PeerLimits.sources))
      #expect(try pair.receiver.openedRTP(try pair.sender.protectedRTP(packet)) == packet)
    }
    #expect(pair.receiver.inboundSources == PeerLimits.sources)
  }

  @Test func `a source that gave way is taken up again`() throws {
    var pair = try SRTPPair(.aeadAes128Gcm)
    for source in 0..<UInt32(PeerLimits.sources) + 1 {
      _ = try pair.receiver.openedRTP(try pair.sender.protectedRTP(rtpPacket(1, ssrc: source)))
    }
    #expect(pair.receiver.inboundSources == PeerLimits.sources)
    let next = rtpPacket(2, ssrc: 0)
    #expect(try pair.receiver.openedRTP(try pair.sender.protectedRTP(next)) == next)
    #expect(pair.receiver.inboundSources == PeerLimits.sources)
  }
}
