import RTCPrimitives

/// Where a remote peer is, and what carries the datagrams between it and us: what tells its datagrams from others'.
struct RemoteEnd: Hashable {
  var address: SocketAddress
  var kind: Route.Kind

  init(_ route: Route) { (address, kind) = (route.remote, route.kind) }
}
