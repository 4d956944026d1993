import RTCPrimitives
import RTCWire

/// Our m-section of an offer or answer.
struct LocalSection {
  var line: MediaLine
  var media: LocalTransceiver
  var direction: MediaDirection
  var proto = "UDP/TLS/RTP/SAVPF"
  var credentials: ICECredentials
  var fingerprint: [UInt8]
  var setup: SetupRole
  var cname: String
  var allowsMixedHeaderExtensions: Bool
  var allowsReducedSizeRTCP: Bool

  var description: MediaDescription {
    let payloads = line.bindings.flatMap(\.formats)
    var section = MediaDescription(
      kind: line.kind, proto: proto, formats: payloads.map { "\($0.payloadType.value)" })
    section.connection = "IN IP4 0.0.0.0"
    section.rtcp = "9 IN IP4 0.0.0.0"
    section.transport = Self.transport(credentials, fingerprint, setup)
    section.mid = line.saysMid ? line.mid : nil
    section.direction = direction
    section.usesRTCPMux = true
    section.allowsReducedSizeRTCP = allowsReducedSizeRTCP
    section.allowsMixedHeaderExtensions = allowsMixedHeaderExtensions
    section.payloads = payloads
    section.headerExtensions = line.headerExtensions.map {
      HeaderExtensionDescription(
        id: UInt16($0.id), direction: $0.direction == .sendrecv ? nil : $0.direction, uri: $0.uri)
    }
    if direction.sends, let track = media.track { add(track, to: &section) }
    return section
  }

  private func add(_ track: LocalTrack, to section: inout MediaDescription) {
    let identifier = MediaStreamIdentifier(stream: track.streamID, track: track.trackID)
    section.streamIdentifiers = [identifier]
    section.sources = [MediaSource(ssrc: track.ssrc, cname: cname, streamIdentifier: identifier)]
    if let rtx = track.rtxSSRC, line.bindings.contains(where: { $0.rtx != nil }) {
      section.sources.append(MediaSource(ssrc: rtx, cname: cname, streamIdentifier: identifier))
      section.sourceGroups = [MediaSourceGroup(semantics: "FID", sources: [track.ssrc, rtx])]
    }
    if let fec = track.fecSSRC, line.bindings.contains(where: { $0.capability.name == "flexfec-03" }) {
      section.sources.append(MediaSource(ssrc: fec, cname: cname, streamIdentifier: identifier))
      section.sourceGroups.append(MediaSourceGroup(semantics: "FEC-FR", sources: [track.ssrc, fec]))
    }
  }

  static func transport(_ credentials: ICECredentials, _ fingerprint: [UInt8], _ setup: SetupRole)
    -> TransportAttributes
  {
    var transport = TransportAttributes()
    transport.credentials = credentials
    transport.iceOptions = ["trickle"]
    transport.fingerprints = [CertificateFingerprint(algorithm: "sha-256", bytes: fingerprint)]
    transport.setup = setup
    return transport
  }

  /// The transport of an m-section without candidates. It ends them, because aiortc otherwise waits for candidates there
  /// before it connects the m-sections behind.
  static func closedTransport(
    _ credentials: ICECredentials, _ fingerprint: [UInt8], _ setup: SetupRole
  ) -> TransportAttributes {
    var transport = transport(credentials, fingerprint, setup)
    transport.endOfCandidates = true
    return transport
  }

  /// A rejected m-section; it repeats the formats because the grammar requires at least one.
  /// - Parameters:
  ///   - payloads: in answers, the offer's: aiortc refuses an answer without any of its codecs.
  ///   - transport: in answers, that of the others, with rtcp-mux: Chromium writes it there too, and aiortc requires
  ///     it.
  static func rejected(
    _ line: MediaLine, proto: String, formats: [String], payloads: [PayloadFormat] = [],
    transport: TransportAttributes? = nil
  ) -> MediaDescription {
    var section = MediaDescription(kind: line.kind, port: 0, proto: proto, formats: formats)
    section.connection = "IN IP4 0.0.0.0"
    section.mid = line.saysMid ? line.mid : nil
    section.direction = .inactive
    section.payloads = payloads
    // Its feedback is of no use, and would make the answer longer than the offer.
    for index in section.payloads.indices { section.payloads[index].feedback = [] }
    if let transport {
      section.transport = transport
      section.usesRTCPMux = MediaKind(line.kind) != nil
    }
    return section
  }
}
