/// A session description (RFC 8866) in the form of RFC 8829. Session-level values that apply to every m-section (ICE
/// credentials, fingerprints, set-up role, direction, mixed header extensions) are in each m-section after parsing.
public struct SessionDescription: Hashable, Sendable {
  /// The description's author and version.
  public var origin: Origin
  /// `s=`.
  public var name = "-"
  /// The mids of each `a=group:BUNDLE` (RFC 8843).
  public var bundles: [[String]] = []
  /// `a=ice-lite`: the side that says it is a lite agent, which sends no checks (RFC 8839 §5.3).
  public var isICELite = false
  /// The value of `a=msid-semantic`, such as `WMS *`.
  public var streamSemantics: String?
  /// The m-sections, in the order of their m-lines.
  public var media: [MediaDescription] = []
  /// Session attributes that have no field of their own, in their order.
  public var otherAttributes: [OtherAttribute] = []

  /// `o=` (RFC 8866 §5.2).
  public struct Origin: Hashable, Sendable {
    /// The name of the description's maker; `-` when there is none.
    public var username: String
    /// The session's number, which stays the same in all its descriptions.
    public var sessionID: UInt64
    /// The description's version; goes up with each change.
    public var version: UInt64
    /// Such as `IN IP4 127.0.0.1`.
    public var address: String

    /// An origin of these values; `sessionID` should be random (RFC 8829 §5.2.1).
    public init(
      username: String = "-", sessionID: UInt64, version: UInt64, address: String = "IN IP4 127.0.0.1"
    ) {
      self.username = username
      self.sessionID = sessionID
      self.version = version
      self.address = address
    }
  }

  /// A description without m-sections.
  public init(origin: Origin) { self.origin = origin }

  /// The position of the m-section with that mid.
  public func index(mid: String) -> Int? { media.firstIndex { $0.mid == mid } }
}

extension SessionDescription: CustomStringConvertible {
  /// The description as it is sent, every line ended by CRLF.
  public var description: String {
    var writer = SDPWriter()
    writer.line("v=0")
    writer.line("o=\(origin.username) \(origin.sessionID) \(origin.version) \(origin.address)")
    writer.line("s=" + (name.isEmpty ? "-" : name))
    writer.line("t=0 0")
    for bundle in bundles { writer.attribute("group", (["BUNDLE"] + bundle).joined(separator: " ")) }
    let mixed = !media.isEmpty && media.allSatisfy(\.allowsMixedHeaderExtensions)
    if mixed { writer.attribute("extmap-allow-mixed") }
    if isICELite { writer.attribute("ice-lite") }
    if let streamSemantics { writer.line("a=msid-semantic: " + streamSemantics) }
    for other in otherAttributes { other.write(into: &writer) }
    for var section in media {
      if mixed { section.allowsMixedHeaderExtensions = false }
      section.write(into: &writer)
    }
    return writer.text
  }
}
