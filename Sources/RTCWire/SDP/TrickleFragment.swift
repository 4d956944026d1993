import RTCPrimitives

/// A fragment of trickle ICE, sent after the first exchange, media type `application/trickle-ice-sdpfrag` (RFC 8840
/// §9); the body of a WHIP or WHEP `PATCH` (RFC 9725 §4.3).
public struct TrickleFragment: Hashable, Sendable {
  /// New ones mean an ICE restart.
  public var credentials: ICECredentials?
  /// `a=ice-options`, those said in sections included: on parsing the first sixteen, without repeats.
  public var iceOptions: [String] = []
  /// `a=ice-lite`: the side that says it is a lite agent, which sends no checks (RFC 8839 §5.3).
  public var isICELite = false
  /// The mids of `a=group:BUNDLE`.
  public var bundle: [String] = []
  /// The sections in order; candidates that stand before any m-line are in a first one of their own.
  public var sections: [Section] = []
  /// Said before any m-line: no section has more candidates to come.
  public var endOfCandidates = false

  /// The values of one m-section.
  public struct Section: Hashable, Sendable {
    /// Nil for candidates that stand before any m-line.
    public var kind: MediaDescription.Kind?
    /// Nil for candidates that stand before any m-line or in a section without `a=mid`.
    public var mid: String?
    /// Given when they are said inside the section.
    public var credentials: ICECredentials?
    /// The new candidates.
    public var candidates: [CandidateDescription]
    /// `a=end-of-candidates`: the section has no more candidates to come (RFC 8840 §8).
    public var endOfCandidates: Bool

    /// A section with these values.
    public init(
      kind: MediaDescription.Kind?, mid: String?, credentials: ICECredentials? = nil,
      candidates: [CandidateDescription] = [], endOfCandidates: Bool = false
    ) {
      self.kind = kind
      self.mid = mid
      self.credentials = credentials
      self.candidates = candidates
      self.endOfCandidates = endOfCandidates
    }
  }

  /// An empty fragment.
  public init() {}

  /// The credentials said at either level.
  public var effectiveCredentials: ICECredentials? { credentials ?? sections.lazy.compactMap(\.credentials).first }

  /// The candidates of all sections.
  public var candidates: [CandidateDescription] { sections.flatMap(\.candidates) }

  /// True when the sender has no more candidates, in whichever way it says so.
  public var isComplete: Bool {
    endOfCandidates || (!sections.isEmpty && sections.allSatisfy(\.endOfCandidates))
  }

  /// Reads a fragment whose lines end in CRLF or LF, bounded by `PeerLimits`. Candidates that cannot be read and
  /// attributes that mean nothing here are left out.
  public init(parsing text: String) throws(SDPError) {
    var session = TransportAttributes()
    var open: (section: Section, transport: TransportAttributes)?
    for line in try SDPLine.split(text) {
      switch line.type {
      case UInt8(ascii: "m"):
        close(open, &session)
        guard sections.count < PeerLimits.mediaSections else {
          throw SDPError(line: line.number, reason: .tooMany("m-sections", limit: PeerLimits.mediaSections))
        }
        let fields = line.value.fields
        guard fields.count >= 4 else { throw line.invalid("m=") }
        open = (Section(kind: MediaDescription.Kind(String(fields[0])), mid: nil), TransportAttributes())
      case UInt8(ascii: "a"):
        let (name, optional) = line.attribute
        let value = optional ?? ""
        if name == "mid" {
          guard isToken(value, upTo: 64), open != nil else { throw line.invalid("mid") }
          open?.section.mid = String(value)
        } else if open != nil {
          _ = try open?.transport.apply(name, value, line)
        } else if try !session.apply(name, value, line) {
          readSessionAttribute(name, value)
        }
      default: break  // a whole description is accepted too; its other lines say nothing about ICE
      }
    }
    close(open, &session)
    credentials = session.credentials
    iceOptions = session.iceOptions
    endOfCandidates = session.endOfCandidates
    if !session.candidates.isEmpty {
      sections.insert(Section(kind: nil, mid: nil, candidates: session.candidates), at: 0)
    }
  }

  private mutating func readSessionAttribute(_ name: String, _ value: Substring) {
    switch name {
    case "ice-lite": isICELite = true
    case "group":
      let fields = value.fields
      if fields.first == "BUNDLE", fields.count <= PeerLimits.mediaSections {
        bundle = fields.dropFirst().map { String($0) }
      }
    default: break
    }
  }

  /// Adds a complete section; ICE options apply to the whole session wherever they are.
  private mutating func close(
    _ open: (section: Section, transport: TransportAttributes)?, _ session: inout TransportAttributes
  ) {
    guard var section = open?.section, let transport = open?.transport else { return }
    section.credentials = transport.credentials
    section.candidates = transport.candidates
    section.endOfCandidates = transport.endOfCandidates
    session.addOptions(transport.iceOptions)
    sections.append(section)
  }
}

extension TrickleFragment: CustomStringConvertible {
  /// The fragment as it is sent, every line ended by CRLF.
  public var description: String {
    var writer = SDPWriter()
    if isICELite { writer.attribute("ice-lite") }
    if !bundle.isEmpty { writer.attribute("group", (["BUNDLE"] + bundle).joined(separator: " ")) }
    var session = TransportAttributes()
    session.credentials = credentials
    session.iceOptions = iceOptions
    session.endOfCandidates = endOfCandidates
    for section in sections where section.kind == nil { session.candidates += section.candidates }
    session.write(into: &writer)
    for section in sections {
      guard let kind = section.kind else { continue }
      // RFC 8840 §9.2: the m-line only opens the section, its other fields mean nothing.
      writer.line("m=\(kind.name) 9 RTP/AVP 0")
      if let mid = section.mid { writer.attribute("mid", mid) }
      var transport = TransportAttributes()
      transport.credentials = section.credentials
      transport.candidates = section.candidates
      transport.endOfCandidates = section.endOfCandidates
      transport.write(into: &writer)
    }
    return writer.text
  }
}
