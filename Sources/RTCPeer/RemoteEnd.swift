package import RTCPrimitives

/// The address of a remote peer and the carrier of its datagrams; both together distinguish its datagrams from others'.
package struct RemoteEnd: Hashable {
  package var address: SocketAddress
  package var kind: Route.Kind

  package init(_ route: Route) { (address, kind) = (route.remote, route.kind) }
}
