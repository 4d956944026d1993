import RTCEngine
import RTCPrimitives
import RTCWire
import Testing

/// `FECEncoder`, `FECDecoder` and `FECController`, without peers.
@Suite struct FECMachines {
  private static let ssrc = SSRC(7)
  private static let flexFEC = FECFormat.flexFEC(PayloadType(49))
  private static let ulpfec = FECFormat.ulpfec(PayloadType(120), red: PayloadType(118))

  /// Frames of `packets` packets with `repair` repair packets each, over a path that loses at random.
  private struct Trial {
    var map = RTPHeaderExtensionMap()
    var broken = 0
    var wrong = 0
    var recovered = 0

    init(_ format: FECFormat, packets: Int, repair: Int, loss: Double, frames: Int) {
      map[.absSendTime] = 2
      map[.transportSequenceNumber] = 4
      var random = SeededGenerator(seed: 11)
      var encoder = FECEncoder()
      var decoder = FECDecoder(ssrc: FECMachines.ssrc)
      func isLost() -> Bool { Double(random.next() >> 11) / Double(1 << 53) < loss }
      var number = SequenceNumber(65_000)
      for frame in 0..<frames {
        encoder.begin(repairPackets: repair)
        var sent: [SequenceNumber: [UInt8]] = [:]
        var whole = 0
        for index in 0..<packets {
          let isRED = format == FECMachines.ulpfec
          let (bytes, red) = media(number, frame, isLast: index == packets - 1, isRED: isRED, &random)
          encoder.add(bytes.span, number: number, timestamp: RTPTimestamp(UInt32(frame)), red: red)
          var plain = bytes
          if let red { plain[1] = plain[1] & 0x80 | plain.remove(at: red) }
          sent[number] = plain
          if !isLost() {
            whole += 1
            // What is filled in as a packet leaves is no part of the protection.
            var left = bytes
            for place in [17, 18, 19, 21, 22] { left[place] = UInt8(truncatingIfNeeded: random.next()) }
            decoder.addMedia(RTPHeader(parsing: left.span)!, in: left.span, map: map, isRED: isRED)
          }
          number = number.advanced(by: 1)
        }
        encoder.finish()
        while encoder.readyCount > 0 {
          let payload = written { encoder.writeNext(format, ssrc: FECMachines.ssrc, into: &$0) }
          guard !isLost() else { continue }
          let isRead =
            format == FECMachines.flexFEC
            ? decoder.addFlexFEC(payload.span) : decoder.addULPFEC(payload.span.extracting(1..<payload.count))
          if !isRead { wrong += 1 }
        }
        while let restored = decoder.takeRestored() {
          whole += 1
          recovered += 1
          if [UInt8](copying: decoder.packet(restored)) != sent[restored] { wrong += 1 }
        }
        if whole < packets { broken += 1 }
      }
    }

    private func media(
      _ number: SequenceNumber, _ frame: Int, isLast: Bool, isRED: Bool, _ random: inout SeededGenerator
    ) -> (bytes: [UInt8], red: Int?) {
      var extensions = RTPOutgoingExtensions()
      extensions.absSendTime = .placeholder
      extensions.transportSequenceNumber = .placeholder
      let header = RTPOutgoingHeader(
        payloadType: PayloadType(isRED ? 118 : 96), sequenceNumber: number,
        timestamp: RTPTimestamp(UInt32(frame) &* 3_000),
        ssrc: FECMachines.ssrc, marker: isLast, extensions: extensions)
      var red: Int?
      let bytes = written { writer in
        _ = header.write(into: &writer, map: map)
        if isRED {
          red = writer.offset
          REDBlock.writePrimaryHeader(PayloadType(96), into: &writer)
        }
        for _ in 0..<Int(20 + random.next() % 1_000) { writer.write(UInt8(truncatingIfNeeded: random.next())) }
      }
      return (bytes, red)
    }
  }

  @Test(arguments: [flexFEC, ulpfec]) func `what is restored is what was sent, bit by bit`(_ format: FECFormat) {
    for (packets, repair) in [(1, 1), (4, 1), (10, 4), (16, 5), (17, 5), (46, 18)] {
      let trial = Trial(format, packets: packets, repair: repair, loss: 0.1, frames: 200)
      #expect(trial.wrong == 0 && trial.recovered > 0, "\(packets) packets, \(repair) repair packets")
    }
  }

  @Test func `4 repair packets make 95 of 100 frames of 10 packets whole at 10 percent loss`() {
    let trial = Trial(Self.flexFEC, packets: 10, repair: 4, loss: 0.1, frames: 2_000)
    // Each media packet in one repair packet alone, interleaved, would leave 15 % broken.
    #expect(trial.broken < 110)
  }

  @Test func `two neighbours that are lost together come back`() {
    for (packets, repair) in [(6, 2), (10, 3), (10, 4), (30, 8)] {
      for first in 0..<packets - 1 {
        var encoder = FECEncoder()
        var decoder = FECDecoder(ssrc: Self.ssrc)
        encoder.begin(repairPackets: repair)
        for index in 0..<packets {
          let number = SequenceNumber(UInt16(index))
          let header = RTPOutgoingHeader(
            payloadType: PayloadType(96), sequenceNumber: number, timestamp: RTPTimestamp(1), ssrc: Self.ssrc)
          let bytes = written { writer in
            _ = header.write(into: &writer, map: RTPHeaderExtensionMap())
            writer.write(repeating: UInt8(index), count: 100)
          }
          encoder.add(bytes.span, number: number, timestamp: RTPTimestamp(1), red: nil)
          guard index != first && index != first + 1 else { continue }
          decoder.addMedia(
            RTPHeader(parsing: bytes.span)!, in: bytes.span, map: RTPHeaderExtensionMap(), isRED: false)
        }
        encoder.finish()
        while encoder.readyCount > 0 {
          let payload = written { encoder.writeNext(Self.flexFEC, ssrc: Self.ssrc, into: &$0) }
          _ = decoder.addFlexFEC(payload.span)
        }
        #expect(decoder.packetsRecovered == 2, "\(packets) packets, \(repair) repair packets, from \(first) on")
      }
    }
  }

  @Test func `repair packets of another stream are refused`() {
    var encoder = FECEncoder()
    encoder.begin(repairPackets: 1)
    let media = [UInt8](repeating: 0x80, count: 40)
    encoder.add(media.span, number: SequenceNumber(1), timestamp: RTPTimestamp(1), red: nil)
    encoder.finish()
    let payload = written { encoder.writeNext(Self.flexFEC, ssrc: SSRC(8), into: &$0) }
    var decoder = FECDecoder(ssrc: Self.ssrc)
    let isTaken = decoder.addFlexFEC(payload.span)
    #expect(!isTaken && decoder.repairPacketsReceived == 0)
  }

  // MARK: - How much

  private func controller(
    loss: Double, roundTrip: TimeDelta, overhead: Double = 0, seconds: Int = 30
  ) -> FECController {
    var controller = FECController()
    var now = Timestamp.zero
    for _ in 0..<seconds * 30 {
      controller.update(loss: loss, roundTrip: roundTrip, overhead: overhead, now: now)
      now += .milliseconds(33)
    }
    return controller
  }

  @Test func `without loss, or where a retransmission is quick, nothing is protected`() {
    #expect(controller(loss: 0.008, roundTrip: .milliseconds(100)).repairPackets(for: 10) == 0)
    #expect(controller(loss: 0.1, roundTrip: .milliseconds(15)).repairPackets(for: 10) == 0)
    #expect(controller(loss: 0.1, roundTrip: .milliseconds(50), seconds: 0).repairPackets(for: 10) == 0)
  }

  @Test func `protection grows with loss and round trip, up to two packets for five where there is no room`() {
    func count(_ loss: Double, _ roundTrip: Int64) -> Int {
      controller(loss: loss, roundTrip: .milliseconds(roundTrip)).repairPackets(for: 10)
    }
    #expect(count(0.02, 50) == 2 && count(0.05, 50) == 4 && count(0.1, 50) == 4)
    #expect(count(0.02, 300) > count(0.02, 50))
    #expect(count(0.4, 300) == 4)
    for packets in 8...200 {
      let made = controller(loss: 0.3, roundTrip: .milliseconds(200)).repairPackets(for: packets)
      #expect(Double(made) <= 0.4 * Double(packets))
    }
  }

  @Test func `where the path has room, one frame in a hundred is left to a retransmission`() {
    for packets in [4, 5, 8, 10, 20] {
      let made = controller(loss: 0.1, roundTrip: .milliseconds(50), overhead: 3).repairPackets(for: packets)
      #expect(made <= packets)
      let trial = Trial(Self.flexFEC, packets: packets, repair: made, loss: 0.1, frames: 4_000)
      #expect(trial.broken < 60, "\(packets) packets, \(made) repair packets")
    }
  }

  @Test func `frames of up to three packets are left to others, those a little larger get up to three repair packets`()
  {
    let controller = controller(loss: 0.1, roundTrip: .milliseconds(50))
    #expect((1...3).allSatisfy { controller.repairPackets(for: $0) == 0 })
    #expect((4...9).allSatisfy { controller.repairPackets(for: $0) == 3 })
  }

  @Test func `protection that has begun ends at half the loss`() {
    var controller = controller(loss: 0.02, roundTrip: .milliseconds(50))
    var now = Timestamp.zero + .seconds(30)
    func pass(_ loss: Double) {
      for _ in 0..<900 {
        now += .milliseconds(33)
        controller.update(loss: loss, roundTrip: .milliseconds(50), now: now)
      }
    }
    pass(0.007)
    #expect(controller.isOn)
    pass(0.002)
    #expect(!controller.isOn)
    pass(0.007)
    #expect(!controller.isOn)
  }
}

/// The bytes that `body` writes.
private func written(_ body: (inout ByteWriter) -> Void) -> [UInt8] {
  var buffer = [UInt8](repeating: 0, count: 1_500)
  var writer = ByteWriter(buffer.mutableSpan)
  body(&writer)
  let count = writer.offset
  return Array(buffer[..<count])
}
