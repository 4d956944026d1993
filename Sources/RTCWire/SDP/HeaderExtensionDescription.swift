/// One `a=extmap` line (RFC 8285 §5): `a=extmap:3/recvonly URI attributes`.
public struct HeaderExtensionDescription: Hashable, Sendable {
  /// 1…14 fits both header forms, 16…255 the two-byte form only, 4096…4351 is a request without a number yet.
  public var id: UInt16
  /// The direction from the describing side's view; nil means the m-section's own.
  public var direction: MediaDirection?
  /// The URI of the extension; it may be unknown here.
  public var uri: String
  /// The text after the URI, as written.
  public var attributes: String

  /// Takes all values as they are; nothing is checked.
  public init(id: UInt16, direction: MediaDirection? = nil, uri: String, attributes: String = "") {
    self.id = id
    self.direction = direction
    self.uri = uri
    self.attributes = attributes
  }

  init?(parsing text: Substring) {
    let (head, rest) = text.firstFieldAndRest
    let (uri, attributes) = rest.firstFieldAndRest
    let parts = head.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Substring.init)
    guard (1...2).contains(parts.count), let id = parts[0].decimal(UInt16.self), id > 0, !uri.isEmpty else {
      return nil
    }
    var direction: MediaDirection?
    if parts.count == 2 {
      direction = MediaDirection(rawValue: String(parts[1]))
      guard direction != nil else { return nil }
    }
    self.init(id: id, direction: direction, uri: String(uri), attributes: String(attributes))
  }

  var text: String {
    "\(id)" + (direction.map { "/\($0.rawValue)" } ?? "") + " " + uri + (attributes.isEmpty ? "" : " " + attributes)
  }
}
