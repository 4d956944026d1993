/// The address of a STUN or TURN server as a URI says it (RFC 7064, RFC 7065): `stun:host`, `turns:host:443`,
/// `turn:[2001:db8::1]:3478?transport=tcp`.
public struct ICEServerURL: Hashable, Sendable {
  /// The protocol of the server, with or without TLS.
  public enum Scheme: String, CaseIterable, Sendable {
    /// The address that others see (STUN), in the clear and by TLS.
    case stun, stuns
    /// A relay (TURN), in the clear and by TLS.
    case turn, turns

    /// True for `turn` and `turns`.
    public var isRelay: Bool { self == .turn || self == .turns }
    /// True for `stuns` and `turns`.
    public var isSecure: Bool { self == .stuns || self == .turns }
  }

  /// How messages travel between this machine and the server.
  public enum Transport: String, Sendable {
    /// Datagrams.
    case udp
    /// One connection, with TLS where the scheme says so.
    case tcp
  }

  /// The scheme of the URI.
  public var scheme: Scheme
  /// A name or a literal address, without brackets; 1…255 characters.
  public var host: String
  /// 3478 unless the URI says otherwise; 5349 with TLS.
  public var port: UInt16
  /// The transport of the connection to the server; `stuns` and `turns` use TCP.
  public var transport: Transport

  /// The values as they are.
  public init(scheme: Scheme, host: String, port: UInt16? = nil, transport: Transport? = nil) {
    self.scheme = scheme
    self.host = host
    self.port = port ?? (scheme.isSecure ? 5_349 : 3_478)
    self.transport = transport ?? (scheme.isSecure ? .tcp : .udp)
  }

  /// Parses a URI. The scheme may be in capitals; `?transport=` is accepted for every scheme, as in browsers; the
  /// slashes of `turn://host` are an error that shows the right form.
  public init(parsing text: String) throws(ICEServerError) {
    guard text.utf8.count <= 512, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw ICEServerError("It must be at most 512 visible ASCII characters.", of: text)
    }
    guard let colon = text.firstIndex(of: ":") else {
      throw ICEServerError("It must begin with stun:, stuns:, turn: or turns:, as in stun:\(text).", of: text)
    }
    let (name, rest) = (text[..<colon].lowercased(), text[text.index(after: colon)...])
    guard let scheme = Scheme(rawValue: name) else { throw .unknownScheme(name, rest, of: text) }
    guard !rest.hasPrefix("//") else {
      throw ICEServerError("There are no slashes in it: write \(name):\(rest.drop { $0 == "/" }).", of: text)
    }
    let question = rest.firstIndex(of: "?")
    let transport = try Self.transport(question.map { rest[rest.index(after: $0)...] }, scheme, of: text)
    let (host, port) = try Self.authority(rest[..<(question ?? rest.endIndex)], of: text)
    self.init(scheme: scheme, host: host, port: port, transport: transport)
  }

  private static func transport(
    _ query: Substring?, _ scheme: Scheme, of text: String
  ) throws(ICEServerError) -> Transport? {
    guard let query else { return nil }
    let parts = query.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].lowercased() == "transport",
      let transport = Transport(rawValue: parts[1].lowercased())
    else { throw ICEServerError("Only ?transport=udp or ?transport=tcp may follow the host.", of: text) }
    guard !scheme.isSecure || transport == .tcp else {
      throw ICEServerError("\(scheme.rawValue) goes over TCP; leave ?transport=udp out.", of: text)
    }
    return transport
  }

  private static func authority(
    _ text: Substring, of whole: String
  ) throws(ICEServerError) -> (host: String, port: UInt16?) {
    guard !text.contains("@") else {
      throw ICEServerError("User name and password do not belong into the URI.", of: whole)
    }
    var host = text
    var digits: Substring?
    if text.hasPrefix("[") {
      guard let close = text.firstIndex(of: "]") else { throw ICEServerError("The closing ] is missing.", of: whole) }
      host = text[text.index(after: text.startIndex)..<close]
      let after = text[text.index(after: close)...]
      guard after.isEmpty || after.hasPrefix(":") else {
        throw ICEServerError("Only :PORT may follow the ].", of: whole)
      }
      digits = after.isEmpty ? nil : after.dropFirst()
    } else if let colon = text.firstIndex(of: ":") {
      guard text.lastIndex(of: ":") == colon else {
        throw ICEServerError("An IPv6 address stands in brackets, as in stun:[2001:db8::1]:3478.", of: whole)
      }
      (host, digits) = (text[..<colon], text[text.index(after: colon)...])
    }
    guard !host.isEmpty, host.utf8.count <= 255, !host.contains("/") else {
      throw ICEServerError("The host is missing, or is none.", of: whole)
    }
    guard let digits else { return (String(host), nil) }
    guard let port = UInt16(digits), port > 0 else {
      throw ICEServerError("The port must be a number from 1 to 65535, not \"\(digits)\".", of: whole)
    }
    return (String(host), port)
  }
}

extension ICEServerURL: CustomStringConvertible {
  /// The URI in its shortest form.
  public var description: String {
    let usual = ICEServerURL(scheme: scheme, host: host)
    let name = host.contains(":") ? "[\(host)]" : host
    return "\(scheme.rawValue):\(name)" + (port == usual.port ? "" : ":\(port)")
      + (transport == usual.transport ? "" : "?transport=\(transport.rawValue)")
  }
}
