import RTCWire

/// A username fragment and password (RFC 8445 §5.3).
public struct IceCredentials: Hashable, Sendable {
  public let usernameFragment: String
  public let password: String

  /// Nil when a field is too short, too long or has other than ice-chars (RFC 8839 §5.4).
  public init?(usernameFragment: String, password: String) {
    guard (4...256).contains(usernameFragment.utf8.count), (22...256).contains(password.utf8.count),
      usernameFragment.utf8.allSatisfy(Self.isIceChar), password.utf8.allSatisfy(Self.isIceChar)
    else { return nil }
    self.usernameFragment = usernameFragment
    self.password = password
  }

  /// Fresh ones: 48 random bits of fragment, 144 of password. The generator must be unguessable in production.
  public init(using generator: inout some RandomNumberGenerator) {
    usernameFragment = Self.text(count: 8, using: &generator)
    password = Self.text(count: 24, using: &generator)
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  private static func isIceChar(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
      true
    default: false
    }
  }

  private static func text(count: Int, using generator: inout some RandomNumberGenerator) -> String {
    String(decoding: (0..<count).map { _ in alphabet[Int(generator.next() >> 58)] }, as: UTF8.self)
  }
}

/// Our credentials with what is worked out from them once.
struct LocalIdentity {
  let credentials: IceCredentials
  let fragment: [UInt8]
  let key: StunIntegrityKey

  init(_ credentials: IceCredentials) {
    self.credentials = credentials
    fragment = Array(credentials.usernameFragment.utf8)
    key = StunIntegrityKey(password: credentials.password)
  }
}

/// The peer's credentials with what is worked out from them once.
struct RemoteIdentity {
  let credentials: IceCredentials
  let fragment: [UInt8]
  let key: StunIntegrityKey
  /// USERNAME of our checks: `remote:local`.
  let username: [UInt8]

  init(_ credentials: IceCredentials, local: LocalIdentity) {
    self.credentials = credentials
    fragment = Array(credentials.usernameFragment.utf8)
    key = StunIntegrityKey(password: credentials.password)
    username = fragment + [UInt8(ascii: ":")] + local.fragment
  }
}

/// Finds the peer a first datagram is for, where many peers share one port.
public enum IceDemultiplexer {
  /// The receiver's username fragment in a STUN Binding request; nil for every other datagram. Nothing is authenticated
  /// yet: use the answer only to choose the agent that then checks the request.
  public static func localUsernameFragment(of datagram: Span<UInt8>) -> String? {
    guard StunMessage.isLikely(datagram), let message = try? StunMessage(parsing: datagram),
      message.header.class == .request, message.header.method == .binding, let fragment = message.receiverFragment,
      fragment.count <= 256
    else { return nil }
    return String(decoding: fragment.indices.map { fragment[$0] }, as: UTF8.self)
  }
}
