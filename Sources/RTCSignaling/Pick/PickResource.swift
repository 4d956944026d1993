import RTCPrimitives

/// The resources of the page on which a caster picks a source.
package enum PickResource: Sendable, Equatable {
  /// `/pick/state`.
  case state
  /// `/pick/picture/ID`.
  case picture(id: String)
  /// `/pick/choice`, to which the page posts the identifier of a source.
  case choice

  /// Nil for a path that names nothing here.
  init?(path: Substring) {
    let prefix = "/pick/"
    guard path.hasPrefix(prefix) else { return nil }
    let rest = path.dropFirst(prefix.count)
    switch rest {
    case "state": self = .state
    case "choice": self = .choice
    default:
      let picture = "picture/"
      guard rest.hasPrefix(picture) else { return nil }
      let id = rest.dropFirst(picture.count)
      guard Self.isIdentifier(id) else { return nil }
      self = .picture(id: String(id))
    }
  }

  /// Letters, digits, `-` and `_`, 64 at most.
  package static func isIdentifier(_ id: some StringProtocol) -> Bool {
    (1...64).contains(id.utf8.count) && id.utf8.allSatisfy(Base64URL.isLetter)
  }

  var methods: [String] {
    switch self {
    case .state, .picture: ["GET", "HEAD", "OPTIONS"]
    case .choice: ["POST", "OPTIONS"]
    }
  }

  /// For the log.
  var publicPath: String {
    switch self {
    case .state: "/pick/state"
    case .picture: "/pick/picture/…"
    case .choice: "/pick/choice"
    }
  }
}
