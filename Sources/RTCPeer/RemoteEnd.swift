package import RTCPrimitives

/// Where a remote peer is, and what carries the datagrams between it and us: what tells its datagrams from others'.
package struct RemoteEnd: Hashable {
  package var address: SocketAddress
  package var kind: Route.Kind

  package init(_ route: Route) { (address, kind) = (route.remote, route.kind) }
}
