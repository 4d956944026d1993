package import RTCPrimitives

/// The settings of a TURN server.
package struct TURNServerConfiguration: Sendable {
  /// The persons who may use the server.
  package enum Users: Sendable {
    /// The holders of credentials that end, made with this secret (draft-uberti-behave-turn-rest-00).
    case timeLimited(secret: [UInt8])
    /// Passwords by user name.
    case fixed([String: String])
  }

  /// Limits of what clients can use.
  package struct Limits: Sendable {
    /// Allocations of all clients.
    package var allocations = 1_024
    /// Allocations of clients in one network: the IPv4 address, or the /64 of the IPv6 address.
    package var allocationsPerNetwork = 256
    /// Allocations of one user name.
    package var allocationsPerUser = 64
    /// Permissions of one allocation.
    package var permissions = 64
    /// Channels of one allocation.
    package var channels = 64
    /// Bytes of data that an allocation relays in a second, in each direction.
    package var bytesPerSecond: Int64 = 2_500_000
    /// Requests without valid credentials that are answered in a second; the others are dropped.
    package var refusalsPerSecond = 1_000

    /// The limits of a hub, unless its user sets others.
    package init() {}
  }

  /// The realm of the credentials, ASCII, at most 127 characters.
  package var realm = "rtcast"
  /// The persons who may use the server.
  package var users: Users
  /// The limits of clients.
  package var limits = Limits()
  /// The addresses to relay from, at most one of each family, unless the client came to another one of this machine.
  package var relayIPs: [IPAddress] = []
  /// All addresses of this machine. A client reaches only relayed addresses there, and `openPorts`.
  package var ownIPs: Set<IPAddress> = []
  /// Ports of this machine with which clients may exchange data: those of its own media.
  package var openPorts: Set<UInt16> = []
  /// The address outside by an address of this machine: a NAT before it forwards all ports.
  package var outside: [IPAddress: IPAddress] = [:]
  /// Peers at private addresses are allowed (RFC 1918, RFC 4193, RFC 6598).
  package var allowsPrivatePeers = false
  /// The lifetime of an allocation whose client asks for less or nothing (RFC 8656 §2.2).
  package var defaultLifetime: UInt32 = 600
  /// The longest lifetime that a client can ask for (RFC 8656 §7.2).
  package var maximumLifetime: UInt32 = 3_600
  /// The time for which a nonce is valid.
  package var nonceLifetime = TimeDelta.seconds(600)

  /// A server of these users, at no address yet.
  package init(users: Users) { self.users = users }
}
