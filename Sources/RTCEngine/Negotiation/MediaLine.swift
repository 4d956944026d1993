import RTCPrimitives
import RTCWire

/// The state of an m-section between descriptions.
struct MediaLine: Hashable, Sendable {
  var mid: String
  /// False when the peer's offer has no `a=mid`; then ours has none either.
  var saysMid = true
  var kind: MediaDescription.Kind
  var use: Use
  /// The meaning of our payload types in this m-section; it stays the same for the whole session (RFC 3264 §8.3.2).
  var bindings: [PayloadBinding] = []
  var headerExtensions: [NegotiatedHeaderExtension] = []

  enum Use: Hashable, Sendable {
    case transceiver(TransceiverID)
    case dataChannels
    case rejected
  }

  var transceiver: TransceiverID? {
    if case .transceiver(let id) = use { id } else { nil }
  }
}

/// A codec under its numbers on the wire.
struct PayloadBinding: Hashable, Sendable {
  var capability: CodecCapability
  var payloadType: PayloadType
  var rtx: PayloadType?
  /// The parameters in our description.
  var parameters: FormatParameters
  var feedback: FeedbackMechanisms

  /// The formats in our description: the codec and, if used, its retransmissions.
  var formats: [PayloadFormat] {
    let format = PayloadFormat(
      payloadType: payloadType, name: capability.name, clockRate: capability.clockRate,
      channels: capability.channels, parameters: parameters, feedback: feedback.messages)
    guard let rtx else { return [format] }
    return [
      format,
      PayloadFormat(
        payloadType: rtx, name: "rtx", clockRate: capability.clockRate,
        parameters: FormatParameters("apt=\(payloadType.value)")),
    ]
  }
}

extension [PayloadBinding] {
  /// Describes the blocks of a redundant packet (RFC 2198 §4): its own sound, and a copy of the one before.
  mutating func describeRedundancy() {
    guard let sound = first(where: { !$0.capability.isRepair && $0.capability.channels == 2 }),
      let index = firstIndex(where: { $0.capability == .audioRedundancy })
    else { return }
    self[index].parameters = FormatParameters("\(sound.payloadType.value)/\(sound.payloadType.value)")
  }
}

/// The numbers taken in a session, so that an offer gives new things new numbers and old things their old ones.
struct NumberAllocation {
  private var formats: [PayloadType: CodecCapability] = [:]
  private var taken: Set<PayloadType> = []
  private var remoteFormats: [PayloadFormat] = []
  private var extensionIDs: [String: UInt8] = [:]

  init(lines: [MediaLine], remote: SessionDescription?) {
    for binding in lines.flatMap(\.bindings) {
      formats[binding.payloadType] = binding.capability
      taken.formUnion([binding.payloadType, binding.rtx].compactMap { $0 })
    }
    for item in lines.flatMap(\.headerExtensions) where extensionIDs[item.uri] == nil {
      extensionIDs[item.uri] = item.id
    }
    for section in remote?.media ?? [] {
      remoteFormats += section.payloads
      for item in section.headerExtensions {
        if let id = UInt8(exactly: item.id), extensionIDs[item.uri] == nil { extensionIDs[item.uri] = id }
      }
    }
    taken.formUnion(remoteFormats.map(\.payloadType))
  }

  /// Nil when all numbers are taken.
  mutating func bind(_ capability: CodecCapability, in lines: [MediaLine]) -> PayloadBinding? {
    if let known = lines.lazy.flatMap(\.bindings).first(where: { $0.capability == capability }) { return known }
    let payloadType: PayloadType
    if let same = remoteFormats.first(where: { capability.matches($0) }), formats[same.payloadType] == nil {
      payloadType = same.payloadType
    } else if let free = freePayloadType(preferring: capability.preferredPayloadType) {
      payloadType = free
    } else {
      return nil
    }
    formats[payloadType] = capability
    taken.insert(payloadType)
    var rtx: PayloadType?
    if capability.retransmits {
      let old = remoteFormats.first { $0.associatedPayloadType == payloadType }?.payloadType
      rtx = old ?? freePayloadType(preferring: PayloadType(payloadType.value + 1))
      if let rtx { taken.insert(rtx) }
    }
    return PayloadBinding(
      capability: capability, payloadType: payloadType, rtx: rtx, parameters: capability.parameters,
      feedback: capability.feedback)
  }

  /// Nil when all numbers are taken.
  mutating func headerExtensionID(_ uri: String) -> UInt8? {
    if let id = extensionIDs[uri] { return id }
    let used = Set(extensionIDs.values)
    // 15 is reserved in the one-byte form (RFC 8285 §4.2), which we use.
    guard let id = (1...14).first(where: { !used.contains($0) }) else { return nil }
    extensionIDs[uri] = id
    return id
  }

  private func freePayloadType(preferring preferred: PayloadType?) -> PayloadType? {
    if let preferred, !taken.contains(preferred), Self.isUsable(preferred.value) { return preferred }
    return [UInt8](96...127).lazy.map { PayloadType($0) }.first { !taken.contains($0) }
      ?? [UInt8](35...63).lazy.map { PayloadType($0) }.first { !taken.contains($0) }
  }

  /// 64…95 would be taken for RTCP (RFC 5761 §4).
  private static func isUsable(_ number: UInt8) -> Bool { number < 64 || number >= 96 }
}
