import RTCCodecOpus
import RTCPlayout
import Testing

@Suite struct Tones {
  private func hear(_ trace: DelayTrace, seconds: Double = 12, frequency: Double = 440) throws -> Listening.Result {
    let packets = try Listening.tone(frequency)
    return Listening(trace: trace, seconds: seconds).run(packets, decoder: try OpusAudioDecoder(channels: 1))
  }

  @Test func `over an even network every sample is the sender's and the pitch is exact`() throws {
    let result = try hear(.constant)
    #expect(result.statistics.samplesConcealed == 0)
    #expect(result.statistics.packetsLost == 0)
    let steady = result.sound[48_000...]
    #expect(abs(ToneMeasure.frequency(steady) - 440) < 0.44)
    #expect(ToneMeasure.longestGap(steady) < 2)
    #expect(result.delays.last! < 25)
  }

  @Test(arguments: [110.0, 440, 1_000, 2_500]) func `stretching keeps the pitch and makes no gap`(frequency: Double)
    throws
  {
    let result = try hear(.routeChange, seconds: 26, frequency: frequency)
    #expect(result.statistics.samplesRemoved > 2_400)
    let steady = result.sound[96_000...(9 * 48_000)]
    #expect(abs(ToneMeasure.frequency(steady) / frequency - 1) < 0.001)
    // While it catches up after the route became short again.
    let after = result.sound[(20 * 48_000 + 9_600)...]
    #expect(abs(ToneMeasure.frequency(after) / frequency - 1) < 0.002)
    #expect(ToneMeasure.longestGap(after) < 4)
    #expect(ToneMeasure.largestStep(after) < 0.55)
  }

  @Test func `blocks that are asked for four at once play as well`() throws {
    var listening = Listening(trace: .gaussian, seconds: 12)
    listening.pull = 4
    let result = listening.run(try Listening.tone(440), decoder: try OpusAudioDecoder(channels: 1))
    #expect(result.concealed < 0.02)
    #expect(abs(ToneMeasure.frequency(result.sound[96_000...]) - 440) < 1)
  }

  @Test(arguments: [0.0, 0.05, 0.1, 0.2, 0.3]) func `what is made up is what is lost`(loss: Double) throws {
    let result = try hear(DelayTrace.gaussian.losing(loss), seconds: 20)
    #expect(result.concealed < loss + 0.03)
    #expect(ToneMeasure.longestGap(result.sound[96_000...]) < 1_000 * (0.01 + loss))
  }

  @Test func `lost voice is recovered from the packets after`() throws {
    let packets = try Listening.voice()
    let result = Listening(trace: DelayTrace.gaussian.losing(0.15), seconds: 20).run(
      packets, decoder: try OpusAudioDecoder(channels: 1))
    #expect(result.statistics.packetsLost > 100)
    #expect(result.statistics.packetsRecovered > result.statistics.packetsLost / 2)
  }
}
