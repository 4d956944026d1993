import RTCCodecOpus
import RTCEngine
import RTCPlayout
import RTCPrimitives
import Testing

@Suite struct HostileSound {
  private func packet(_ payload: [UInt8], _ number: Int64, _ timestamp: UInt32, _ received: Timestamp) -> ReceivedAudio
  {
    ReceivedAudio(
      payload: payload, number: number, timestamp: RTPTimestamp(timestamp), marker: false, received: received)
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>) func `arbitrary packets make exact blocks and nothing worse`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let playout = AudioBlockMaker(decoder: try OpusAudioDecoder(channels: 2))
    var number: Int64 = 0
    for block in 0..<300 {
      let now = Timestamp.zero + .milliseconds(Int64(block) * 10)
      for _ in 0..<Int(random.next() % 4) {
        number += Int64(random.next() % 5) - 1
        let payload = (0..<Int(random.next() % 60)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let timestamp =
          random.next() % 8 == 0 ? UInt32(truncatingIfNeeded: random.next()) : UInt32(truncatingIfNeeded: number * 960)
        playout.insert(packet(payload, number, timestamp, now))
      }
      let made = playout.nextBlock(at: now)
      #expect(made.samples.count == 960)
      #expect(made.samples.allSatisfy { $0.isFinite })
    }
    #expect(playout.statistics.packetsReceived + playout.statistics.packetsInvalid > 0)
  }

  @Test func `a stream that goes silent and begins anew is heard again at once`() throws {
    let packets = try Listening.tone(440)
    let playout = AudioBlockMaker(decoder: try OpusAudioDecoder(channels: 1))
    var heard: [Float] = []
    for block in 0..<1_500 {
      let now = Timestamp.zero + .milliseconds(Int64(block) * 10)
      let index = block / 2
      if block % 2 == 0, block < 500 {
        playout.insert(packet(packets[index % 50], Int64(index), UInt32(index * 960), now))
      }
      // Another timeline, numbered further.
      if block % 2 == 0, block >= 1_000 {
        playout.insert(packet(packets[index % 50], Int64(index) + 100_000, UInt32(3_000_000_000 + index * 960), now))
      }
      heard += playout.nextBlock(at: now).samples
    }
    #expect(ToneMeasure.longestGap(heard[(8 * 48_000)..<(9 * 48_000)]) > 900)
    #expect(ToneMeasure.longestGap(heard[(10 * 48_000 + 4_800)...]) < 10)
    #expect(playout.statistics.restarts == 1)
  }

  @Test func `three seconds that come at once are caught up with at once`() throws {
    let packets = try Listening.tone(440)
    let playout = AudioBlockMaker(decoder: try OpusAudioDecoder(channels: 1))
    var held: [ReceivedAudio] = []
    for block in 0..<1_200 {
      let now = Timestamp.zero + .milliseconds(Int64(block) * 10)
      let index = block / 2
      if block % 2 == 0 { held.append(packet(packets[index % 50], Int64(index), UInt32(index * 960), now)) }
      if !(400..<700).contains(block) {
        for var packet in held {
          packet.received = now
          playout.insert(packet)
        }
        held = []
      }
      _ = playout.nextBlock(at: now)
      if block == 760 { #expect(playout.statistics.delay < .milliseconds(700)) }
    }
    #expect(playout.statistics.packetsDiscarded > 50)
    #expect(playout.statistics.delay < .milliseconds(300))
  }

  @Test func `a silence that is not sent costs no delay and is no loss`() throws {
    let packets = try Listening.tone(440)
    let playout = AudioBlockMaker(decoder: try OpusAudioDecoder(channels: 1))
    var number: Int64 = 0
    for block in 0..<2_000 {
      let now = Timestamp.zero + .milliseconds(Int64(block) * 10)
      let index = block / 2
      // A second of sound, then two of silence with a packet each 400 ms.
      let phase = index % 150
      if block % 2 == 0, phase < 50 || phase % 20 == 10 {
        let payload: [UInt8] = phase < 50 ? packets[phase] : [packets[0][0]]
        playout.insert(packet(payload, number, UInt32(index * 960), now))
        number += 1
      }
      _ = playout.nextBlock(at: now)
    }
    let statistics = playout.statistics
    #expect(statistics.packetsLost == 0 && statistics.packetsLate == 0)
    #expect(statistics.samplesComfort > 10 * 48_000)
    #expect(statistics.samplesConcealed < 4_800)
    #expect(statistics.delay < .milliseconds(60))
  }
}
