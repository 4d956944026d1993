package import RTCPrimitives

/// The hub without its sockets and clock: peers by name, messages between them, and rooms.
///
/// `handle` takes the transport's inputs and returns its actions, in order. Three dialects share the names and rooms; a
/// message of one is translated for another that has a corresponding message. Every message of a client is answered, or
/// the client is closed with a reason, and its cost is limited.
package struct Hub: Sendable {
  struct Connection {
    enum Stage {
      case nameless
      /// The presence has not answered yet.
      case claiming(Registration)
      case named(String)
    }

    let dialect: HubDialect
    let opening: HubOpening
    var stage = Stage.nameless
    var messages: TokenBucket
    /// Bytes of messages.
    var bytes: TokenBucket
    var patience: TokenBucket
    /// Messages that came before it had a name.
    var namelessMessages = 0
    /// Bytes given to the transport that have not left.
    var queuedBytes = 0
    /// Whether nobody can call its client, which may be waiting for its name.
    var isNameless: Bool { if case .named = stage { false } else { true } }
    /// Whether it counts as one name of its network.
    var takesName: Bool { if case .nameless = stage { false } else { true } }
    let opened: Timestamp
    var heard: Timestamp
    /// The time to send new TURN credentials.
    var credentialsDue: Timestamp?
  }

  struct Peer {
    enum Link {
      case present(HubConnectionID)
      /// The connection broke; the name is kept until then.
      case absent(until: Timestamp)
    }

    var link: Link
    let dialect: HubDialect
    let secret: [UInt8]
    /// Whether the name is in lists.
    var isListed: Bool
    /// The link by which the owner was admitted.
    var grant: SignedLink?
    /// In the order they were entered.
    var rooms: [String] = []
    /// Rooms in which a place is claimed.
    var entering: [String: PresenceClaim.ID] = [:]
    var order = DeliveryOrder()
  }

  /// A message that waits for an absent peer.
  struct Held {
    var relay: HubRelay
    var from: String
    var expiry: Timestamp
    /// Whether the presence has returned it: it is older than messages that never left this hub.
    var isReturned = false
  }

  enum Wake: DeadlineKey {
    case connection(HubConnectionID)
    case peer(String)
    case held(String)
  }

  let configuration: HubConfiguration
  /// Decides which client may take which name.
  let gate: AccessGate
  /// Decides which names and places in rooms this hub may serve.
  let presence: any Presence
  var connections: [HubConnectionID: Connection] = [:]
  var peers: [String: Peer] = [:] {
    didSet { if peers.count != listedPeers.of { listedPeers = (nil, peers.count) } }
  }
  /// The listed names, sorted, once requested; and the number of names then.
  private(set) var listedPeers: (names: [String]?, of: Int) = (nil, 0)
  /// Peers of other hubs, by name.
  var remotes: [String: RemotePeer] = [:] {
    didSet { listedPeers = (nil, peers.count) }
  }
  /// Whether this hub reaches the others; true without others.
  var isConnected = true
  /// Members in the order they came; no room is empty.
  var rooms: [String: [String]] = [:]
  /// Connections that are notified of arriving and leaving peers.
  var followers: [HubConnectionID] = []
  var held: [String: [Held]] = [:]
  /// Calls between clients of different dialects.
  var bridges: [BridgeKey: [String]] = [:]
  var bridgedCalls: UInt64 = 0
  var wakes = DeadlineHeap<Wake>()
  var actions: [HubAction] = []
  /// Bytes given to the transport for all connections that have not left.
  private var queuedBytes = 0
  /// Connections that have overflowed while something else was going on.
  var overflowed: [HubConnectionID] = []
  var figures = HubCounters()
  /// New names and calls, by network.
  var registrationRates: NetworkRates
  var callRates: NetworkRates
  /// Now, in seconds since 1970.
  private(set) var unixTime: Int64 = 0
  var claimCount: UInt64 = 0
  /// Claims without an answer.
  var pendingClaims: [PresenceClaim.ID: PendingClaim] = [:]
  /// Names that are claimed and not granted, and their connections.
  var claimedNames: [String: HubConnectionID] = [:]
  /// When the first input came.
  private(set) var began: Timestamp?
  /// Others are on their way back to this hub, which has been restarted and does not know them yet, until then.
  var returnsUntil = Timestamp.zero

  /// A hub without peers.
  package init(
    _ configuration: HubConfiguration = HubConfiguration(), gate: AccessGate = .open(),
    presence: any Presence = LocalPresence()
  ) {
    self.configuration = configuration
    self.gate = gate
    self.presence = presence
    let limits = configuration.limits
    registrationRates = NetworkRates(burst: limits.registrationBurst, perSecond: limits.registrationsPerSecond)
    callRates = NetworkRates(burst: limits.callBurst, perSecond: limits.callsPerSecond)
  }

  /// When `handle(.deadline, …)` is wanted; nil: not before something else happens.
  package var deadline: Timestamp? { wakes.count > 0 ? wakes.earliest : nil }

  /// Numbers for `/metrics`.
  package var counters: HubCounters {
    var counters = figures
    counters.connections = connections.count
    counters.peers = peers.count
    counters.rooms = rooms.count
    counters.bridges = bridges.count
    counters.remotePeers = remotes.count
    counters.isDegraded = !isConnected
    return counters
  }

  /// The only input. Inputs about connections that the hub has closed are ignored. `now` never goes back.
  /// - Parameter unixTime: the time of day in seconds since 1970, for TURN credentials.
  package mutating func handle(_ input: HubInput, now: Timestamp, unixTime: Int64 = 0) -> [HubAction] {
    began = began ?? now
    self.unixTime = unixTime
    switch input {
    case .opened(let id, let opening): open(id, opening, now)
    case .received(let id, let bytes): receive(bytes, from: id, now)
    case .heard(let id): connections[id]?.heard = now
    case .unreadable(let id, let fault): end(id, because: fault, .lost, now)
    case .drained(let id, let bytes):
      if let queued = connections[id]?.queuedBytes {
        let left = max(0, queued - max(0, bytes))
        queuedBytes -= queued - left
        connections[id]?.queuedBytes = left
        collectRest(for: id)
      }
    case .closed(let id, let parting): forget(id, parting, now)
    case .revoked(let link): endAll(of: link, because: .revoked, now)
    case .presence(let event): take(event, now)
    case .deadline: break
    case .shutdown: shutDown(now)
    }
    wake(now)
    // Telling the others of one that overflowed may make another overflow.
    while let id = overflowed.popLast() { end(id, because: .tooSlow, .lost, now) }
    defer { actions = [] }
    return actions
  }

  // MARK: Connections

  private mutating func open(_ id: HubConnectionID, _ opening: HubOpening, _ now: Timestamp) {
    guard connections[id] == nil else { return }
    let limits = configuration.limits
    figures.connectionsOpened += 1
    connections[id] = Connection(
      dialect: opening.dialect, opening: opening,
      messages: TokenBucket(capacity: limits.messageBurst, perSecond: limits.messagesPerSecond, now: now),
      bytes: TokenBucket(capacity: limits.byteBurst, perSecond: limits.bytesPerSecond, now: now),
      patience: TokenBucket(capacity: limits.faultBurst, perSecond: limits.faultsForgivenPerSecond, now: now),
      opened: now, heard: now)
    guard hasRoom(for: id, opening, now) else { return end(id, because: .tooManyConnections, .lost, now) }
    wakes.insert(.connection(id), at: now + limits.registerTimeout)
    guard opening.dialect == .peerJS else { return }
    do throws(HubFault) {
      try perform(try PeerJSDialect.registration(opening.query), id, now)
    } catch {
      end(id, because: error, .lost, now)
    }
  }

  /// Whether a new connection may stay. When the hub is full, the oldest unnamed connection of the network with most of
  /// them is closed in its place, so that silent connections keep no client out.
  private mutating func hasRoom(for id: HubConnectionID, _ opening: HubOpening, _ now: Timestamp) -> Bool {
    let (limits, network) = (configuration.limits, ClientNetwork(opening.address))
    // PeerJS names itself as it comes.
    if !network.isLoopback, opening.dialect != .peerJS, connections.count > limits.namelessOfNetwork {
      guard nameless(of: network) <= limits.namelessOfNetwork else { return false }
    }
    guard connections.count > limits.connections else { return true }
    var counts: [ClientNetwork: Int] = [:]
    for connection in connections.values where connection.isNameless {
      counts[ClientNetwork(connection.opening.address), default: 0] += 1
    }
    let busiest = counts.max { $0.value < $1.value }?.key
    let oldest = connections.filter {
      $0.key != id && $0.value.isNameless && ClientNetwork($0.value.opening.address) == busiest
    }.min { $0.key.rawValue < $1.key.rawValue }
    guard let oldest else { return false }
    end(oldest.key, because: .tooManyConnections, .lost, now)
    return true
  }

  private func nameless(of network: ClientNetwork) -> Int {
    connections.values.count { $0.isNameless && ClientNetwork($0.opening.address) == network }
  }

  private mutating func receive(_ bytes: [UInt8], from id: HubConnectionID, _ now: Timestamp) {
    guard connections[id] != nil else { return }
    connections[id]?.heard = now
    figures.messagesReceived += 1
    do throws(HubFault) {
      try charge(id, bytes: bytes.count, now)
      try perform(try parse(bytes, from: id), id, now)
    } catch {
      blame(id, error, now)
    }
  }

  /// Charges the cost of a message before it is parsed.
  private mutating func charge(_ id: HubConnectionID, bytes: Int, _ now: Timestamp) throws(HubFault) {
    let limits = configuration.limits
    guard connections[id]?.messages.take(1, now: now) == true,
      connections[id]?.bytes.take(Double(min(bytes, limits.messageBytes)), now: now) == true
    else { throw .tooFast }
    guard connections[id]?.isNameless == true else { return }
    connections[id]?.namelessMessages += 1
    guard connections[id]?.namelessMessages ?? 0 <= limits.namelessMessages else { throw .tooFast }
    guard bytes <= limits.namelessMessageBytes else { throw .tooLarge(limit: limits.namelessMessageBytes) }
  }

  private func parse(_ bytes: [UInt8], from id: HubConnectionID) throws(HubFault) -> HubRequest {
    guard bytes.count <= configuration.limits.messageBytes else {
      throw .tooLarge(limit: configuration.limits.messageBytes)
    }
    return switch connections[id]?.dialect {
    case .peerJS: try PeerJSDialect.parse(bytes)
    case .skyRTC: try SkyRTCDialect.parse(bytes)
    case .native, nil: try NativeDialect.parse(bytes)
    }
  }

  mutating func perform(_ request: HubRequest, _ id: HubConnectionID, _ now: Timestamp) throws(HubFault) {
    if request.needsName, keepWaiting(request, id) { return }
    switch request {
    case .register(let name, let token, let secret, let isListed, let isReturning):
      try register(id, name: name, token: token, secret: secret, isListed: isListed, isReturning: isReturning, now)
    case .list(let isFollowing): try list(for: id, isFollowing: isFollowing, now)
    case .relay(let relay):
      let sender = try name(of: id)
      if relay.beginsCall { try countCall(id, now) }
      try deliver(relay, from: sender, id, now)
    case .join(let room): try join(room, id, now)
    case .leave(let room): try leave(room, try name(of: id))
    case .ping: send(.pong, to: id)
    case .heartbeat: break
    case .quit:
      actions.append(.close(id, code: 1000, reason: "goodbye"))
      forget(id, .goodbye, now)
    }
  }

  private mutating func countCall(_ id: HubConnectionID, _ now: Timestamp) throws(HubFault) {
    guard let address = connections[id]?.opening.address else { return }
    guard callRates.take(ClientNetwork(address), now: now) else { throw .tooFast }
  }

  func name(of id: HubConnectionID) throws(HubFault) -> String {
    guard case .named(let name) = connections[id]?.stage else { throw .notRegistered }
    return name
  }

  /// Notifies a client of its fault; a client with too many faults is closed.
  mutating func blame(_ id: HubConnectionID, _ fault: HubFault, _ now: Timestamp) {
    guard connections[id]?.patience.take(fault.weight, now: now) == true else {
      return end(id, because: .tooManyFaults, .lost, now)
    }
    figures.faults[fault.code, default: 0] += 1
    send(.fault(fault, to: try? name(of: id)), to: id)
  }

  /// Closes a connection with a word.
  mutating func end(_ id: HubConnectionID, because fault: HubFault, _ parting: HubParting, _ now: Timestamp) {
    guard let connection = connections[id] else { return }
    figures.faults[fault.code, default: 0] += 1
    if let text = text(.fault(fault, to: try? name(of: id)), in: connection.dialect) { actions.append(.send(id, text)) }
    actions.append(.close(id, code: fault.closeCode, reason: fault.message))
    forget(id, parting, now)
  }

  private mutating func forget(_ id: HubConnectionID, _ parting: HubParting, _ now: Timestamp) {
    followers.removeAll { $0 == id }
    guard let connection = connections.removeValue(forKey: id) else { return }
    queuedBytes -= connection.queuedBytes
    if case .claiming(let registration) = connection.stage { return withdraw(registration, now) }
    guard case .named(let name) = connection.stage, case .present(id) = peers[name]?.link else { return }
    if parting == .lost, connection.dialect == .native {
      let until = now + configuration.limits.absence
      peers[name]?.link = .absent(until: until)
      figures.absentPeers += 1
      wakes.insert(.peer(name), at: until)
      presence.noteAbsence(of: name)
    } else {
      remove(name)
    }
  }

  private mutating func shutDown(_ now: Timestamp) {
    presence.stop()
    for id in connections.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
      guard let connection = connections.removeValue(forKey: id) else { continue }
      if case .claiming(let registration) = connection.stage { withdraw(registration, now) }
      let fault = HubFault.shuttingDown
      // PeerJS clients reconnect by themselves unless they get an error.
      if connection.dialect != .peerJS, let text = text(.fault(fault, to: nil), in: connection.dialect) {
        actions.append(.send(id, text))
      }
      actions.append(.close(id, code: fault.closeCode, reason: fault.message))
    }
    for (name, peer) in peers {
      releaseClaims(of: name, peer)
      for room in peer.rooms { presence.release(.room(room, peer: name)) }
    }
    queuedBytes = 0
    peers = [:]
    remotes = [:]
    followers = []
    rooms = [:]
    held = [:]
    bridges = [:]
    wakes = DeadlineHeap()
    figures.absentPeers = 0
    figures.heldMessages = 0
    figures.heldBytes = 0
  }

  // MARK: Sending

  /// Nil when the dialect has no words for it.
  func text(_ notice: HubNotice, in dialect: HubDialect) -> String? {
    switch dialect {
    case .native: NativeDialect.text(notice)
    case .peerJS: PeerJSDialect.text(notice)
    case .skyRTC: SkyRTCDialect.text(notice)
    }
  }

  /// False when the client's dialect has no words for it.
  @discardableResult
  mutating func send(_ notice: HubNotice, to id: HubConnectionID) -> Bool {
    guard let connection = connections[id] else { return true }
    guard let text = text(notice, in: connection.dialect) else { return false }
    let queued = connection.queuedBytes + text.utf8.count
    guard queued <= configuration.limits.outgoingBytes else {
      overflowed.append(id)
      return true
    }
    connections[id]?.queuedBytes = queued
    queuedBytes += text.utf8.count
    actions.append(.send(id, text))
    if queuedBytes > configuration.limits.outgoingBytesInAll { giveUpSlowest() }
    return true
  }

  /// All together have more on its way to them than the process is to hold: the one for whom most waits is closed.
  private mutating func giveUpSlowest() {
    let slowest = connections.max { ($0.value.queuedBytes, $1.key.rawValue) < ($1.value.queuedBytes, $0.key.rawValue) }
    if let slowest, !overflowed.contains(slowest.key) { overflowed.append(slowest.key) }
  }

  /// The names that others see, in their order.
  mutating func listedNames() -> [String] {
    if let names = listedPeers.names { return names }
    let names = allListedNames()
    listedPeers.names = names
    return names
  }
}
