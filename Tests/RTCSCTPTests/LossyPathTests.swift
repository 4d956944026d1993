import RTCPrimitives
import RTCSCTP
import RTCTestKit
import Testing

/// Paths that lose packets without being full, in virtual time.
@Suite struct LossyPathTests {
  private struct Ends {
    let pair: VirtualPair
    let near: DataChannelHandle
    let far: DataChannelHandle

    /// - Parameter oneWay: in milliseconds.
    init(loss: Double, oneWay: Int64, seed: UInt64 = 1) throws {
      pair = VirtualPair(seed: seed, conditions: .delayed(.milliseconds(oneWay)))
      pair.keepsPackets = false
      pair.start()
      near = try pair.open(DataChannelParameters(), on: .client)
      pair.run(for: .seconds(2))
      far = try #require(pair.incoming(at: .server).first).handle
      pair.network[.aToB].loss = loss
    }

    func send(_ bytes: Int) throws {
      try pair.send(.binary([UInt8](repeating: 5, count: bytes)), on: near, from: .client)
    }

    var arrived: Int { pair.messages(on: far, at: .server).count }
  }

  private static let rate = BitRate(bitsPerSecond: 3_000_000)

  /// Bytes a second that a channel carries which always has something to send.
  private func goodput(_ ends: Ends) throws -> Int {
    let end = ends.pair.now + .seconds(20)
    while ends.pair.now < end {
      while ends.pair.bufferedAmount(of: ends.near, on: .client) < 1 << 19 { try ends.send(65_536) }
      ends.pair.run(for: .milliseconds(20))
    }
    return ends.arrived * 65_536 / 20
  }

  @Test(arguments: [0.01, 0.1]) func `loss leaves the rate that others have measured`(loss: Double) throws {
    let starved = try Ends(loss: loss, oneWay: 75)
    #expect(try goodput(starved) < 220_000)
    let measured = try Ends(loss: loss, oneWay: 75)
    measured.pair.setPath(rate: Self.rate, roundTrip: .milliseconds(150), of: .client)
    // The path carries 375,000 bytes a second, of which headers and losses take a part.
    #expect(try goodput(measured) > 280_000)
  }

  @Test func `a path that has gone silent gets single packets, whatever was measured before`() throws {
    let ends = try Ends(loss: 0, oneWay: 25)
    ends.pair.setPath(rate: Self.rate, roundTrip: .milliseconds(50), of: .client)
    for _ in 0..<8 { try ends.send(65_536) }
    ends.pair.run(for: .milliseconds(200))
    ends.pair.network[.aToB].loss = 1
    ends.pair.run(for: .milliseconds(700))
    let before = ends.pair.packetCount
    ends.pair.run(for: .seconds(10))
    #expect((1...8).contains(ends.pair.packetCount - before))
  }

  /// The share of messages of two packets, one each 40 ms, that arrive within the time.
  private func share(_ ends: Ends, size: Int = 1_800, within time: TimeDelta) throws -> Double {
    var sent: [Timestamp] = []
    var inTime = 0
    for _ in 0..<500 {
      try ends.send(size)
      sent.append(ends.pair.now)
      let next = ends.pair.now + .milliseconds(40)
      while ends.pair.now < next {
        let before = ends.arrived
        ends.pair.run(for: .milliseconds(2))
        for index in before..<ends.arrived where ends.pair.now - sent[index] <= time { inTime += 1 }
      }
    }
    return Double(inTime) / 500
  }

  @Test(arguments: [(0.02, 0.99), (0.1, 0.97)]) func `short bursts hardly wait for what is lost`(
    loss: Double, expected: Double
  ) throws {
    let plain = try Ends(loss: loss, oneWay: 40)
    plain.pair.setPath(rate: Self.rate, roundTrip: .milliseconds(80), of: .client)
    #expect(try share(plain, within: .milliseconds(62)) < expected - 0.03)
    let copied = try Ends(loss: loss, oneWay: 40)
    copied.pair.setPath(rate: Self.rate, roundTrip: .milliseconds(80), loss: loss, of: .client)
    #expect(try share(copied, within: .milliseconds(62)) > expected)
  }

  @Test func `copies take half of the rate at most`() throws {
    func packets(_ rate: BitRate, loss: Double) throws -> Int {
      let ends = try Ends(loss: 0, oneWay: 40)
      ends.pair.setPath(rate: rate, roundTrip: .milliseconds(80), loss: loss, of: .client)
      let before = ends.pair.packetCount
      _ = try share(ends, size: 1_000, within: .zero)
      return ends.pair.packetCount - before
    }
    let plain = try packets(Self.rate, loss: 0.009)
    // 500 messages, each acknowledged once more.
    let copied = try packets(Self.rate, loss: 0.02) - plain
    #expect((500...1_000).contains(copied))
    // 40 kbit/s leave 20 for copies: 50 kB in 20 s, of 500.
    let limited = try packets(BitRate(bitsPerSecond: 40_000), loss: 0.02) - plain
    #expect((50...140).contains(limited))
  }

  @Test func `of much that waits nothing but its end is copied`() throws {
    func packets(loss: Double) throws -> Int {
      let ends = try Ends(loss: 0, oneWay: 40)
      ends.pair.setPath(rate: Self.rate, roundTrip: .milliseconds(80), loss: loss, of: .client)
      let before = ends.pair.packetCount
      // Nine packets, which leave at once.
      try ends.send(10_000)
      ends.pair.run(for: .seconds(10))
      #expect(ends.arrived == 1)
      return ends.pair.packetCount - before
    }
    let more = try packets(loss: 0.02) - packets(loss: 0)
    // One, and its acknowledgement.
    #expect((1...2).contains(more))
  }

  /// How long two messages take of which the first is lost, once the round trip is known.
  private func timeOfOvertaken(_ ends: Ends) throws -> TimeDelta {
    let start = ends.pair.now
    let before = ends.arrived
    ends.pair.network[.aToB].loss = 1
    try ends.send(900)
    ends.pair.network[.aToB].loss = 0
    try ends.send(900)
    ends.pair.run(for: .seconds(5), until: { ends.arrived == before + 2 })
    return ends.pair.now - start
  }
  /// 160 ms until the second is acknowledged, 40 ms of patience, 80 ms to arrive, and the measure of the round trip.
  private static let patient = TimeDelta.milliseconds(320)

  /// RFC 8985 §6.3: nothing that arrives later would say so, and the end of the burst has arrived.
  @Test func `what others have overtaken is sent again after a round trip and a quarter`() throws {
    let ends = try Ends(loss: 0, oneWay: 80)
    for _ in 0..<20 {
      try ends.send(3_000)
      ends.pair.run(for: .milliseconds(300))
    }
    #expect(try timeOfOvertaken(ends) <= Self.patient)
  }

  @Test func `copies that come twice or late do not show that packets overtake each other`() throws {
    let ends = try Ends(loss: 0, oneWay: 80)
    ends.pair.setPath(rate: Self.rate, roundTrip: .milliseconds(160), loss: 0.02, of: .client)
    for _ in 0..<20 {
      ends.pair.network[.aToB].loss = 1
      try ends.send(900)
      ends.pair.network[.aToB].loss = 0
      ends.pair.run(for: .milliseconds(5))
      // It arrives before the copy of the first.
      try ends.send(900)
      ends.pair.run(for: .milliseconds(400))
    }
    #expect(ends.arrived == 40)
    ends.pair.setPath(rate: Self.rate, roundTrip: .milliseconds(160), loss: 0, of: .client)
    #expect(try timeOfOvertaken(ends) <= Self.patient)
  }

  @Test func `what is sent again is copied too`() throws {
    let ends = try Ends(loss: 0.2, oneWay: 75)
    ends.pair.setPath(rate: Self.rate, roundTrip: .milliseconds(150), loss: 0.2, of: .client)
    var times: [TimeDelta] = []
    for count in 1...20 {
      let start = ends.pair.now
      try ends.send(100_000)
      ends.pair.run(for: .seconds(20), until: { ends.arrived == count })
      times.append(ends.pair.now - start)
      ends.pair.run(for: .seconds(1))
    }
    #expect(times.sorted()[10] < .milliseconds(700))
  }

  @Test func `the window of a path that is not full is filled at its rate, not by a burst for each round trip`() throws
  {
    let ends = try Ends(loss: 0, oneWay: 150)
    ends.pair.setPath(rate: Self.rate, roundTrip: .milliseconds(300), of: .client)
    let start = ends.pair.now
    try ends.send(90_000)
    ends.pair.run(for: .seconds(5), until: { ends.arrived == 1 })
    // 240 ms at 3 Mbit/s, and the way there.
    #expect(ends.pair.now - start <= .milliseconds(450))
  }
}
