/// The two ends of a datagram's way: which local address it leaves from (or came to), and the remote one; and what
/// carries it on this machine.
public struct Route: Hashable, Sendable, BitwiseCopyable {
  /// What carries a datagram on this machine. Relays (RFC 8656) and streams (RFC 6544) would be further kinds.
  public enum Kind: Hashable, Sendable, BitwiseCopyable {
    /// A UDP port of the event loop, in the order they were added.
    case udp(port: UInt8)
  }

  /// The address on this machine.
  public var local: SocketAddress
  /// The address that datagrams go to or come from.
  public var remote: SocketAddress
  /// What carries the datagrams on this machine.
  public var kind: Kind

  /// A route between the two addresses, on the first UDP port unless `kind` says otherwise.
  @inlinable
  public init(local: SocketAddress, remote: SocketAddress, kind: Kind = .udp(port: 0)) {
    self.local = local
    self.remote = remote
    self.kind = kind
  }
}
