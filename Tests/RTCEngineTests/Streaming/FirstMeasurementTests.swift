import RTCEngine
import RTCPrimitives
import RTCTestKit
import Testing

/// Probes before the first picture.
@Suite struct FirstMeasurementTests {
  /// Connected, the moment after the transport is secured.
  private func pair(rate: Int?, roundTrip: Int64, wait: TimeDelta = FirstMeasurement.standardWait) throws -> PeerPair {
    var options = PeerPair.Options()
    options.conditions = .delayed(.milliseconds(roundTrip / 2))
    options.bitrates = BitrateLimits(maximum: .megabitsPerSecond(6))
    options.configure = { _, configuration in configuration.firstPictureWait = wait }
    let pair = try PeerPair(options)
    if let rate {
      pair.network[pair.mediaDirection].rate = .bitsPerSecond(Int64(rate))
      pair.network[pair.mediaDirection].queueCapacity = rate / 8 * 3 / 10
    }
    try #require(pair.connect() != nil)
    pair.recordsDepartures = true
    return pair
  }

  /// How long video waited, and the rate that its first picture may have.
  private func beginning(_ pair: PeerPair) throws -> (wait: TimeDelta, share: BitRate) {
    let connected = pair.now
    pair.run(for: .milliseconds(300)) { pair in
      pair.sender.events.contains { if case .targetBitrateChanged = $0.event { true } else { false } }
    }
    let share = pair.sender.events.lazy.compactMap { event -> BitRate? in
      if case .targetBitrateChanged(let rate, _) = event.event { rate } else { nil }
    }.first
    return (pair.now - connected, try #require(share))
  }

  @Test func `on a fast path the first picture waits for one feedback and has the rate of the probes`() throws {
    let (wait, share) = try beginning(pair(rate: 100_000_000, roundTrip: 2))
    #expect(wait <= .milliseconds(120))
    #expect(share > .megabitsPerSecond(5))
  }

  @Test func `on a slow path it waits no longer than 120 ms and is made for what is known`() throws {
    let pair = try pair(rate: 1_000_000, roundTrip: 50)
    let (wait, share) = try beginning(pair)
    #expect(wait <= .milliseconds(125))
    #expect(share <= .bitsPerSecond(1_100_000))
    // The probes themselves are gone from a queue of 300 ms before the picture's end comes to it.
    let bytes = pair.departures.filter { $0.side == pair.options.sender && $0.header != nil }.reduce(0) {
      $0 + $1.bytes.count
    }
    #expect(bytes < 25_000)
  }

  @Test func `on a long way nothing waits, where its round trip is known`() {
    for (roundTrip, waits) in [(TimeDelta.milliseconds(120), false), (.milliseconds(60), true), (nil, true)] {
      var measurement = FirstMeasurement(wait: FirstMeasurement.standardWait)
      measurement.begin(.zero, roundTrip: roundTrip)
      #expect(measurement.isOn == waits)
    }
  }

  @Test func `where it is not wanted nothing waits`() throws {
    let near = try beginning(pair(rate: nil, roundTrip: 2, wait: .zero))
    #expect(near.wait == .zero && near.share == .megabitsPerSecond(1), "\(near)")
  }

  @Test func `what leaves before the first picture is padding that no receiver takes for media`() throws {
    let pair = try pair(rate: 100_000_000, roundTrip: 2)
    _ = try beginning(pair)
    let packets = pair.departures.filter { $0.side == pair.options.sender && $0.header != nil }
    #expect(packets.count > 40 && Set(packets.map { $0.header!.ssrc }).count == 1)
    #expect(pair.sender.peer.statistics.video.packetsSent == 0)
    #expect(pair.receiver.frames.isEmpty)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(2))
    #expect(FrameChain(pair.receiver.frames).isSound && pair.receiver.frames.count > 40)
    #expect(pair.receiver.peer.statistics.drops.total == 0)
  }
}
