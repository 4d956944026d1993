/// The two ends of a datagram's way: which local address it leaves from (or came to), and the remote one; and what
/// carries it on this machine.
public struct Route: Hashable, Sendable, BitwiseCopyable {
  /// The carrier of a datagram on this machine.
  public enum Kind: Hashable, Sendable, BitwiseCopyable {
    /// A UDP port of the event loop, by its number there.
    case udp(port: UInt16)
    /// An allocation at a TURN server (RFC 8656), by its number in the loop. The route's local address is the relayed one.
    case relay(UInt16)
    /// A TCP connection, by its number in the loop: to a remote peer (RFC 6544), or to a STUN or TURN server.
    case stream(UInt16)

    /// The bytes that a batch leaves free before each datagram for the route's header: that of ChannelData (RFC 8656
    /// §12.4).
    @inlinable
    public var headroom: Int { if case .relay = self { 4 } else { 0 } }
  }

  /// The address on this machine.
  public var local: SocketAddress
  /// The address that datagrams go to or come from.
  public var remote: SocketAddress
  /// The carrier of the datagrams on this machine.
  public var kind: Kind

  /// A route between the two addresses, on the first UDP port unless `kind` says otherwise.
  @inlinable
  public init(local: SocketAddress, remote: SocketAddress, kind: Kind = .udp(port: 0)) {
    self.local = local
    self.remote = remote
    self.kind = kind
  }
}
