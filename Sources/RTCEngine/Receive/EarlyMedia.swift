package import RTCPrimitives
import RTCWire

/// An m-section of our pending offer that asks for what is not received yet.
struct OfferedReception: Hashable, Sendable {
  var mid: RTPStreamID
  /// Our payload types, those of retransmissions included.
  var payloadTypes: Set<PayloadType>
}

/// Media that came before the answer to our offer: who offers to receive must be ready as soon as the offer is out
/// (RFC 3264 §5.1, RFC 8829 §4.1.8). What it is, the answer says; until then packets are kept as they came, so that the
/// key frame a stream begins with need not be asked for again.
package struct EarlyMedia {
  /// What 6 Mbit/s bring in two thirds of a second; what comes later is repaired as any loss.
  static let maximumPackets = 512
  static let maximumBytes = 524_288
  /// A remote peer has no business with more sources that nobody has agreed to.
  private static let maximumSources = 16

  package struct Packet {
    package var bytes: [UInt8]
    package var arrival: Timestamp
  }

  private var sections: [OfferedReception]
  /// Numbers of header extensions, as offered.
  private(set) var extensionMap: RTPHeaderExtensionMap
  private(set) var packets: [Packet] = []
  private var bytes = 0
  /// Those whose packets named an m-section of the offer; they soon stop to.
  private var sources: [SSRC] = []

  init(sections: [OfferedReception], extensionMap: RTPHeaderExtensionMap) {
    self.sections = sections
    self.extensionMap = extensionMap
  }

  /// True when the packet belongs to an offered m-section by its name, or by a source that named it before.
  mutating func claims(_ packet: IncomingPacket) -> Bool {
    let source = packet.header.ssrc
    guard let mid = packet.mid else { return sources.contains(source) }
    guard sections.contains(where: { $0.mid == mid }) else { return false }
    if !sources.contains(source), sources.count < Self.maximumSources { sources.append(source) }
    return true
  }

  /// True when an unnamed packet of an unknown source can be for one of the offered m-sections alone.
  func mayClaim(_ payloadType: PayloadType) -> Bool {
    sections.count { $0.payloadTypes.contains(payloadType) } == 1
  }

  /// - Returns: false when there is no room; those that came first are worth more.
  mutating func keep(_ packet: Span<UInt8>, arrival: Timestamp) -> Bool {
    guard packets.count < Self.maximumPackets, bytes + packet.count <= Self.maximumBytes else { return false }
    bytes += packet.count
    packets.append(Packet(bytes: [UInt8](copying: packet), arrival: arrival))
    return true
  }

  /// Another offer has taken the place of the one before.
  ///
  /// A method, for Swift 6.3 leaks the old value where a property of an optional is assigned to in what cannot be copied,
  /// as a peer: `early!.sections = …`.
  mutating func replaceOffer(_ sections: [OfferedReception], _ extensionMap: RTPHeaderExtensionMap) {
    self.sections = sections
    self.extensionMap = extensionMap
  }

  /// The offer is no more.
  mutating func discard() {
    packets = []
    sources = []
    bytes = 0
  }
}

extension Negotiation {
  /// What our pending offer asks to receive and the present agreement does not bring; nil without such an offer, or before
  /// there is any agreement, for then nothing can be decrypted.
  var offeredReception: (sections: [OfferedReception], extensionMap: RTPHeaderExtensionMap)? {
    guard case .haveLocalOffer(let offer, let before?) = state else { return nil }
    var numbers: [UInt8: String] = [:]
    var sections: [OfferedReception] = []
    for (line, section) in zip(offer.lines, offer.description.media) {
      guard let id = line.transceiver else { continue }
      for item in line.headerExtensions where numbers[item.id] == nil { numbers[item.id] = item.uri }
      guard section.direction.receives, let mid = RTPStreamID(line.mid),
        before.session.media.first(where: { $0.transceiver == id })?.direction.receives != true
      else { continue }
      let payloadTypes = line.bindings.flatMap { [$0.payloadType, $0.rtx].compactMap(\.self) }
      sections.append(OfferedReception(mid: mid, payloadTypes: Set(payloadTypes)))
    }
    return sections.isEmpty ? nil : (sections, RTPHeaderExtensionMap(numbers))
  }
}
