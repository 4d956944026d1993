import RTCPrimitives

/// An m-section while its lines are read: attributes of a payload type may come in any order.
struct MediaDescriptionReader {
  private var media: MediaDescription
  private let line: Int
  private var saysDirection = false
  private var mappings: [PayloadType: PayloadFormat] = [:]
  private var parameters: [PayloadType: String] = [:]
  private var feedback: [(PayloadType?, String)] = []

  /// From an `m=` line.
  init(_ line: SDPLine) throws(SDPError) {
    let fields = line.value.fields
    guard fields.count >= 4, (1...32).contains(fields[0].utf8.count) else { throw line.invalid("m=") }
    let port = Substring(fields[1].utf8.prefix { $0 != UInt8(ascii: "/") })
    guard let port = port.decimal(UInt16.self) else { throw line.invalid("m= port") }
    var formats: [String] = []
    for format in fields[3...] where !formats.contains(String(format)) {
      guard formats.count < 256 else { throw SDPError(line: line.number, reason: .tooMany("formats", limit: 256)) }
      formats.append(String(format))
    }
    media = MediaDescription(
      kind: MediaDescription.Kind(String(fields[0])), port: port, proto: String(fields[2]), formats: formats)
    self.line = line.number
  }

  mutating func read(_ line: SDPLine) throws(SDPError) {
    switch line.type {
    case UInt8(ascii: "c"): media.connection = String(line.value)
    case UInt8(ascii: "b"): try readBandwidth(line)
    case UInt8(ascii: "a"): try readAttribute(line)
    case UInt8(ascii: "i"), UInt8(ascii: "k"): break
    default: throw SDPError(line: line.number, reason: .misplaced("this type of line in an m-section"))
    }
  }

  /// The section as read, with what only the session level said.
  func finish(session: TransportAttributes, direction: MediaDirection?, mixed: Bool) -> MediaDescription {
    var media = media
    media.transport.inherit(session)
    if !saysDirection, let direction { media.direction = direction }
    if mixed { media.allowsMixedHeaderExtensions = true }
    guard media.kind == .audio || media.kind == .video else { return media }
    for format in media.formats {
      guard let type = format[...].payloadType, media.payload(type) == nil,
        var payload = mappings[type] ?? PayloadFormat.assigned(type)
      else {
        continue
      }
      payload.parameters = FormatParameters(parameters[type] ?? "")
      for (owner, message) in feedback where owner == nil || owner == type {
        if !payload.feedback.contains(message) { payload.feedback.append(message) }
      }
      media.payloads.append(payload)
    }
    return media
  }

  private mutating func readBandwidth(_ line: SDPLine) throws(SDPError) {
    let (type, value) = line.attribute
    guard let value = value?.decimal(UInt64.self), media.bandwidths.count < 8 else { throw line.invalid("b=") }
    media.bandwidths.append(MediaDescription.Bandwidth(type: String(type), value: value))
  }

  private mutating func readAttribute(_ line: SDPLine) throws(SDPError) {
    let (name, optional) = line.attribute
    let value = optional ?? ""
    if try media.transport.apply(name, value, line) { return }
    if try readFormatAttribute(name, value, line) { return }
    if try readSourceAttribute(name, value, line) { return }
    switch name {
    case "mid":
      guard isToken(value, upTo: 64) else { throw line.invalid("mid") }
      if let mid = media.mid, mid != value { throw SDPError(line: line.number, reason: .duplicate("mid")) }
      media.mid = String(value)
    case "sendrecv", "sendonly", "recvonly", "inactive":
      media.direction = MediaDirection(rawValue: String(name)) ?? .inactive
      saysDirection = true
    case "rtcp": media.rtcp = String(value)
    case "rtcp-mux": media.usesRTCPMux = true
    case "rtcp-rsize": media.allowsReducedSizeRTCP = true
    case "bundle-only": media.isBundleOnly = true
    case "extmap-allow-mixed": media.allowsMixedHeaderExtensions = true
    case "sctp-port":
      guard let port = value.decimal(UInt16.self) else { throw line.invalid("sctp-port") }
      media.sctpPort = port
    case "max-message-size":
      guard let size = value.decimal(UInt64.self) else { throw line.invalid("max-message-size") }
      media.maxMessageSize = size
    default: media.otherAttributes.append(OtherAttribute(name, optional))
    }
  }

  private mutating func readFormatAttribute(
    _ name: Substring, _ value: Substring, _ line: SDPLine
  ) throws(SDPError) -> Bool {
    switch name {
    case "rtpmap":
      let (head, mapping) = value.firstFieldAndRest
      guard let type = head.payloadType, let format = PayloadFormat(payloadType: type, mapping: mapping) else {
        throw line.invalid("rtpmap")
      }
      if let before = mappings[type], before != format {
        throw SDPError(line: line.number, reason: .duplicate("rtpmap"))
      }
      mappings[type] = format
    case "fmtp":
      let (head, text) = value.firstFieldAndRest
      guard let type = head.payloadType else {
        // Formats of an m-section without RTP are no payload types.
        media.otherAttributes.append(OtherAttribute(name, value))
        return true
      }
      parameters[type] = parameters[type].map { $0 + ";" + text } ?? String(text)
    case "rtcp-fb":
      let (head, message) = value.firstFieldAndRest
      guard head == "*" || head.payloadType != nil, !message.isEmpty, feedback.count < 1_024 else {
        throw line.invalid("rtcp-fb")
      }
      feedback.append((head.payloadType, String(message)))
    case "extmap":
      guard let headerExtension = HeaderExtensionDescription(parsing: value), media.headerExtensions.count < 256 else {
        throw line.invalid("extmap")
      }
      media.headerExtensions.append(headerExtension)
    default: return false
    }
    return true
  }

  private mutating func readSourceAttribute(
    _ name: Substring, _ value: Substring, _ line: SDPLine
  ) throws(SDPError) -> Bool {
    switch name {
    case "msid":
      guard let identifier = MediaStreamIdentifier(parsing: value), media.streamIdentifiers.count < 64 else {
        throw line.invalid("msid")
      }
      if !media.streamIdentifiers.contains(identifier) { media.streamIdentifiers.append(identifier) }
    case "ssrc": try readSource(value, line)
    case "ssrc-group":
      guard let group = MediaSourceGroup(parsing: value), media.sourceGroups.count < SDPLimits.sources else {
        throw line.invalid("ssrc-group")
      }
      media.sourceGroups.append(group)
    case "rid":
      guard !value.isEmpty, media.restrictions.count < 64 else { throw line.invalid("rid") }
      media.restrictions.append(String(value))
    case "simulcast": media.simulcast = String(value)
    default: return false
    }
    return true
  }

  private mutating func readSource(_ value: Substring, _ line: SDPLine) throws(SDPError) {
    let (head, rest) = value.firstFieldAndRest
    guard let number = head.decimal(UInt32.self) else { throw line.invalid("ssrc") }
    var index = media.sources.firstIndex { $0.ssrc.value == number }
    if index == nil {
      guard media.sources.count < SDPLimits.sources else {
        throw SDPError(line: line.number, reason: .tooMany("sources", limit: SDPLimits.sources))
      }
      index = media.sources.count
      media.sources.append(MediaSource(ssrc: SSRC(number)))
    }
    guard let index else { return }
    if rest.hasPrefix("cname:") {
      media.sources[index].cname = String(rest.dropFirst(6))
    } else if rest.hasPrefix("msid:") {
      media.sources[index].streamIdentifier = MediaStreamIdentifier(parsing: rest.dropFirst(5))
    }
  }
}

/// Visible ASCII without spaces, at most `limit` bytes.
func isToken(_ text: Substring, upTo limit: Int) -> Bool {
  (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
}
