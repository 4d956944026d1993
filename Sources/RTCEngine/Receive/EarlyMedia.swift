package import RTCPrimitives
import RTCWire

/// An m-section of our pending offer whose media is not received yet.
struct OfferedReception: Hashable, Sendable {
  var mid: RTPStreamID
  /// Our payload types, including those of retransmissions.
  var payloadTypes: Set<PayloadType>
}

/// Media that arrives before the answer to our offer: an offerer must be ready to receive as soon as the offer is sent
/// (RFC 3264 §5.1, RFC 8829 §4.1.8). Its format is in the answer. Until then packets are kept unparsed, so that the key
/// frame at the start of a stream need not be requested again.
package struct EarlyMedia {
  /// The number of packets in two thirds of a second of 6 Mbit/s; later packets are repaired like any loss.
  static let maximumPackets = 512
  static let maximumBytes = 524_288
  /// The maximum number of sources before an agreement; an honest peer has fewer.
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
  /// The sources whose packets named an m-section of the offer; packets soon stop naming it.
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

  /// - Returns: false if there is no room; the first packets are more useful.
  mutating func keep(_ packet: Span<UInt8>, arrival: Timestamp) -> Bool {
    guard packets.count < Self.maximumPackets, bytes + packet.count <= Self.maximumBytes else { return false }
    bytes += packet.count
    packets.append(Packet(bytes: [UInt8](copying: packet), arrival: arrival))
    return true
  }

  /// Replaces the offer.
  ///
  /// This is a method because Swift 6.3 leaks the old value when a property of an optional is assigned within a
  /// noncopyable value such as a peer: `early!.sections = …`.
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
  /// The media that our pending offer asks for and the present agreement lacks; nil without such an offer, or before
  /// the first agreement, when nothing can be decrypted.
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
