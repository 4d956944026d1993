import RTCDTLS
import RTCPrimitives

/// The faults of the network between the two, as probabilities for each datagram.
struct Weather {
  var loss = 0.0
  var duplication = 0.0
  /// Each datagram takes 10 ms and up to this much more, so that they overtake each other.
  var jitter = TimeDelta.zero
  var seed: UInt64 = 1
}

/// A client and a server joined by a simulated network on virtual time.
final class VirtualPair {
  enum Side: Int {
    case client
    case server
    var other: Side { self == .client ? .server : .client }
  }

  var client: DTLSTransport
  var server: DTLSTransport
  /// The events of each side, in order.
  var events: [Side: [DTLSEvent]] = [.client: [], .server: []]
  var datagramSizes: [Int] = []
  private(set) var now = Timestamp.zero
  private var flying: [(arrival: Timestamp, to: Side, bytes: [UInt8])] = []
  private var batch = DatagramBatch(capacity: 2048)
  private var random: SplitMix64
  private let weather: Weather
  private let route = Route(
    local: SocketAddress(ip: .loopbackV4, port: 1), remote: SocketAddress(ip: .loopbackV4, port: 2))

  init(client: consuming DTLSTransport, server: consuming DTLSTransport, weather: Weather = Weather()) {
    self.client = client
    self.server = server
    self.weather = weather
    random = SplitMix64(state: weather.seed)
  }

  /// Starts the client and runs until nothing is in flight and nobody awaits a deadline, or until `limit`.
  func run(limit: TimeDelta = .milliseconds(60_000)) {
    note(client.start(now: now, route: route, into: &batch), at: .client)
    settle(limit: limit)
  }

  func settle(limit: TimeDelta = .milliseconds(60_000)) {
    let end = now + limit
    while let next = nextMoment, next <= end {
      now = max(now, next)
      if let index = flying.indices.min(by: { flying[$0].arrival < flying[$1].arrival }), flying[index].arrival <= now {
        let datagram = flying.remove(at: index)
        deliver(datagram.bytes, to: datagram.to)
      } else {
        note(client.deadlineReached(now: now, route: route, into: &batch), at: .client)
        note(server.deadlineReached(now: now, route: route, into: &batch), at: .server)
      }
    }
  }

  func deliver(_ bytes: [UInt8], to side: Side) {
    switch side {
    case .client: note(client.receive(bytes.span, route: route, now: now, into: &batch), at: .client)
    case .server: note(server.receive(bytes.span, route: route, now: now, into: &batch), at: .server)
    }
  }

  func send(_ message: [UInt8], from side: Side) throws {
    switch side {
    case .client: try client.send(message.span, route: route, into: &batch)
    case .server: try server.send(message.span, route: route, into: &batch)
    }
    note([], at: side)
  }

  func close(_ side: Side) {
    switch side {
    case .client: client.close(route: route, into: &batch)
    case .server: server.close(route: route, into: &batch)
    }
    note([], at: side)
  }

  func expect(_ fingerprints: [CertificateFingerprint], at side: Side) {
    switch side {
    case .client: note(client.expect(fingerprints, now: now, route: route, into: &batch), at: side)
    case .server: note(server.expect(fingerprints, now: now, route: route, into: &batch), at: side)
    }
  }

  func keys(_ side: Side) -> SRTPKeys? {
    for case .connected(let keys) in events[side]! { return keys }
    return nil
  }

  private var nextMoment: Timestamp? {
    let moments = flying.map(\.arrival) + [client.nextDeadline, server.nextDeadline]
    return moments.filter { $0 < .distantFuture }.min()
  }

  private func note(_ new: [DTLSEvent], at side: Side) {
    events[side]! += new
    for index in 0..<batch.count {
      let entry = batch.entries[index]
      var bytes: [UInt8] = []
      for offset in entry.offset..<entry.offset + entry.count { bytes.append(batch.bytes[offset]) }
      datagramSizes.append(bytes.count)
      guard random.unit() >= weather.loss else { continue }
      fly(bytes, to: side.other)
      if random.unit() < weather.duplication { fly(bytes, to: side.other) }
    }
    batch.removeAll()
  }

  private func fly(_ bytes: [UInt8], to side: Side) {
    let extra = TimeDelta(nanoseconds: Int64(random.unit() * Double(weather.jitter.nanoseconds)))
    flying.append((now + .milliseconds(10) + extra, side, bytes))
  }
}

struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }

  /// In 0..<1.
  mutating func unit() -> Double { Double(next() >> 11) / Double(1 << 53) }
}

/// Two certificates for all tests: making them is not what they test.
let clientCertificate = try! DTLSCertificate()
let serverCertificate = try! DTLSCertificate()

/// A pair whose sides expect each other's certificate, unless told otherwise.
func makePair(
  clientExpects: [CertificateFingerprint]? = [serverCertificate.fingerprint],
  serverExpects: [CertificateFingerprint]? = [clientCertificate.fingerprint],
  clientProfiles: [SRTPProfile] = DTLSTransport.preferredSRTPProfiles,
  serverProfiles: [SRTPProfile] = DTLSTransport.preferredSRTPProfiles,
  maximumDatagramSize: Int = DTLSTransport.defaultMaximumDatagramSize, weather: Weather = Weather()
) throws -> VirtualPair {
  VirtualPair(
    client: try DTLSTransport(
      role: .client, certificate: clientCertificate, expectedFingerprints: clientExpects,
      srtpProfiles: clientProfiles, maximumDatagramSize: maximumDatagramSize),
    server: try DTLSTransport(
      role: .server, certificate: serverCertificate, expectedFingerprints: serverExpects,
      srtpProfiles: serverProfiles, maximumDatagramSize: maximumDatagramSize),
    weather: weather)
}
