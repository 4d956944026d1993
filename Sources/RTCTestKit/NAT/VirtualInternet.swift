package import RTCPrimitives

/// Hosts, some behind NATs, on virtual time: where each datagram arrives, as from whom, and when. The same seed and inputs
/// give the same deliveries.
package struct VirtualInternet {
  /// A datagram at a host.
  package struct Delivery: Sendable {
    /// The sender's address as the receiver sees it.
    package var from: SocketAddress
    /// The receiver's own address.
    package var to: SocketAddress
    /// The payload.
    package var bytes: [UInt8]
  }

  private struct Flight {
    /// On the outside or, within one site, the host itself.
    let from: SocketAddress
    let to: SocketAddress
    /// The site that it never left, if so.
    let site: Int?
    let bytes: [UInt8]
  }

  /// The NATs; hosts are behind one by its index.
  package var gateways: [NATGateway] = []
  /// Hosts behind one NAT cannot talk to each other directly, as guests in many a Wi-Fi.
  package var isolatesHosts = false
  private var sites: [IPAddress: Int] = [:]
  private var link: NetworkLink
  private var inFlight = DeliveryQueue<Flight>()
  private var random: SeededGenerator

  /// - Parameter conditions: between any two hosts, each way.
  package init(seed: UInt64, conditions: NetworkConditions) {
    random = SeededGenerator(seed: seed)
    link = NetworkLink(conditions: conditions)
  }

  /// Between any two hosts, each way; a change holds for datagrams sent after it.
  package var conditions: NetworkConditions {
    get { link.conditions }
    set { link.conditions = newValue }
  }

  /// Puts a host behind a NAT.
  package mutating func place(_ ip: IPAddress, behind gateway: Int) { sites[ip] = gateway }

  /// Sends a datagram from a host's own address.
  package mutating func send(_ bytes: [UInt8], from: SocketAddress, to: SocketAddress, now: Timestamp) {
    let site = sites[from.ip]
    guard let site else { return carry(Flight(from: from, to: to, site: nil, bytes: bytes), now: now) }
    if let other = sites[to.ip] {
      guard other == site, !isolatesHosts else { return }
      return carry(Flight(from: from, to: to, site: site, bytes: bytes), now: now)
    }
    if to.ip == gateways[site].externalIP, !gateways[site].kind.hairpins { return }
    guard let outside = gateways[site].outbound(from: from, to: to, now: now) else { return }
    carry(Flight(from: outside, to: to, site: nil, bytes: bytes), now: now)
  }

  /// When the next datagram arrives somewhere.
  package var nextDeadline: Timestamp? { inFlight.firstTime }

  /// The next datagram that arrives at a host by `now`.
  package mutating func nextDelivery(by now: Timestamp) -> Delivery? {
    while let time = inFlight.firstTime, time <= now {
      let flight = inFlight.removeFirst()
      if let gateway = gateways.first(where: { $0.externalIP == flight.to.ip }) {
        guard let inside = gateway.inbound(to: flight.to.port, from: flight.from, now: time) else { continue }
        return Delivery(from: flight.from, to: inside, bytes: flight.bytes)
      }
      // A private address cannot be reached from outside.
      guard flight.site != nil || sites[flight.to.ip] == nil else { continue }
      return Delivery(from: flight.from, to: flight.to, bytes: flight.bytes)
    }
    return nil
  }

  private mutating func carry(_ flight: Flight, now: Timestamp) {
    for time in link.pass(byteCount: flight.bytes.count, now: now, random: &random) {
      inFlight.insert(flight, at: time)
    }
  }
}
