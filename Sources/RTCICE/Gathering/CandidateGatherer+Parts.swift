package import RTCPrimitives

extension CandidateGatherer {
  /// An address of one of our sockets: a host candidate (RFC 8445 §5.1.1.1).
  package struct Base: Hashable, Sendable {
    /// The interface's address and the socket's port.
    package var address: SocketAddress
    /// The interface, for the scope of link-local IPv6 addresses.
    package var interfaceIndex: UInt32
    /// The carrier of the candidate's datagrams.
    package var carrier: Route.Kind

    /// A base on the loop's first UDP port unless `carrier` says otherwise.
    package init(address: SocketAddress, interfaceIndex: UInt32 = 0, carrier: Route.Kind = .udp(port: 0)) {
      self.address = address
      self.interfaceIndex = interfaceIndex
      self.carrier = carrier
    }
  }

  /// A STUN or TURN server at one resolved address.
  package struct Server: Sendable {
    /// The transport of our requests, best first: relayed candidates of equal servers are preferred in this order.
    package enum Transport: Int, Sendable {
      case udp
      case tcp
      case tls
    }

    /// The owner's name for it, unique among the gatherer's servers.
    package var id: Int
    /// The way to it. `local` may be unspecified: the kernel chooses. `kind` is a UDP port or, on streams, `.stream`.
    package var route: Route
    /// The transport that `route` stands for.
    package var transport: Transport
    /// The number of the allocation in the loop, as in `Route.Kind.relay`; nil of a STUN server.
    package var relayNumber: UInt16?
    /// The configured user name; empty if the server needs none.
    package var username: String
    /// The configured password; empty if the server needs none.
    package var credential: String

    /// A STUN server.
    package static func stun(id: Int, route: Route, transport: Transport = .udp) -> Server {
      Server(id: id, route: route, transport: transport, relayNumber: nil, username: "", credential: "")
    }

    /// A TURN server.
    /// - Parameter relay: unique in the loop.
    package static func turn(
      id: Int, route: Route, transport: Transport = .udp, relay: UInt16, username: String, credential: String
    ) -> Server {
      Server(
        id: id, route: route, transport: transport, relayNumber: relay, username: username, credential: credential)
    }

    /// True of a TURN server.
    package var isRelay: Bool { relayNumber != nil }
    var relay: UInt16 { relayNumber ?? 0 }

    /// All but the credentials is equal.
    func isSamePlace(as other: Server) -> Bool {
      id == other.id && route == other.route && transport == other.transport && relayNumber == other.relayNumber
    }
  }
}
