/// A session description (RFC 8866) in the form that RFC 8829 gives it. What may be said at session level for every
/// m-section (ICE credentials, fingerprints, set-up role, direction, mixed header extensions) stands in each m-section
/// after parsing.
public struct SessionDescription: Hashable, Sendable {
  public var origin: Origin
  /// `s=`.
  public var name = "-"
  /// The mids of each `a=group:BUNDLE` (RFC 8843).
  public var bundles: [[String]] = []
  public var isICELite = false
  /// The value of `a=msid-semantic`, such as `WMS *`.
  public var streamSemantics: String?
  public var media: [MediaDescription] = []
  /// Session attributes that have no field of their own, in their order.
  public var otherAttributes: [OtherAttribute] = []

  /// `o=` (RFC 8866 §5.2).
  public struct Origin: Hashable, Sendable {
    public var username: String
    public var sessionID: UInt64
    public var version: UInt64
    /// Such as `IN IP4 127.0.0.1`.
    public var address: String

    public init(
      username: String = "-", sessionID: UInt64, version: UInt64, address: String = "IN IP4 127.0.0.1"
    ) {
      self.username = username
      self.sessionID = sessionID
      self.version = version
      self.address = address
    }
  }

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
