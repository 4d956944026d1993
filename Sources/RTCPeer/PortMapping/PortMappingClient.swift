package import RTCPrimitives

/// Asks a router to forward ports, and keeps the mappings alive: PCP (RFC 6887), or NAT-PMP (RFC 6886) with routers that do
/// not speak it. Both are asked in turn until one answers, since many routers are silent about what they do not know.
///
/// A machine without a clock or socket: give it the time and the router's datagrams, and send what it returns.
package struct PortMappingClient: Sendable {
  /// A change of a mapping.
  package enum Event: Hashable, Sendable {
    /// The port is reached at this address.
    case mapped(WantedMapping, SocketAddress)
    /// The port is not reached from outside any more, or never was.
    case failed(WantedMapping, Failure)
  }

  /// Why a port is not mapped.
  package enum Failure: Hashable, Sendable {
    /// The router does not answer.
    case silent
    /// The router does not allow it, or it is switched off there.
    case refused
    /// The router has no port or no memory left.
    case exhausted
    /// The router has no address outside.
    case noNetwork
    /// There is another NAT between this machine and the router.
    case nested
    /// Another result, by its number.
    case other(UInt16)
  }

  private enum Speech { case unknown, pcp, natPMP }

  private struct Mapping {
    let wanted: WantedMapping
    let nonce: [UInt8]
    var external: SocketAddress?
    /// When the next request is sent.
    var due: Timestamp
    /// Requests since the last answer.
    var attempts = 0
    var expires = Timestamp.distantFuture
    var told: Event?
  }

  /// Seconds that mappings are asked for: a machine that crashes leaves them no longer.
  private static let lifetime: UInt32 = 3_600
  /// The first pause between requests; each is twice the one before.
  private static let firstPause = TimeDelta.milliseconds(250)
  private static let longestPause = TimeDelta.seconds(64)
  /// The number of requests without an answer after which the router is said to be silent: four seconds.
  private static let patience = 5
  private static let pauseAfterRefusal = TimeDelta.seconds(300)
  private static let longestHold = TimeDelta.seconds(300)

  /// The address of this machine to the router.
  package let client: UInt32
  private var speech = Speech.unknown
  private var mappings: [Mapping]
  /// The router's outer address, as NAT-PMP told it.
  private var address: UInt32?
  /// The router's clock in its last answer.
  private var epoch: (seconds: UInt32, at: Timestamp)?

  /// - Parameters:
  ///   - client: the address of this machine to the router, which must be an IPv4 address.
  ///   - random: for the nonces of the mappings, so that only the router can answer.
  package init(
    _ wanted: [WantedMapping], client: UInt32, now: Timestamp, random: inout some RandomNumberGenerator
  ) {
    self.client = client
    var made: [Mapping] = []
    for wanted in wanted {
      let nonce = (0..<12).map { _ in UInt8.random(in: .min ... .max, using: &random) }
      made.append(Mapping(wanted: wanted, nonce: nonce, due: now))
    }
    mappings = made
  }

  /// The time at which `poll` has something to do.
  package var nextDeadline: Timestamp { mappings.map { min($0.due, $0.expires) }.min() ?? .distantFuture }

  /// The requests that are due, and what has expired.
  package mutating func poll(_ now: Timestamp) -> (requests: [[UInt8]], events: [Event]) {
    var requests: [[UInt8]] = []
    var events: [Event] = []
    for index in mappings.indices {
      if mappings[index].expires <= now {
        (mappings[index].external, mappings[index].expires) = (nil, .distantFuture)
        tell(.failed(mappings[index].wanted, .silent), index, &events)
      }
      guard mappings[index].due <= now else { continue }
      if mappings[index].attempts == Self.patience, mappings[index].external == nil {
        tell(.failed(mappings[index].wanted, .silent), index, &events)
      }
      requests += self.requests(for: mappings[index])
      mappings[index].attempts += 1
      let doublings = min(mappings[index].attempts - 1, 8)
      mappings[index].due = now + min(Self.firstPause * Int64(1 << doublings), Self.longestPause)
    }
    return (requests, events)
  }

  private func requests(for mapping: Mapping) -> [[UInt8]] {
    let asksPCP = speech == .pcp || speech == .unknown && mapping.attempts % 2 == 0
    if asksPCP {
      return [
        PortMappingRequest.pcp(
          mapping.wanted, lifetime: Self.lifetime, client: client, nonce: mapping.nonce, suggested: mapping.external)
      ]
    }
    let port = mapping.external?.port ?? mapping.wanted.port
    return [
      PortMappingRequest.natPMPAddress,
      PortMappingRequest.natPMP(mapping.wanted, lifetime: Self.lifetime, suggested: port),
    ]
  }

  /// Handles a datagram of the router.
  package mutating func receive(_ bytes: Span<UInt8>, now: Timestamp) -> [Event] {
    guard let answer = PortMappingAnswer(bytes) else { return [] }
    var events: [Event] = []
    switch answer {
    case .unsupportedVersion:
      guard speech == .unknown else { break }
      speech = .natPMP
      for index in mappings.indices { (mappings[index].due, mappings[index].attempts) = (now, 0) }
    case .pcp(let answer): take(answer, now, &events)
    case .natPMPAddress(let result, let epoch, let address):
      guard speech != .pcp else { break }
      speech = .natPMP
      follow(epoch, now)
      self.address = result == 0 && address != 0 ? address : nil
      guard self.address == nil else { break }
      for index in mappings.indices { refuse(result == 0 ? 3 : result, index, now, &events) }
    case .natPMP(let result, let epoch, let wanted, let external, let lifetime):
      guard speech != .pcp, let index = mappings.firstIndex(where: { $0.wanted == wanted }) else { break }
      speech = .natPMP
      follow(epoch, now)
      guard result == 0, lifetime > 0, external > 0 else {
        refuse(result, index, now, &events)
        break
      }
      // The address was asked for first, so its answer is here or lost; then both are asked for again.
      guard let address else { break }
      hold(SocketAddress(ip: .v4(address), port: external), lifetime, index, now, &events)
    }
    return events
  }

  /// The requests that end all mappings; for the end of this machine's use.
  package func ends() -> [[UInt8]] {
    mappings.filter { $0.external != nil }.map { mapping in
      speech == .pcp
        ? PortMappingRequest.pcp(mapping.wanted, lifetime: 0, client: client, nonce: mapping.nonce, suggested: nil)
        : PortMappingRequest.natPMP(mapping.wanted, lifetime: 0, suggested: 0)
    }
  }

  private mutating func take(_ answer: PortMappingAnswer.PCPAnswer, _ now: Timestamp, _ events: inout [Event]) {
    let place = mappings.firstIndex { $0.wanted == answer.wanted && $0.nonce == answer.nonce }
    guard speech != .natPMP, let index = place else { return }
    speech = .pcp
    follow(answer.epoch, now)
    guard answer.result == 0, answer.lifetime > 0, let external = answer.external, external.port > 0 else {
      return refuse(UInt16(answer.result), index, now, &events)
    }
    hold(external, answer.lifetime, index, now, &events)
  }

  private mutating func hold(
    _ external: SocketAddress, _ lifetime: UInt32, _ index: Int, _ now: Timestamp, _ events: inout [Event]
  ) {
    let held = TimeDelta.seconds(Double(min(max(lifetime, 10), 86_400)))
    mappings[index].external = external
    mappings[index].attempts = 0
    mappings[index].expires = now + held
    // Long before the end, so that another address of the router is noticed.
    mappings[index].due = now + min(held / 2, Self.longestHold)
    tell(.mapped(mappings[index].wanted, external), index, &events)
  }

  /// - Parameter result: in the protocol that the router speaks.
  private mutating func refuse(_ result: UInt16, _ index: Int, _ now: Timestamp, _ events: inout [Event]) {
    mappings[index].external = nil
    mappings[index].attempts = 0
    mappings[index].expires = .distantFuture
    mappings[index].due = now + Self.pauseAfterRefusal
    let failure = speech == .pcp ? Self.pcpFailure(result) : Self.natPMPFailure(result)
    tell(.failed(mappings[index].wanted, failure), index, &events)
  }

  /// RFC 6887 §7.4.
  private static func pcpFailure(_ result: UInt16) -> Failure {
    switch result {
    case 2, 4: .refused
    case 7: .noNetwork
    case 8, 10, 11: .exhausted
    case 12: .nested
    default: .other(result)
    }
  }

  /// RFC 6886 §3.5.
  private static func natPMPFailure(_ result: UInt16) -> Failure {
    switch result {
    case 2, 5: .refused
    case 3: .noNetwork
    case 4: .exhausted
    default: .other(result)
    }
  }

  /// A router whose clock goes slower than ours has started again, and has forgotten the mappings (RFC 6887 §8.5).
  private mutating func follow(_ seconds: UInt32, _ now: Timestamp) {
    defer { epoch = (seconds, now) }
    guard let epoch else { return }
    let passed = max(0, (now - epoch.at).seconds)
    guard Double(seconds) + 2 < Double(epoch.seconds) + passed * 7 / 8 else { return }
    for index in mappings.indices where mappings[index].external != nil { mappings[index].due = now }
  }

  private mutating func tell(_ event: Event, _ index: Int, _ events: inout [Event]) {
    guard mappings[index].told != event else { return }
    mappings[index].told = event
    events.append(event)
  }
}
