public import RTCPrimitives

/// How far a machine can be reached, as found so far: its addresses, and what each server has answered.
public struct GatheringReport: Sendable {
  /// An address of this machine.
  public struct Address: Hashable, Sendable {
    /// The interface's name, such as `eth0`.
    public var interface: String
    /// The address itself.
    public var ip: IPAddress
    /// Whether the address is offered as a host candidate; if not, its interface is down or refused, or there is a
    /// better address.
    public var isOffered: Bool
  }

  /// A STUN or TURN server.
  public struct Server: Hashable, Sendable {
    /// The URL as configured.
    public var url: ICEServerURL
    /// The server's address; nil before its name was resolved.
    public var address: SocketAddress?
    /// From the first request to the answer; nil: there is none.
    public var answeredAfter: TimeDelta?
    /// Our address as the server sees it.
    public var mapped: SocketAddress?
    /// The address of the allocation.
    public var relayed: SocketAddress?
    /// A sentence, if it is of no use now.
    public var failure: String?

    init(url: ICEServerURL) { self.url = url }
  }

  /// All addresses of the machine.
  public var addresses: [Address]
  /// All servers, in the order they were configured.
  public var servers: [Server]
  /// The candidates that are offered, as they stand in descriptions.
  public var candidates: [String]
  /// Every server has answered, failed, or had its time.
  public var isComplete: Bool
}
