import Testing

@Suite struct Delays {
  private func hear(_ trace: DelayTrace, seconds: Double = 60, drift: Double = 0, seed: UInt64 = 1)
    -> Listening.Result
  {
    BufferRun(trace: trace, seconds: seconds, seed: seed, drift: drift).run()
  }

  private func average(_ values: ArraySlice<Double>) -> Double { values.reduce(0, +) / Double(values.count) }

  @Test func `an even network needs the delay of one block`() {
    let result = hear(.constant)
    #expect(average(result.delays[1_000...]) < 22)
    #expect(result.statistics.samplesConcealed == 0)
  }

  @Test func `jitter is waited for, and no more than it needs`() {
    let result = hear(.gaussian)
    // Mean 40, deviation 8: from the fastest of two seconds to the 97th percentile some 35 ms.
    #expect((35...70).contains(average(result.delays[1_000...])))
    #expect(result.concealed < 0.02)
  }

  @Test func `rare spikes cost no lasting delay beyond themselves`() {
    let result = hear(.spikes)
    #expect(result.delays.max()! < 200)
    #expect(result.concealed < 0.03)
  }

  @Test func `bursts that keep coming are waited for`() {
    let result = hear(.bursts)
    let settled = result.delays[3_000...]
    #expect(settled.min()! > 100)
    #expect(settled.max()! < 260)
  }

  @Test func `a radio that is off half the time is waited for`() {
    let result = hear(.wifi)
    #expect((60...110).contains(average(result.delays[1_000...])))
    #expect(result.concealed < 0.01)
  }

  @Test func `a longer route is followed within three seconds, and back`() {
    let result = hear(.routeChange, seconds: 40)
    // Relative to the fastest way of each moment.
    #expect(average(result.delays[900..<1_000]) < 30)
    #expect(average(result.delays[1_800..<2_000]) < 60)
    #expect(average(result.delays[2_600..<3_000]) < 60)
    #expect(result.concealed < 0.01)
  }

  @Test(arguments: [-200.0, 200]) func `ten minutes of clocks that differ by 200 ppm adds nothing and loses nothing`(
    drift: Double
  ) {
    let result = hear(.constant, seconds: 600, drift: drift)
    #expect(result.statistics.samplesConcealed == 0)
    #expect(result.statistics.packetsDiscarded == 0)
    #expect(result.delays[6_000...].max()! < 25)
    // All by resampling.
    #expect(result.statistics.samplesRemoved + result.statistics.samplesInserted < 4_800)
  }

  @Test(arguments: [1, 2, 3, 4, 5] as [UInt64]) func `a shared line is heard nearly whole`(seed: UInt64) {
    let result = hear(.sharedLine(seed: seed), seconds: 120, seed: seed)
    #expect(result.concealed < 0.02)
    #expect(result.delays.max()! < 250)
    #expect(average(result.delays[...]) < 130)
  }

  @Test func `a machine that is busy is heard nearly whole, and soon`() {
    let result = hear(.recorded, seconds: 120)
    #expect(result.concealed < 0.01)
    #expect(average(result.delays[1_000...]) < 60)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `whatever the trace, packets are decoded, lost, late or left out, and nothing else`(seed: UInt64) {
    let traces: [DelayTrace] = [
      .constant, .gaussian, .spikes, .bursts, .wifi, .routeChange, .recorded, .sharedLine(seed: seed),
    ]
    let loss = Double(seed % 4) * 0.1
    let result = hear(traces[Int(seed) % traces.count].losing(loss), seconds: 30, seed: seed)
    let statistics = result.statistics
    let accounted = statistics.packetsDecoded + statistics.packetsLate + statistics.packetsDiscarded
    #expect(statistics.packetsReceived - accounted < 30)
    #expect(statistics.packetsReceived >= accounted)
    #expect(result.delays.allSatisfy { $0 < 1_200 })
    #expect(result.concealed < loss + 0.05)
  }
}
