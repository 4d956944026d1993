import RTCPrimitives
import RTCWire

/// The plan of an answer: which m-sections of the offer are accepted, by which transceivers, and with which codecs.
struct AnswerPlan {
  private(set) var lines: [MediaLine] = []
  private(set) var media: [NegotiatedMedia] = []
  private(set) var dataChannels: NegotiatedDataChannels?
  private(set) var rejected: [Rejection] = []
  /// The mids of the one bundle that is accepted; empty when the offer has none.
  let bundle: [String]
  /// The header extensions of the m-sections accepted so far, by number.
  private var extensionNames: [UInt8: String] = [:]
  private let transceivers: [Negotiation.Transceiver]
  private let negotiation: Negotiation

  /// The accepted m-sections, in their order.
  var accepted: [MediaReference] {
    (media.map(\.reference) + [dataChannels?.reference].compactMap { $0 }).sorted { $0.index < $1.index }
  }

  /// No m-section was accepted yet.
  private var isFirst: Bool { media.isEmpty && dataChannels == nil }

  init(offer taken: Negotiation.RemoteOffer, before: [MediaLine], negotiation: Negotiation) {
    self.negotiation = negotiation
    transceivers = negotiation.transceivers
    let offer = taken.description
    bundle = Self.chooseBundle(offer, before, takesDataChannels: negotiation.dataChannels != nil)
    let known = Set(before.compactMap(\.transceiver))
    var free: [TransceiverID] = []
    if taken.matching == .whateverFits {
      free = transceivers.indices.map(TransceiverID.init(index:)).filter {
        transceivers[$0.index].life == .running && !known.contains($0)
      }
    }
    for (index, section) in offer.media.enumerated() {
      let old = index < before.count ? before[index] : nil
      let sameMid = section.mid == nil || section.mid == old?.mid
      let owner = taken.owners[index] ?? (sameMid ? old?.transceiver : nil)
      var line = MediaLine(
        mid: section.mid ?? old?.mid ?? unusedMid(offer, index), saysMid: section.mid != nil, kind: section.kind,
        use: .rejected)
      let reference = MediaReference(index: index, mid: line.mid)
      if section.kind == .application, negotiation.dataChannels != nil {
        takeDataChannels(section, &line, reference)
      } else if let reason = Self.obstacle(section, bundle, isFirst: isFirst) {
        rejected.append(Rejection(media: reference, reason: reason))
      } else if let (id, bindings) = match(section, owner, free) {
        free.removeAll { $0 == id }
        accept(section, &line, reference, id, bindings)
      } else {
        let kind = MediaKind(section.kind)
        let hasKind =
          taken.matching == .settled
          || (free + [owner].compactMap { $0 }).contains { transceivers[$0.index].media.kind == kind }
        rejected.append(Rejection(media: reference, reason: hasKind ? .noCommonCodec : .noTransceiver))
      }
      lines.append(line)
    }
  }

  /// The bundle the session already runs on, else the first that has an m-section we could take.
  static func chooseBundle(
    _ offer: SessionDescription, _ before: [MediaLine], takesDataChannels: Bool
  ) -> [String] {
    let live = Set(before.filter { $0.use != .rejected }.map(\.mid))
    return offer.bundles.first { $0.contains(where: live.contains) }
      ?? offer.bundles.first { mids in
        mids.contains { mid in
          guard let section = offer.index(mid: mid).map({ offer.media[$0] }), !section.isRejected else { return false }
          return MediaKind(section.kind) != nil || (takesDataChannels && section.isForDataChannels)
        }
      } ?? []
  }

  /// The reason why the m-section cannot be accepted, whatever we support.
  /// - Parameter isFirst: no m-section before it was accepted.
  static func obstacle(_ section: MediaDescription, _ bundle: [String], isFirst: Bool) -> Rejection.Reason? {
    if section.isRejected { return .turnedOffByPeer }
    guard MediaKind(section.kind) != nil else { return .unsupportedKind }
    let protocols = ["UDP/TLS/RTP/SAVPF", "TCP/TLS/RTP/SAVPF", "TCP/DTLS/RTP/SAVPF", "RTP/SAVPF", "UDP/TLS/RTP/SAVP"]
    guard protocols.contains(section.proto) else { return .unsupportedProtocol }
    guard section.usesRTCPMux else { return .noRTCPMux }
    return isReachable(section, bundle, isFirst: isFirst) ? nil : .outsideBundle
  }

  /// Without a bundle the first m-section has the transport for itself.
  private static func isReachable(_ section: MediaDescription, _ bundle: [String], isFirst: Bool) -> Bool {
    section.mid.map(bundle.contains) ?? false || (bundle.isEmpty && isFirst)
  }

  /// One association carries all channels: the first m-section for them gets it.
  private mutating func takeDataChannels(
    _ section: MediaDescription, _ line: inout MediaLine, _ reference: MediaReference
  ) {
    let reason: Rejection.Reason
    if section.isRejected {
      reason = .turnedOffByPeer
    } else if dataChannels != nil {
      reason = .noTransceiver
    } else if !Self.isReachable(section, bundle, isFirst: isFirst) {
      reason = .outsideBundle
    } else if let agreed = try? negotiation.agreeOnDataChannels(section, reference) {
      line.use = .dataChannels
      dataChannels = agreed
      return
    } else {
      reason = .unsupportedProtocol
    }
    rejected.append(Rejection(media: reference, reason: reason))
  }

  /// The m-section's own transceiver, else the first free one of its kind that has a codec in common, one that can use
  /// the offered direction before one that cannot.
  private func match(
    _ section: MediaDescription, _ owner: TransceiverID?, _ free: [TransceiverID]
  ) -> (TransceiverID, [PayloadBinding])? {
    if let owner, transceivers[owner.index].life == .running {
      let bindings = Self.bind(transceivers[owner.index].media, section)
      return bindings.isEmpty ? nil : (owner, bindings)
    }
    let fitting = free.compactMap { id -> (TransceiverID, [PayloadBinding])? in
      let media = transceivers[id.index].media
      guard media.kind == MediaKind(section.kind) else { return nil }
      let bindings = Self.bind(media, section)
      return bindings.isEmpty ? nil : (id, bindings)
    }
    return fitting.first { id, _ in
      transceivers[id.index].media.direction.intersection(section.direction.reversed) != .inactive
    } ?? fitting.first
  }

  /// Our codecs that the offer has too, in our order, under the offer's numbers.
  static func bind(_ media: LocalTransceiver, _ section: MediaDescription) -> [PayloadBinding] {
    var bindings: [PayloadBinding] = []
    let retransmissions = section.retransmissions
    for codec in media.codecs {
      let format = section.payloads.first { format in
        codec.matches(format) && !bindings.contains { $0.payloadType == format.payloadType }
      }
      guard let format else { continue }
      bindings.append(
        PayloadBinding(
          capability: codec, payloadType: format.payloadType,
          rtx: codec.retransmits ? retransmissions[format.payloadType] : nil,
          parameters: codec.answerParameters(to: format),
          feedback: codec.feedback.intersection(FeedbackMechanisms(format.feedback))))
    }
    bindings.describeRedundancy()
    // Repair alone is nothing to agree on.
    return bindings.allSatisfy(\.capability.isRepair) ? [] : bindings
  }

  private mutating func accept(
    _ section: MediaDescription, _ line: inout MediaLine, _ reference: MediaReference, _ id: TransceiverID,
    _ bindings: [PayloadBinding]
  ) {
    let local = transceivers[id.index].media
    line.use = .transceiver(id)
    line.bindings = bindings
    line.headerExtensions = headerExtensions(local, section)
    let direction = local.direction.intersection(section.direction.reversed)
    let codecs = bindings.map { binding in
      NegotiatedCodec(
        capability: binding.capability, payloadType: binding.payloadType, rtxPayloadType: binding.rtx,
        parameters: binding.parameters, feedback: binding.feedback)
    }
    let send = codecs.map { codec in
      var codec = codec
      codec.parameters = section.payload(codec.payloadType)?.parameters ?? FormatParameters()
      return codec
    }
    var accepted = NegotiatedMedia(
      transceiver: id, reference: reference, kind: local.kind, direction: direction,
      sendCodecs: [], receiveCodecs: [], headerExtensions: line.headerExtensions,
      allowsMixedHeaderExtensions: section.allowsMixedHeaderExtensions,
      allowsReducedSizeRTCP: section.allowsReducedSizeRTCP, remoteSources: [], remoteSourceGroups: [],
      remoteStreamIdentifiers: [])
    for item in line.headerExtensions { extensionNames[item.id] = item.uri }
    accepted.setCodecs(send: send, receive: codecs)
    accepted.adopt(section)
    media.append(accepted)
  }

  /// The offer's header extensions that we support, under the offer's numbers. A number that already has another
  /// meaning in the bundle is skipped, as is one that needs the two-byte form unless the offer allows mixing.
  private func headerExtensions(
    _ local: LocalTransceiver, _ section: MediaDescription
  ) -> [NegotiatedHeaderExtension] {
    var result: [NegotiatedHeaderExtension] = []
    for offered in section.headerExtensions {
      guard let id = UInt8(exactly: offered.id), id < 15 || (id > 15 && section.allowsMixedHeaderExtensions),
        let wanted = local.headerExtensions.first(where: { $0.uri == offered.uri }),
        !result.contains(where: { $0.id == id || $0.uri == offered.uri }),
        extensionNames[id] ?? offered.uri == offered.uri
      else { continue }
      let direction = wanted.direction.intersection((offered.direction ?? .sendrecv).reversed)
      if direction != .inactive {
        result.append(NegotiatedHeaderExtension(id: id, uri: offered.uri, direction: direction))
      }
    }
    return result
  }

  /// A name of our own for an m-section without `a=mid`.
  private func unusedMid(_ offer: SessionDescription, _ index: Int) -> String {
    var number = index
    let used = Set(offer.media.compactMap(\.mid)).union(lines.map(\.mid))
    while used.contains("\(number)") { number += 1 }
    return "\(number)"
  }
}
