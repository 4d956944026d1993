/// The identifiers negotiated for header extensions in one direction of one media section, or of a bundle
/// (RFC 8285 §5). Both look-ups are one array access. A URI has at most one identifier and the reverse.
public struct RTPHeaderExtensionMap: Hashable, Sendable {
  /// By identifier; as long as the largest one needs.
  private var uris: [RTPHeaderExtensionURI?] = []
  /// By `RTPHeaderExtensionURI.slot`; 0 where nothing is negotiated.
  private var ids = [UInt8](repeating: 0, count: RTPHeaderExtensionURI.allCases.count)
  /// True when some identifier does not fit the one-byte form (1…14): blocks are then written in the two-byte form.
  public private(set) var needsTwoByteForm = false

  /// No identifiers.
  public init() {}

  /// Maps each of `uris` to the identifiers 1, 2, 3, … in order, as an offerer does.
  public init(offering uris: [RTPHeaderExtensionURI]) {
    for (index, uri) in uris.enumerated() { self[uri] = UInt8(index + 1) }
  }

  /// True when no extension has an identifier.
  public var isEmpty: Bool { ids.allSatisfy { $0 == 0 } }

  /// The identifier of `uri`, nil if it is not negotiated. Setting removes the identifier from its earlier extension;
  /// it must be 1…255.
  public subscript(uri: RTPHeaderExtensionURI) -> UInt8? {
    get {
      let id = ids[uri.slot]
      return id == 0 ? nil : id
    }
    set {
      precondition(newValue != 0, "header extension identifiers start at 1")
      let old = ids[uri.slot]
      if old != 0 { uris[Int(old)] = nil }
      ids[uri.slot] = newValue ?? 0
      if let newValue { assign(uri, id: newValue) }
      needsTwoByteForm = ids.contains { $0 > 14 }
    }
  }

  /// The extension with the identifier `id`; nil if it is not negotiated or unknown.
  public func uri(id: UInt8) -> RTPHeaderExtensionURI? {
    Int(id) < uris.count ? uris[Int(id)] : nil
  }

  private mutating func assign(_ uri: RTPHeaderExtensionURI, id: UInt8) {
    while uris.count <= Int(id) { uris.append(nil) }
    if let former = uris[Int(id)] { ids[former.slot] = 0 }
    uris[Int(id)] = uri
  }

  /// Equal when the same extensions have the same identifiers.
  public static func == (a: Self, b: Self) -> Bool { a.ids == b.ids }
  /// Hashes the identifiers of all extensions.
  public func hash(into hasher: inout Hasher) { hasher.combine(ids) }
}

extension RTPHeaderExtensionMap: CustomStringConvertible {
  /// `id=uri` pairs in the order of the identifiers.
  public var description: String {
    uris.indices.compactMap { id in uris[id].map { "\(id)=\($0)" } }.joined(separator: " ")
  }
}
