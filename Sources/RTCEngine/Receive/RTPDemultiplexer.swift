package import RTCPrimitives
package import RTCWire

/// Finds the transceiver of a received packet (RFC 8843 §9.2): by its m-section, else by its source, else by its
/// payload type if that belongs to a single transceiver. The source is then remembered, as packets soon stop naming
/// their m-section. Keeps packets for an m-section of our pending offer until the answer arrives.
package struct RTPDemultiplexer {
  /// One agreed m-section.
  package struct Section: Hashable, Sendable {
    package var transceiver: TransceiverID
    /// The mid in packets.
    package var mid: RTPStreamID?
    /// The payload types that may arrive, including retransmissions.
    package var payloadTypes: [PayloadType]
    /// Sources the description names; often none.
    package var sources: [SSRC]
    package var isReceived: Bool

    package init(
      transceiver: TransceiverID, mid: RTPStreamID?, payloadTypes: [PayloadType], sources: [SSRC], isReceived: Bool
    ) {
      self.transceiver = transceiver
      self.mid = mid
      self.payloadTypes = payloadTypes
      self.sources = sources
      self.isReceived = isReceived
    }
  }

  /// The destination of a packet.
  package enum Destination: Hashable {
    /// - Parameter releasedBy: the transceiver that the packet's source belonged to until now; nil: the same.
    case transceiver(TransceiverID, releasedBy: TransceiverID?)
    case nobody(DropReason)
  }

  /// The header extensions by number: the same in all m-sections of a bundle (RFC 8843 §9.1).
  package private(set) var extensionMap = RTPHeaderExtensionMap()
  private var sections: [Section] = []
  private var sources = SSRCTable()
  /// Packets that arrived before the answer to our offer; nil without a pending offer that asks for more media.
  private var early: EarlyMedia?

  package init() {}

  // MARK: - Agreement

  /// Applies a new agreement; sources learned for transceivers that still receive stay.
  package mutating func configure(_ sections: [Section], extensionMap: RTPHeaderExtensionMap) {
    self.sections = sections
    self.extensionMap = extensionMap
    let received = sections.filter(\.isReceived)
    sources.describe(
      received.flatMap { section in section.sources.map { ($0, section.transceiver) } },
      receiving: Set(received.map(\.transceiver)))
  }

  /// The transceiver has ended: its payload types mean nothing any more.
  package mutating func remove(_ id: TransceiverID) {
    for index in sections.indices where sections[index].transceiver == id { sections[index].payloadTypes = [] }
  }

  /// True when there is an m-section that a packet could be for, or an offer of ours that asks for one.
  package var expectsMedia: Bool { early != nil || sections.contains(where: \.isReceived) }

  /// True when the source is known as one of the remote peer's.
  package func knows(_ source: SSRC) -> Bool { sources.owner(of: source) != nil }

  // MARK: - Packets

  package mutating func destination(of packet: IncomingPacket, now: Timestamp) -> Destination {
    let source = packet.header.ssrc
    if let mid = packet.mid {
      guard let owner = owner(of: mid) else { return .nobody(.unknownStream) }
      switch sources.bind(source, to: owner, now: now) {
      case .bound: return .transceiver(owner, releasedBy: nil)
      case .moved(let former): return .transceiver(owner, releasedBy: former)
      case .refused: return .nobody(.sourceCollision)
      }
    }
    if let owner = sources.owner(of: source) { return .transceiver(owner, releasedBy: nil) }
    guard let owner = onlyOwner(of: packet.header.payloadType) else { return .nobody(.unknownStream) }
    if case .refused = sources.bind(source, to: owner, now: now) { return .nobody(.sourceCollision) }
    return .transceiver(owner, releasedBy: nil)
  }

  private func owner(of mid: RTPStreamID) -> TransceiverID? {
    for index in sections.indices where sections[index].mid == mid { return sections[index].transceiver }
    return nil
  }

  /// The transceiver that alone receives this payload type.
  private func onlyOwner(of payloadType: PayloadType) -> TransceiverID? {
    var owner: TransceiverID?
    for index in sections.indices where sections[index].payloadTypes.contains(payloadType) {
      guard owner == nil else { return nil }
      owner = sections[index].transceiver
    }
    return owner
  }

  // MARK: - Before the answer

  /// The result for a packet that no answer has agreed to yet.
  package struct EarlyPacket: Hashable {
    /// The remote peer's rate control goes by when it came, not by when it was understood.
    package var transportNumber: TransportSequenceNumber?
    /// False: there was no room for it.
    package var isKept: Bool
  }

  /// Keeps a packet that is for an m-section we have offered to receive and that no answer has agreed to yet.
  /// - Returns: nil for every other.
  package mutating func keepEarly(_ header: RTPHeader, in packet: Span<UInt8>, now: Timestamp) -> EarlyPacket? {
    guard early != nil else { return nil }
    let incoming = IncomingPacket(header, in: packet, map: early!.extensionMap)
    if !early!.claims(incoming) {
      guard incoming.mid == nil, !knows(header.ssrc),
        !sections.contains(where: { $0.payloadTypes.contains(header.payloadType) }),
        early!.mayClaim(header.payloadType)
      else { return nil }
    }
    return EarlyPacket(transportNumber: incoming.transportNumber, isKept: early!.keep(packet, arrival: now))
  }

  /// Our offer was dropped; packets kept for it are discarded.
  package mutating func discardEarly() { early?.discard() }

  /// Follows our offers: offered media may arrive from now on.
  /// - Returns: early packets that can be handled now that the answer has arrived.
  package mutating func update(for negotiation: Negotiation) -> [EarlyMedia.Packet] {
    switch negotiation.signalingState {
    case .haveLocalOffer:
      if let offered = negotiation.offeredReception {
        if early == nil {
          early = EarlyMedia(sections: offered.sections, extensionMap: offered.extensionMap)
        } else {
          early!.replaceOffer(offered.sections, offered.extensionMap)
        }
      } else {
        early = nil
      }
    case .stable:
      let packets = early?.packets ?? []
      early = nil
      return packets
    case .haveRemoteOffer, .closed: early = nil
    }
    return []
  }

  /// Releases the kept packets; nothing arrives any more.
  package mutating func end() { early = nil }
}
