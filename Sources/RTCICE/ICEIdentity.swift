package import RTCWire

extension ICECredentials {
  /// Fresh ones: 48 random bits of fragment, 144 of password. The generator must be unguessable in production.
  package init(using generator: inout some RandomNumberGenerator) {
    let fragment = Self.text(count: 8, using: &generator)
    self.init(usernameFragment: fragment, password: Self.text(count: 24, using: &generator))
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  private static func text(count: Int, using generator: inout some RandomNumberGenerator) -> String {
    String(decoding: (0..<count).map { _ in alphabet[Int(generator.next() >> 58)] }, as: UTF8.self)
  }
}

/// Our credentials, with precomputed values.
struct LocalIdentity {
  let credentials: ICECredentials
  let fragment: [UInt8]
  let key: STUNIntegrityKey

  init(_ credentials: ICECredentials) {
    self.credentials = credentials
    fragment = Array(credentials.usernameFragment.utf8)
    key = STUNIntegrityKey(password: credentials.password)
  }
}

/// The peer's credentials, with precomputed values.
struct RemoteIdentity {
  let credentials: ICECredentials
  let fragment: [UInt8]
  let key: STUNIntegrityKey
  /// USERNAME of our checks: `remote:local`.
  let username: [UInt8]

  init(_ credentials: ICECredentials, local: LocalIdentity) {
    self.credentials = credentials
    fragment = Array(credentials.usernameFragment.utf8)
    key = STUNIntegrityKey(password: credentials.password)
    username = fragment + [UInt8(ascii: ":")] + local.fragment
  }
}

/// Finds the peer a first datagram is for, where many peers share one port.
package enum ICEDemultiplexer {
  /// The receiver's username fragment in a STUN Binding request; nil for every other datagram. Nothing is authenticated
  /// yet: use the answer only to choose the agent that then checks the request.
  package static func localUsernameFragment(of datagram: Span<UInt8>) -> String? {
    guard STUNMessage.isLikely(datagram), let message = try? STUNMessage(parsing: datagram) else { return nil }
    return localUsernameFragment(of: message)
  }

  /// The local user name fragment of a parsed message.
  package static func localUsernameFragment(of message: STUNMessage) -> String? {
    guard message.header.class == .request, message.header.method == .binding, let fragment = message.receiverFragment,
      fragment.count <= 256
    else { return nil }
    return String(decoding: fragment.indices.map { fragment[$0] }, as: UTF8.self)
  }
}
