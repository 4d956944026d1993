import RTCPrimitives
import RTCWire

/// Datagrams to and from peers (RFC 8656 §11, §12).
extension TURNAllocation {
  // MARK: - From peers

  /// The content of a ChannelData message: its range and route. Allocates nothing.
  mutating func unwrapChannelData(_ bytes: Span<UInt8>, now: Timestamp) -> (range: Range<Int>, route: Route)? {
    guard let header = TURNChannelHeader(parsing: bytes), header.length > 0, let peer = channels.peer(of: header.number)
    else { return nil }
    let end = TURNChannelHeader.size + Int(header.length)
    return received(from: peer, range: TURNChannelHeader.size..<end, now: now)
  }

  /// The content of a Data indication.
  mutating func unwrapIndication(_ message: STUNMessage, now: Timestamp) -> (range: Range<Int>, route: Route)? {
    guard message.header.class == .indication, message.header.method == .data, let peer = message.xorPeerAddress,
      peer.isOfOneHost, let range = message.dataRange, !range.isEmpty
    else { return nil }
    return received(from: peer, range: range, now: now)
  }

  private mutating func received(
    from peer: SocketAddress, range: Range<Int>, now: Timestamp
  ) -> (range: Range<Int>, route: Route)? {
    guard case .allocated(var lease) = phase, let relayed = lease.relayed(for: peer.ip) else { return nil }
    if lease.heardAt < now {
      lease.heardAt = now
      phase = .allocated(lease)
    }
    return (range, Route(local: relayed, remote: peer, kind: .relay(relayNumber)))
  }

  // MARK: - To peers

  /// Asks for the permissions that are missing, in as few requests as possible.
  mutating func permit(_ peers: [SocketAddress], now: Timestamp, into batch: inout DatagramBatch) {
    guard let lease else { return }
    var wanted: [IPAddress] = []
    for peer in peers where lease.relayed(for: peer.ip) != nil && peer.isOfOneHost {
      if case .wanted = permissions.use(peer.ip, now: now) { wanted.append(peer.ip) }
    }
    ask(for: wanted, now: now, into: &batch)
  }

  /// Sends a datagram to a peer that has no channel: at once, behind the request for its permission, which as a rule comes
  /// first at the server too. It is kept until the answer, in case the request is lost or has to be repeated.
  mutating func relay(_ datagram: [UInt8], to peer: SocketAddress, now: Timestamp, into batch: inout DatagramBatch) {
    guard let lease, lease.relayed(for: peer.ip) != nil, peer.isOfOneHost else { return }
    switch permissions.use(peer.ip, now: now) {
    case .granted: break
    case .refused: return
    case .wanted:
      ask(for: [peer.ip], now: now, into: &batch)
      hold(datagram, to: peer, now: now)
    case .underWay: hold(datagram, to: peer, now: now)
    }
    indicate(datagram, to: peer, into: &batch)
    // Checks of ICE alone do not justify a channel: most of them go to addresses that will not be used.
    if datagram[0] > 3, let place = channels.want(peer, now: now) { send(.channel(place), now: now, into: &batch) }
  }

  private mutating func hold(_ datagram: [UInt8], to peer: SocketAddress, now: Timestamp) {
    if held.count >= Self.heldLimit { held.removeFirst() }
    held.append(HeldDatagram(peer: peer, bytes: datagram, sentAt: now))
  }

  /// The permission is there, or there will be none.
  mutating func releaseHeld(to ips: [IPAddress], isWanted: Bool, now: Timestamp, into batch: inout DatagramBatch) {
    guard !held.isEmpty else { return }
    let released = held.filter { ips.contains($0.peer.ip) }
    held.removeAll { ips.contains($0.peer.ip) }
    guard isWanted else { return }
    for datagram in released where now - datagram.sentAt <= Self.heldTime {
      indicate(datagram.bytes, to: datagram.peer, into: &batch)
    }
  }

  private mutating func indicate(_ datagram: [UInt8], to peer: SocketAddress, into batch: inout DatagramBatch) {
    link.indicate(.send, capacity: datagram.count + 64, into: &batch) { writer in
      writer.writeXorAddress(.xorPeerAddress, peer)
      writer.write(.data, datagram.span)
    }
  }
}
