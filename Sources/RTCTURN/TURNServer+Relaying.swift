import RTCPrimitives
import RTCWire

/// Data between clients and peers (RFC 8656 §11, §12).
extension TURNServer {
  /// RFC 8656 §12.6.
  mutating func relayChannelData(
    _ bytes: Span<UInt8>, from client: Route, now: Timestamp, into out: inout TURNServerOutbox
  ) {
    let channel = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
    let end = TURNChannelHeader.size + (Int(bytes[2]) << 8 | Int(bytes[3]))
    guard end <= bytes.count, let number = allocation(of: client, now: now),
      let peer = self[number].peer(of: channel, now: now)
    else {
      counters.dropsUnpermitted &+= 1
      return
    }
    relayToPeer(
      bytes.extracting(TURNChannelHeader.size..<end), of: number, to: peer, now: now, into: &out)
  }

  /// RFC 8656 §11.2. An indication with an attribute that must be known and is not is dropped, as those that ask that data be
  /// not fragmented (RFC 8656 §11.2).
  mutating func relayIndication(
    _ message: STUNMessage, from client: Route, now: Timestamp, into out: inout TURNServerOutbox
  ) {
    guard !message.hasUnknownTURNAttributes, let number = allocation(of: client, now: now),
      let peer = message.firstPeerAddress, let data = message.dataRange
    else {
      counters.dropsInvalid &+= 1
      return
    }
    relayToPeer(message.bytes.extracting(data), of: number, to: peer, now: now, into: &out)
  }

  private mutating func relayToPeer(
    _ data: Span<UInt8>, of number: Int, to peer: SocketAddress, now: Timestamp, into out: inout TURNServerOutbox
  ) {
    guard self[number].permits(peer.ip, now: now), let relay = self[number].relay(for: peer.ip) else {
      counters.dropsUnpermitted &+= 1
      return
    }
    let relayed = configuration.isOwn(peer.ip) ? allocation(relayedAt: peer) : nil
    guard relayed != nil || configuration.allowsData(to: peer) else {
      counters.dropsUnpermitted &+= 1
      return
    }
    guard self[number].toPeers.take(data.count, now: now) else {
      counters.dropsOverRate &+= 1
      return
    }
    counters.toPeers.add(data.count)
    if let relayed {
      // Both ends are relayed here. The address outside may not lead back to this machine.
      return relayToClient(data, of: relayed, from: outside(relay.local), now: now, into: &out)
    }
    out.datagrams.append(data, to: Route(local: relay.local, remote: peer, kind: relay.kind))
  }

  /// RFC 8656 §11.3, §12.7.
  mutating func relayToClient(
    _ data: Span<UInt8>, of number: Int, from peer: SocketAddress, now: Timestamp, into out: inout TURNServerOutbox
  ) {
    guard self[number].expiresAt > now, self[number].permits(peer.ip, now: now) else {
      counters.dropsUnpermitted &+= 1
      return
    }
    guard data.count <= UInt16.max, self[number].toClient.take(data.count, now: now) else {
      counters.dropsOverRate &+= 1
      return
    }
    counters.toClients.add(data.count)
    let client = self[number].client
    guard let channel = self[number].channel(of: peer, now: now) else {
      return indicate(data, to: client, from: peer, into: &out)
    }
    let header = TURNChannelHeader(number: channel, length: UInt16(data.count))
    out.datagrams.append(to: client, capacity: TURNChannelHeader.size + data.count) { bytes in
      var writer = ByteWriter(bytes._mutatingExtracting(0..<bytes.count))
      writer.write(header.word)
      writer.write(data)
      return writer.offset
    }
  }

  private func indicate(
    _ data: Span<UInt8>, to client: Route, from peer: SocketAddress, into out: inout TURNServerOutbox
  ) {
    // Nobody answers an indication, so that its identifier need not be hard to guess.
    let id = STUNTransactionID(high: 0, low: UInt64(truncatingIfNeeded: counters.toClients.datagrams))
    out.datagrams.append(to: client, capacity: data.count + 64) { bytes in
      var writer = STUNMessageWriter(
        .indication, method: .data, transactionID: id, into: bytes._mutatingExtracting(0..<bytes.count))
      writer.writeXorAddress(.xorPeerAddress, peer)
      writer.write(.data, data)
      return writer.finish(key: nil, hasFingerprint: false)
    }
  }
}
