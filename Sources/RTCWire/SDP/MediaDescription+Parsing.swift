import RTCPrimitives

/// An m-section while its lines are read: attributes of a payload type may come in any order.
struct MediaDescriptionReader {
  private var media: MediaDescription
  private let line: Int
  private var saysDirection = false
  private var mappings: [PayloadType: PayloadFormat] = [:]
  private var parameters: [PayloadType: String] = [:]
  /// The feedback of single payload types, and of all; each once.
  private var feedback: [PayloadType: [String]] = [:]
  private var commonFeedback: [String] = []
  private var sourceIndices: [UInt32: Int] = [:]

  /// From an `m=` line.
  init(_ line: SDPLine) throws(SDPError) {
    let fields = line.value.fields
    guard fields.count >= 4, (1...32).contains(fields[0].utf8.count) else { throw line.invalid("m=") }
    let port = Substring(fields[1].utf8.prefix { $0 != UInt8(ascii: "/") })
    guard let port = port.decimal(UInt16.self) else { throw line.invalid("m= port") }
    var formats: [String] = []
    var seen: Set<String> = []
    for format in fields[3...].lazy.map({ String($0) }) where seen.insert(format).inserted {
      guard formats.count < PeerLimits.formats else {
        throw SDPError(line: line.number, reason: .tooMany("formats", limit: PeerLimits.formats))
      }
      formats.append(format)
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
    var seen: Set<PayloadType> = []
    for format in media.formats {
      // `96` and `096` are one.
      guard let type = format[...].payloadType, seen.insert(type).inserted,
        var payload = mappings[type] ?? PayloadFormat.assigned(type)
      else {
        continue
      }
      payload.parameters = FormatParameters(parameters[type] ?? "")
      payload.feedback = commonFeedback
      for message in feedback[type] ?? [] where !commonFeedback.contains(message) { payload.feedback.append(message) }
      media.payloads.append(payload)
    }
    return media
  }

  private mutating func readBandwidth(_ line: SDPLine) throws(SDPError) {
    let (type, value) = line.attribute
    guard let value = value?.decimal(UInt64.self), media.bandwidths.count < 8 else { throw line.invalid("b=") }
    media.bandwidths.append(MediaDescription.Bandwidth(type: type, value: value))
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
      media.direction = MediaDirection(rawValue: name) ?? .inactive
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
    default: media.otherAttributes.keep(name, optional)
    }
  }

  private mutating func readFormatAttribute(
    _ name: String, _ value: Substring, _ line: SDPLine
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
        media.otherAttributes.keep(name, value)
        return true
      }
      guard (parameters[type]?.utf8.count ?? 0) + text.utf8.count < PeerLimits.formatParameterBytes else {
        throw SDPError(
          line: line.number,
          reason: .tooMany("bytes of parameters of a payload type", limit: PeerLimits.formatParameterBytes))
      }
      parameters[type] = parameters[type].map { $0 + ";" + text } ?? String(text)
    case "rtcp-fb":
      let (head, message) = value.firstFieldAndRest
      guard head == "*" || head.payloadType != nil, !message.isEmpty else { throw line.invalid("rtcp-fb") }
      if let type = head.payloadType {
        try Self.add(message, to: &feedback[type, default: []], line)
      } else {
        try Self.add(message, to: &commonFeedback, line)
      }
    case "extmap":
      guard let headerExtension = HeaderExtensionDescription(parsing: value),
        media.headerExtensions.count < PeerLimits.headerExtensions
      else { throw line.invalid("extmap") }
      media.headerExtensions.append(headerExtension)
    default: return false
    }
    return true
  }

  private static func add(
    _ message: Substring, to messages: inout [String], _ line: SDPLine
  ) throws(SDPError) {
    let message = String(message)
    guard !messages.contains(message) else { return }
    guard messages.count < PeerLimits.feedbackMessages else {
      throw SDPError(
        line: line.number, reason: .tooMany("kinds of feedback on a payload type", limit: PeerLimits.feedbackMessages))
    }
    messages.append(message)
  }

  private mutating func readSourceAttribute(
    _ name: String, _ value: Substring, _ line: SDPLine
  ) throws(SDPError) -> Bool {
    switch name {
    case "msid":
      guard let identifier = MediaStreamIdentifier(parsing: value),
        media.streamIdentifiers.count < PeerLimits.streamIdentifiers
      else {
        throw line.invalid("msid")
      }
      if !media.streamIdentifiers.contains(identifier) { media.streamIdentifiers.append(identifier) }
    case "ssrc": try readSource(value, line)
    case "ssrc-group":
      guard let group = MediaSourceGroup(parsing: value), media.sourceGroups.count < PeerLimits.sourceGroups
      else { throw line.invalid("ssrc-group") }
      media.sourceGroups.append(group)
    case "rid":
      guard !value.isEmpty, media.restrictions.count < PeerLimits.streamIdentifiers else { throw line.invalid("rid") }
      media.restrictions.append(String(value))
    case "simulcast": media.simulcast = String(value)
    default: return false
    }
    return true
  }

  private mutating func readSource(_ value: Substring, _ line: SDPLine) throws(SDPError) {
    let (head, rest) = value.firstFieldAndRest
    guard let number = head.decimal(UInt32.self) else { throw line.invalid("ssrc") }
    let index = sourceIndices[number] ?? media.sources.count
    if index == media.sources.count {
      guard index < PeerLimits.describedSources else {
        throw SDPError(line: line.number, reason: .tooMany("sources", limit: PeerLimits.describedSources))
      }
      sourceIndices[number] = index
      media.sources.append(MediaSource(ssrc: SSRC(number)))
    }
    if let name = rest.after("cname:") {
      media.sources[index].cname = String(name)
    } else if let identifier = rest.after("msid:") {
      media.sources[index].streamIdentifier = MediaStreamIdentifier(parsing: identifier)
    }
  }
}

/// Visible ASCII without spaces, at most `limit` bytes.
func isToken(_ text: Substring, upTo limit: Int) -> Bool {
  (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
}
