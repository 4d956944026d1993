public import RTCPrimitives

/// How much a hub lets its clients have, and for how long.
public struct HubLimits: Sendable, Equatable {
  /// Open connections, registered or not.
  public var connections = 4096
  /// Connections of one network (an IPv4 address, or a /64 of IPv6) that have no name yet, this machine excepted: each has ten
  /// seconds to get one.
  public var namelessOfNetwork = 16
  /// Names taken at the same time from one network, this machine excepted; half of all where it is less.
  public var peersOfNetwork = 1024
  /// New names that one network may register at once, and per second in the long run, except this machine: each is
  /// announced to all followers. A school that returns after a restart of the hub registers all its names at once.
  public var registrationBurst = 256.0
  /// New names a second of one network, for long.
  public var registrationsPerSecond = 8.0
  /// Calls that one network may begin at once, and per second in the long run, except this machine: each may ring at a
  /// peer. In a room of 32 people each calls each other, which is 496 calls.
  public var callBurst = 1024.0
  /// Calls a second of one network, for long.
  public var callsPerSecond = 32.0
  /// Maximum number of names, including those kept for owners whose connection broke.
  public var peers = 2048
  /// Maximum number of rooms with members.
  public var rooms = 512
  /// Members of one room. A large room of calls is of no use, but some rooms only show their members.
  public var roomMembers = 256
  /// Rooms that one peer is in.
  public var roomsPerPeer = 8
  /// Maximum number of clients that are notified of arriving and leaving peers. Each arrival is a message to all of
  /// them.
  public var followers = 512
  /// The cost of a list of peers in messages, at least, since the answer is long.
  public var listWeight = 10.0
  /// The number of names in the answer that cost as much as one message.
  public var namesPerMessage = 32
  /// Bytes of a message. A description with many tracks and candidates is some 30 KiB.
  public var messageBytes = 131_072
  /// Bytes of a message from a client that has no name yet, and how many such messages it may send: to say who it is takes one.
  public var namelessMessageBytes = 4_096
  /// Messages from a client that has no name yet.
  public var namelessMessages = 5
  /// Bytes a second that a connection may send for long: reading them is the hub's work.
  public var bytesPerSecond = 65_536.0
  /// Bytes that may come at once: some of the largest messages.
  public var byteBurst = 1_048_576.0
  /// Messages a second that a connection may send for long, and how many it may send at once: gathering candidates comes
  /// in bursts.
  public var messagesPerSecond = 50.0
  /// Messages that may come at once, before the rate counts.
  public var messageBurst = 300.0
  /// Faults that a connection may commit at once, and how many it is forgiven a second; then it is closed.
  public var faultBurst = 50.0
  /// How fast faults are forgotten.
  public var faultsForgivenPerSecond = 1.0
  /// Bytes on their way to a client that does not take them; more, and it is closed.
  public var outgoingBytes = 1_048_576
  /// Maximum bytes waiting for all clients together; beyond it, the client with most waiting bytes is closed.
  public var outgoingBytesInAll = 67_108_864
  /// Maximum number of messages kept for one absent peer.
  public var heldPerPeer = 64
  /// Messages kept for all owners whose connection broke.
  public var heldMessages = 4096
  /// Maximum bytes of these messages.
  public var heldBytes = 16_777_216
  /// Pairs of clients of different dialects between which there are calls, and calls between one such pair.
  public var bridges = 4096
  /// Calls that one peer may have with peers of other protocols.
  public var callsPerBridge = 16
  /// For a new connection to say who it is.
  public var registerTimeout = TimeDelta.seconds(10)
  /// Without a word from a client, after which it is asked for a sign of life (WebSocket ping) …
  public var pingInterval = TimeDelta.seconds(25)
  /// … and after which it is taken for gone.
  public var silenceTimeout = TimeDelta.seconds(70)
  /// How long a name and its rooms are kept for an owner whose connection broke.
  public var absence = TimeDelta.seconds(30)
  /// How long a restarted hub treats unknown peers as late: clients wait for some seconds before they reconnect.
  /// Messages to them wait meanwhile.
  public var returnTime = TimeDelta.seconds(10)
  /// How long a PeerJS client's message waits for an absent peer.
  public var peerJSExpiry = TimeDelta.seconds(5)

  /// The defaults.
  public init() {}
}

/// The configuration of a hub.
public struct HubConfiguration: Sendable, Equatable {
  /// The limits for peers.
  public var limits: HubLimits
  /// ICE servers sent to every client of the native dialect that registers.
  public var iceServers: [ICEServer]
  /// A TURN service with credentials for each client, renewed before they expire.
  public var turn: TURNService?

  /// Makes a configuration.
  public init(
    limits: HubLimits = HubLimits(), iceServers: [ICEServer] = [], turn: TURNService? = nil
  ) {
    self.limits = limits
    self.iceServers = iceServers
    self.turn = turn
  }
}
