import RTCPrimitives
import RTCWire

extension Peer {
  /// Keeps a packet that is for an m-section we have offered to receive and that no answer has agreed to yet.
  /// - Returns: false for every other.
  mutating func keepEarly(_ header: RTPHeader, in packet: Span<UInt8>, now: Timestamp) -> Bool {
    guard early != nil else { return false }
    let incoming = IncomingPacket(header, in: packet, map: early!.extensionMap)
    if !early!.claims(incoming) {
      guard incoming.mid == nil, streams.owner(of: header.ssrc) == nil, !isAgreed(header.payloadType),
        early!.mayClaim(header.payloadType)
      else { return false }
    }
    // The far side's rate control goes by when it came, not by when it was understood.
    noteArrival(incoming, feedback: .transportCC, now: now)
    if !early!.keep(packet, arrival: now) { drops[.unknownStream] += 1 }
    return true
  }

  private func isAgreed(_ payloadType: PayloadType) -> Bool {
    for index in videos.indices where videos[index].agreement?.meaning(of: payloadType) != nil { return true }
    for index in sounds.indices where sounds[index].agreement?.payloadType == payloadType { return true }
    return false
  }

  /// Follows our offers: what is offered may come from now on, and what came early is taken when the answer is there.
  mutating func followOffer(into outbox: inout Outbox) {
    switch negotiation.signalingState {
    case .haveLocalOffer:
      guard let offered = negotiation.offeredReception else { return early = nil }
      if early == nil {
        early = EarlyMedia(sections: offered.sections, extensionMap: offered.extensionMap)
      } else {
        early!.follow(offered.sections, offered.extensionMap)
      }
    case .stable:
      guard let packets = early?.packets else { return }
      early = nil
      for packet in packets { replay(packet, into: &outbox) }
    case .haveRemoteOffer, .closed: early = nil
    }
  }

  private mutating func replay(_ packet: EarlyMedia.Packet, into outbox: inout Outbox) {
    let bytes = packet.bytes.span
    guard let header = RTPHeader(parsing: bytes) else { return }
    var incoming = IncomingPacket(header, in: bytes, map: incomingExtensions)
    incoming.transportNumber = nil  // it was accounted for when it came
    take(incoming, in: bytes, now: packet.arrival, into: &outbox)
  }
}
