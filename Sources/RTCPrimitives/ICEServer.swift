/// A STUN or TURN server and the credentials for it (W3C RTCIceServer).
public struct ICEServer: Hashable, Sendable {
  /// The ways to the same server; one at least.
  public var urls: [ICEServerURL]
  /// For TURN.
  public var username: String?
  /// For TURN.
  public var credential: String?

  /// The values as they are; see `init(urls:username:credential:)` for text.
  public init(_ urls: [ICEServerURL], username: String? = nil, credential: String? = nil) {
    self.urls = urls
    self.username = username
    self.credential = credential
  }

  /// - Throws: for a URI that cannot be read, and for TURN without a user name and password.
  public init(
    parsing urls: [String], username: String? = nil, credential: String? = nil
  ) throws(ICEServerError) {
    var parsed: [ICEServerURL] = []
    for url in urls { parsed.append(try ICEServerURL(parsing: url)) }
    self.init(parsed, username: username, credential: credential)
    if let relay = parsed.first(where: \.scheme.isRelay), username == nil || credential == nil {
      throw ICEServerError("A TURN server needs a user name and a password.", of: relay.description)
    }
  }
}

/// The candidates that a connection may use (W3C RTCIceTransportPolicy).
public enum ICETransportPolicy: String, CaseIterable, Sendable {
  /// All candidates.
  case all
  /// Candidates of TURN servers only: the remote peer learns no address of this machine.
  case relay
}

/// Why a STUN or TURN server cannot be used as it is written.
public struct ICEServerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A sentence with the server, the fault, and the right form.
  public let description: String

  init(_ sentence: String, of text: String) {
    description = "\"\(text.prefix(200))\" is no STUN or TURN server: \(sentence)"
  }

  static func unknownScheme(_ name: String, _ rest: Substring, of text: String) -> ICEServerError {
    let near = ICEServerURL.Scheme.allCases.map(\.rawValue).min {
      editDistance(name, $0) < editDistance(name, $1)
    }
    guard name.count <= 12, let near, editDistance(name, near) <= 2 else {
      return ICEServerError("It must begin with stun:, stuns:, turn: or turns:.", of: text)
    }
    return ICEServerError("Did you mean \(near):\(rest)?", of: text)
  }

  /// Letters to insert, delete, exchange, or swap with the next.
  private static func editDistance(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a.utf8), Array(b.utf8))
    var rows = [Array(0...b.count)]
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var best = min(rows[i][j] + (a[i] == b[j] ? 0 : 1), min(row[j], rows[i][j + 1]) + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, rows[i - 1][j - 1] + 1) }
        row.append(best)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
