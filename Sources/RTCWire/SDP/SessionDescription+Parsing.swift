import RTCPrimitives

extension SessionDescription {
  /// Parses a description whose lines end in CRLF or LF. Input is limited by `PeerLimits`; unknown attributes are kept,
  /// unparsable candidates are left out, and all other violations of the grammar are refused.
  public init(parsing text: String) throws(SDPError) {
    let lines = try SDPLine.split(text)
    guard let first = lines.first, first.type == UInt8(ascii: "v") else {
      throw SDPError(line: lines.first?.number ?? 0, reason: .missing("v="))
    }
    guard first.value == "0" else { throw SDPError(line: first.number, reason: .unsupportedVersion) }
    guard lines.count > 1, lines[1].type == UInt8(ascii: "o") else {
      throw SDPError(line: first.number + 1, reason: .missing("o="))
    }
    self.init(origin: try Origin(lines[1]))
    guard lines.count > 2, lines[2].type == UInt8(ascii: "s") else {
      throw SDPError(line: lines[1].number + 1, reason: .missing("s="))
    }
    if !lines[2].value.isEmpty { name = String(lines[2].value) }
    var session = SessionLevel()
    var reader: MediaDescriptionReader?
    for line in lines.dropFirst(3) {
      if line.type == UInt8(ascii: "m") {
        try finish(reader, session)
        guard media.count < PeerLimits.mediaSections else {
          throw SDPError(line: line.number, reason: .tooMany("m-sections", limit: PeerLimits.mediaSections))
        }
        reader = try MediaDescriptionReader(line)
      } else if reader != nil {
        try reader!.read(line)
      } else {
        try read(line, &session)
      }
    }
    try finish(reader, session)
    try refuseRepeatedMids()
  }

  /// Adds the m-section that was read last.
  private mutating func finish(_ reader: MediaDescriptionReader?, _ session: SessionLevel) throws(SDPError) {
    guard let reader else { return }
    media.append(reader.finish(session: session.transport, direction: session.direction, mixed: session.mixed))
    guard media.reduce(0, { $0 + $1.formats.count }) <= PeerLimits.formatsInAll else {
      throw SDPError(line: 0, reason: .tooMany("formats", limit: PeerLimits.formatsInAll))
    }
    guard media.reduce(0, { $0 + $1.sources.count }) <= PeerLimits.describedSourcesInAll else {
      throw SDPError(line: 0, reason: .tooMany("sources", limit: PeerLimits.describedSourcesInAll))
    }
  }

  /// The session-level values that apply to every m-section.
  private struct SessionLevel {
    var transport = TransportAttributes()
    var direction: MediaDirection?
    var mixed = false
  }

  private mutating func read(_ line: SDPLine, _ session: inout SessionLevel) throws(SDPError) {
    switch line.type {
    case UInt8(ascii: "a"): try readAttribute(line, &session)
    case UInt8(ascii: "i"), UInt8(ascii: "u"), UInt8(ascii: "e"), UInt8(ascii: "p"), UInt8(ascii: "c"),
      UInt8(ascii: "b"), UInt8(ascii: "t"), UInt8(ascii: "r"), UInt8(ascii: "z"), UInt8(ascii: "k"):
      break  // no meaning in WebRTC
    case UInt8(ascii: "v"), UInt8(ascii: "o"), UInt8(ascii: "s"):
      throw SDPError(line: line.number, reason: .misplaced("v=, o= or s="))
    default: throw SDPError(line: line.number, reason: .unknownType)
    }
  }

  private mutating func readAttribute(_ line: SDPLine, _ session: inout SessionLevel) throws(SDPError) {
    let (name, optional) = line.attribute
    let value = optional ?? ""
    if try session.transport.apply(name, value, line) { return }
    switch name {
    case "group":
      let fields = value.fields
      guard fields.first == "BUNDLE" else {
        otherAttributes.keep(name, optional)
        return
      }
      let mids = fields.dropFirst().map { String($0) }
      guard mids.count <= PeerLimits.mediaSections, Set(mids).count == mids.count,
        bundles.count < PeerLimits.mediaSections
      else { throw line.invalid("group:BUNDLE") }
      bundles.append(mids)
    case "ice-lite": isICELite = true
    case "extmap-allow-mixed": session.mixed = true
    case "msid-semantic": streamSemantics = value.fields.joined(separator: " ")
    case "sendrecv", "sendonly", "recvonly", "inactive": session.direction = MediaDirection(rawValue: name)
    default: otherAttributes.keep(name, optional)
    }
  }

  private func refuseRepeatedMids() throws(SDPError) {
    var seen: Set<String> = []
    for mid in media.compactMap(\.mid) where !seen.insert(mid).inserted {
      throw SDPError(line: 0, reason: .duplicate("mid \(mid)"))
    }
  }
}

extension SessionDescription.Origin {
  init(_ line: SDPLine) throws(SDPError) {
    let fields = line.value.fields
    guard fields.count == 6, let sessionID = fields[1].decimal(UInt64.self),
      let version = fields[2].decimal(UInt64.self)
    else { throw line.invalid("o=") }
    self.init(
      username: String(fields[0]), sessionID: sessionID, version: version,
      address: fields[3...].joined(separator: " "))
  }
}
