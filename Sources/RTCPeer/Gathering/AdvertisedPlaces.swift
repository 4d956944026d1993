import RTCICE
import RTCNet
import RTCPrimitives

/// The advertised addresses of a loop. Names are resolved again and again, because the address of a router changes. Lives on the
/// loop's thread.
final class AdvertisedPlaces {
  /// One address outside.
  struct Place: Hashable {
    var ip: IPAddress
    /// Nil: the port inside.
    var port: UInt16?
    /// The only transport that is forwarded; nil: UDP and TCP.
    var transport: MappedTransport?
  }

  private final class Entry {
    let address: AdvertisedAddress
    var ips: [IPAddress] = []
    var failure: String?

    init(_ address: AdvertisedAddress) { self.address = address }

    var isName: Bool { IPAddress(address.host) == nil }
  }

  private unowned let table: PeerTable
  private let entries: [Entry]
  private let onNotice: (@Sendable (String) -> Void)?
  /// The ports that the router forwards, by the port inside.
  private var mapped: [WantedMapping: SocketAddress] = [:]
  /// The places, those of the first advertised address first.
  private(set) var places: [Place] = []
  /// When names are resolved again.
  private(set) var nextDeadline = Timestamp.distantFuture

  /// Places that are offered at most: each costs all remote peers a check of each of their candidates.
  private static let maximumPlaces = 16
  private static let interval = TimeDelta.seconds(60)
  private static let intervalAfterFailure = TimeDelta.seconds(10)

  init(_ addresses: [AdvertisedAddress], of table: PeerTable, onNotice: (@Sendable (String) -> Void)?) {
    self.table = table
    self.onNotice = onNotice
    entries = addresses.map(Entry.init)
    for entry in entries { entry.ips = IPAddress(entry.address.host).map { [$0.unmapped] } ?? [] }
    collect()
    if entries.contains(where: \.isName) { nextDeadline = .zero }
  }

  /// Resolves the names.
  func deadlineReached(_ now: Timestamp) {
    nextDeadline = now + Self.interval
    for (index, entry) in entries.enumerated() where entry.isName {
      let (loop, position) = (table.loop, AdvertisedPosition(self, index))
      table.resolver.resolve(entry.address.host) { answer in loop.post { position.resolved(answer) } }
    }
  }

  fileprivate func resolved(_ answer: NameAnswer, _ index: Int) {
    let (entry, now) = (entries[index], MonotonicClock.now())
    switch answer {
    case .addresses(let ips): (entry.ips, entry.failure) = (ips.map(\.unmapped), nil)
    case .failed(let reason):
      nextDeadline = min(nextDeadline, now + Self.intervalAfterFailure)
      if entry.failure != reason { onNotice?(Self.sentence(entry, reason)) }
      // The former addresses may still be right.
      entry.failure = reason
    }
    update(now)
  }

  /// The router forwards a port, or does so no longer: nil.
  func map(_ wanted: WantedMapping, to address: SocketAddress?, _ now: Timestamp) {
    mapped[wanted] = address
    update(now)
  }

  private func update(_ now: Timestamp) {
    let former = places
    collect()
    if places != former { table.advertisedChanged(now) }
  }

  private static func sentence(_ entry: Entry, _ reason: String) -> String {
    let rest =
      entry.ips.isEmpty ? "It is not offered to viewers until it is found" : "Its former addresses are still offered"
    return
      "The name \(entry.address.host) of --advertise was not found: \(reason). \(rest). Check the name, or give an "
      + "IP address."
  }

  private func collect() {
    var all: [Place] = []
    for transport in MappedTransport.allCases {
      guard let address = mapped.first(where: { $0.key.transport == transport })?.value else { continue }
      all.append(Place(ip: address.ip, port: address.port, transport: transport))
    }
    for entry in entries {
      for ip in entry.ips {
        let place = Place(ip: ip, port: entry.address.port)
        if all.count < Self.maximumPlaces, !all.contains(place) { all.append(place) }
      }
    }
    places = all
  }
}

/// An advertised name, for the resolver's answer.
private struct AdvertisedPosition: @unchecked Sendable {
  // Why unchecked: used on the loop's thread alone; it travels only inside work posted to it.
  private weak var places: AdvertisedPlaces?
  private let index: Int

  init(_ places: AdvertisedPlaces, _ index: Int) { (self.places, self.index) = (places, index) }

  func resolved(_ answer: NameAnswer) { places?.resolved(answer, index) }
}

extension ICESockets {
  /// The candidates at the advertised addresses: server-reflexive ones, as a NAT shows them, with no address of this machine
  /// beside them. An address of an interface is a host candidate already.
  func advertised(beside gathered: [ICECandidate]) -> [ICECandidate] {
    let places = table.advertised.places
    guard !places.isEmpty else { return [] }
    var result: [ICECandidate] = []
    for (rank, place) in places.enumerated() {
      // A forwarded port belongs to the port that all peers share.
      guard place.port == nil || carrier == .udp(port: 0) else { continue }
      let isOwn = addresses.contains { $0.address.withoutScope == place.ip }
      let udp = SocketAddress(ip: place.ip, port: place.port ?? port)
      let isKnown = isOwn && udp.port == port || gathered.contains { $0.address == udp && $0.tcpType == nil }
      if place.transport != .tcp, !isKnown {
        let preference = UInt16(65_535 - 256 * rank)
        result.append(
          ICECandidate(
            address: udp, priority: ICECandidate.priority(kind: .serverReflexive, localPreference: preference),
            kind: .serverReflexive, foundation: "a\(rank)", carrier: carrier))
      }
      guard let inside = peerStreams?.port, place.transport != .udp else { continue }
      let tcp = SocketAddress(ip: place.ip, port: place.port ?? inside)
      guard !isOwn || tcp.port != inside else { continue }
      result.append(
        ICECandidate(
          address: tcp, priority: 80 << 24 | UInt32(4 << 13 + 8_191 - rank) << 8 | 255, kind: .serverReflexive,
          foundation: "at\(rank)", carrier: carrier, tcpType: .passive))
    }
    return result
  }
}
