import RTCPrimitives

/// Finds the server that a datagram came from by its route.
struct ServerEndpoints {
  /// A STUN and a TURN server may have one address: coturn is both.
  struct Endpoint {
    var query: Int?
    var allocation: Int?
  }

  /// The parts of a route that distinguish servers: for a stream its number, for UDP the server's address, and ours if
  /// it is given.
  private struct Key: Hashable {
    let kind: Route.Kind
    let local: SocketAddress?
    let remote: SocketAddress?

    init(_ route: Route, withLocal: Bool) {
      kind = route.kind
      switch route.kind {
      case .udp:
        local = withLocal ? route.local.withoutScope : nil
        remote = route.remote.withoutScope
      case .stream, .relay:
        local = nil
        remote = nil
      }
    }
  }

  private var endpoints: [Key: Endpoint] = [:]
  private var haveLocals = false

  init() {}

  init(queries: [STUNServerQuery], allocations: [TURNAllocation]) {
    for (index, query) in queries.enumerated() { self[query.link.route].query = index }
    for (index, allocation) in allocations.enumerated() { self[allocation.link.route].allocation = index }
  }

  func find(_ route: Route) -> Endpoint? {
    guard !endpoints.isEmpty else { return nil }
    if let endpoint = endpoints[Key(route, withLocal: false)] { return endpoint }
    return haveLocals ? endpoints[Key(route, withLocal: true)] : nil
  }

  /// Whether there is another server of the same role.
  func contains(_ server: CandidateGatherer.Server) -> Bool {
    let endpoint = endpoints[Key(server.route, withLocal: Self.hasLocal(server.route))]
    return (server.isRelay ? endpoint?.allocation : endpoint?.query) != nil
  }

  private subscript(route: Route) -> Endpoint {
    get { endpoints[Key(route, withLocal: Self.hasLocal(route))] ?? Endpoint() }
    set {
      haveLocals = haveLocals || Self.hasLocal(route)
      endpoints[Key(route, withLocal: Self.hasLocal(route))] = newValue
    }
  }

  private static func hasLocal(_ route: Route) -> Bool { !route.local.ip.isUnspecified }
}
