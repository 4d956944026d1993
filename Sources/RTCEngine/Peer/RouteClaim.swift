package import RTCPrimitives

/// A route of the remote peer: datagrams by it belong to this peer of all that share a port.
package struct RouteClaim: Hashable, Sendable {
  package var route: Route
  /// Whether a request of ours was answered by this route. If not, an authentic request arrived by it, whose source
  /// address the remote peer can have forged.
  package var isProved: Bool
}
