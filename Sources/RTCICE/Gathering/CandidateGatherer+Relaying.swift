package import RTCPrimitives

extension CandidateGatherer {
  /// Wraps the datagrams of the batch, from `first` on, that go through a relay: in place as ChannelData if the peer
  /// has a channel, else as Send indications at the batch's end. Requests missing permissions and channels. Datagrams
  /// of other gatherers' allocations, and those without a relay, are unchanged.
  ///
  /// With a channel, a datagram costs one look-up, a run to one peer only one for all, and no allocation.
  package mutating func encapsulate(_ batch: inout DatagramBatch, from first: Int, now: Timestamp) {
    var latest: Channel?
    var isLeft = false
    for index in first..<batch.count {
      let entry = batch.entries[index]
      guard case .relay(let number) = entry.route.kind else { continue }
      if latest?.peer != entry.route { latest = channel(to: entry.route, relay: number, now: now) }
      guard let channel = latest else {
        isLeft = true
        continue
      }
      batch.encapsulate(index, header: UInt32(channel.number) << 16 | UInt32(entry.count), to: channel.server)
    }
    if isLeft { indicate(&batch, from: first, now: now) }
  }

  /// A peer's channel, and the way to the server.
  private struct Channel {
    let peer: Route
    let number: UInt16
    let server: Route
  }

  private mutating func channel(to peer: Route, relay: UInt16, now: Timestamp) -> Channel? {
    guard let index = allocations.firstIndex(where: { $0.relayNumber == relay }),
      let number = allocations[index].channels.number(to: peer.remote, now: now)
    else { return nil }
    return Channel(peer: peer, number: number, server: allocations[index].link.route)
  }

  /// Relays the datagrams without a channel.
  private mutating func indicate(_ batch: inout DatagramBatch, from first: Int, now: Timestamp) {
    let numbers = allocations.map(\.relayNumber)
    var datagrams: [(route: Route, bytes: [UInt8])] = []
    batch.remove(from: first) { bytes, entry in
      guard case .relay(let number) = entry.route.kind, numbers.contains(number) else { return false }
      datagrams.append((entry.route, [UInt8](copying: bytes)))
      return true
    }
    for index in allocations.indices {
      let own = datagrams.filter { $0.route.kind == .relay(allocations[index].relayNumber) }
      guard !own.isEmpty else { continue }
      allocations[index].permit(own.map(\.route.remote), now: now, into: &batch)
      for datagram in own {
        allocations[index].relay(datagram.bytes, to: datagram.route.remote, now: now, into: &batch)
      }
    }
    rearm()
  }
}
