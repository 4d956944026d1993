import Glibc
import RTCCodecOpus
import RTCEngine
import RTCMedia
import RTCPlayout
import RTCPrimitives
import Testing

@Suite struct Silences {
  /// A second of sound, three of silence, and so on, by an encoder that sends no silence.
  private func hear(_ trace: DelayTrace, rounds: Int) throws -> Listening.Result {
    var settings = AudioEncoderSettings()
    settings.channels = 1
    settings.usesDiscontinuousTransmission = true
    let encoder = try OpusAudioEncoder(settings)
    var random = SeededGenerator(seed: 3)
    var arriving: [ReceivedAudio] = []
    for index in 0..<(rounds * 200) {
      let isLoud = index % 200 < 50
      let samples = (0..<960).map { offset in
        isLoud ? Float(0.4 * sin(2 * .pi * 440 * Double(index * 960 + offset) / 48_000)) : 0
      }
      guard let payload = try encoder.encode(samples) else { continue }
      let second = Double(index) * 0.02
      arriving.append(
        ReceivedAudio(
          payload: payload, number: Int64(arriving.count), timestamp: RTPTimestamp(UInt32(index * 960)), marker: false,
          received: Timestamp.zero + TimeDelta.seconds(second + trace.delay(second, &random) / 1_000)))
    }
    arriving.sort { $0.received < $1.received }
    let maker = AudioBlockMaker(decoder: try OpusAudioDecoder(channels: 1))
    var result = Listening.Result(statistics: maker.statistics)
    var next = 0
    for block in 0..<(rounds * 400) {
      let now = Timestamp.zero + .milliseconds(Int64(block) * 10 + 3)
      while next < arriving.count, arriving[next].received <= now {
        maker.insert(arriving[next])
        next += 1
      }
      result.sound += maker.nextBlock(at: now).samples
      result.delays.append(maker.statistics.delay.seconds * 1_000)
    }
    result.statistics = maker.statistics
    return result
  }

  @Test(arguments: [DelayTrace.constant, .gaussian])
  func `silence that our own encoder does not send is neither loss nor delay, and sound after it is whole`(
    trace: DelayTrace
  ) throws {
    let rounds = 5
    let result = try hear(trace, rounds: rounds)
    let statistics = result.statistics
    #expect(statistics.packetsReceived < rounds * 100)
    #expect(statistics.packetsLost == 0)
    // Only of the last silence, which nothing follows, it is not known yet that it is one.
    #expect(statistics.samplesConcealed < 24_000)
    #expect(statistics.samplesComfort + statistics.samplesSilent > rounds * 96_000)
    #expect(result.delays.last! < 80)
    // Each second of sound is heard, none of it twice.
    let loud = stride(from: 0, to: result.sound.count - 480, by: 480).filter { start in
      result.sound[start..<(start + 480)].contains { abs($0) > 0.1 }
    }
    #expect((rounds * 98...rounds * 106).contains(loud.count))
    // From half a second after the sound until the next one, nothing is heard.
    for round in 0..<rounds {
      let pause = result.sound[(round * 192_000 + 72_000)..<(round * 192_000 + 187_000)]
      #expect((pause.map(abs).max() ?? 1) < 0.002)
    }
  }
}
