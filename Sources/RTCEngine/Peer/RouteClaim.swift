package import RTCPrimitives

/// A route at which the remote peer is: what comes by it is for this peer of all that share a port.
package struct RouteClaim: Hashable, Sendable {
  package var route: Route
  /// A request of ours was answered by it. Else an authentic request came by it, which the remote peer, but nobody else, can
  /// have sent under another's address.
  package var isProved: Bool
}
