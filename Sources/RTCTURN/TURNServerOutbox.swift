package import RTCPrimitives

/// The place for datagrams and actions of a TURN server; emptied by its owner.
package struct TURNServerOutbox: ~Copyable {
  /// A relayed address to open, or to close.
  package enum Action: Hashable, Sendable {
    /// Open a port at each of these addresses, and call `TURNServer.opened` with the result before anything else.
    case open(allocation: Int, at: [IPAddress], isEven: Bool)
    /// Close a port.
    case close(Route.Kind)
  }

  /// Messages to clients and data to peers, in order.
  package var datagrams: DatagramBatch
  /// Actions, in order.
  package var actions: [Action] = []

  /// - Parameter capacity: the bytes reserved at first.
  package init(capacity: Int = 256 * 1024) { datagrams = DatagramBatch(capacity: capacity) }
}

/// A port that is open for an allocation.
package struct TURNRelay: Hashable, Sendable {
  /// The port's name in routes.
  package var kind: Route.Kind
  /// The address on this machine.
  package var local: SocketAddress

  /// A port of that name.
  package init(kind: Route.Kind, local: SocketAddress) { (self.kind, self.local) = (kind, local) }
}
