import RTCPrimitives

extension Hub {
  mutating func register(
    _ id: HubConnectionID, name requested: String?, token: String?, secret: String?, isListed: Bool,
    isReturning: Bool, _ now: Timestamp
  ) throws(HubFault) {
    guard let connection = connections[id] else { return }
    if case .named(let name) = connection.stage { throw .alreadyRegistered(as: name) }
    let name = try HubName.peer(requested ?? gate.name(in: token) ?? connection.opening.name)
    // The client's secret for its name distinguishes it from other clients with the same link.
    let grant = try admit(name, token, client: secret, connection, now)
    // PeerJS clients make short secrets; theirs is the protocol's business.
    if let secret, connection.dialect == .native, !(16...128).contains(secret.utf8.count) { throw .weakSecret }
    if let owner = peers[name] {
      guard let secret, Secret.matches(secret, owner.secret) else { throw .takenName(name) }
      try use(grant, name, client: secret, connection, now)
      noteAdmission(grant, name, connection)
      // A use of another link would have to be counted first, so the credential by which the owner came stays.
      let isCounted = grant.link?.id == owner.grant?.id || !gate.sharesUses(of: grant)
      return resume(name, id, isCounted ? grant.link : owner.grant, now)
    }
    try displaceClaimant(of: name, secret, now)
    guard peers.count + claimedNames.count < configuration.limits.peers, mayTakeName(connection) else {
      throw .tooManyPeers
    }
    guard registrationRates.take(ClientNetwork(connection.opening.address), now: now) else {
      throw .tooManyRegistrations
    }
    let isCounted = try use(grant, name, client: secret, connection, now)
    // Clients of SkyRTC can be called by those in their room alone.
    let isListed = isListed && connection.dialect != .skyRTC
    let claim = claim(.name(name)) {
      ($0.link, $0.client, $0.secret) = (grant.link, secret, secret ?? connection.opening.secret)
      ($0.dialect, $0.isListed) = (connection.dialect, isListed)
    }
    let registration = Registration(
      claim: claim.id, name: name, secret: secret ?? connection.opening.secret, client: secret, isListed: isListed,
      isReturning: isReturning, grant: grant, isCounted: isCounted)
    guard let answer = claim.answer else {
      connections[id]?.stage = .claiming(registration)
      pendingClaims[claim.id] = .name(id)
      claimedNames[name] = id
      return
    }
    if let fault = HubFault(answer, name: name) {
      refuse(registration, connection, fault, now)
      throw fault
    }
    complete(registration, id, connection, answer, now)
  }

  /// The connection has its name.
  mutating func complete(
    _ registration: Registration, _ id: HubConnectionID, _ connection: Connection, _ answer: PresenceAnswer,
    _ now: Timestamp
  ) {
    let name = registration.name
    noteAdmission(registration.grant, name, connection)
    if let link = registration.grant.link {
      gate.note(link, client: registration.secret, now: AccessTime(unix: unixTime, monotonic: now))
    }
    let known = remotes.removeValue(forKey: name)
    peers[name] = Peer(
      link: .present(id), dialect: connection.dialect, secret: Array(registration.secret.utf8),
      isListed: registration.isListed, grant: registration.grant.link)
    var hasMoved = false
    if case .moved(let rooms) = answer {
      hasMoved = true
      let keepsMessages = presence.keepsMessages
      peers[name]?.order.isCollecting = keepsMessages
      adopt(rooms, of: name, known)
    }
    figures.registrations += 1
    actions.append(.announce(.registered(name, connection.dialect)))
    if registration.isReturning { noteReturn(now) }
    settle(name, id, secret: registration.secret, isResumed: hasMoved, now)
    if peers[name]?.isListed == true, known?.isListed != true { tellFollowers(.arrived(name), but: id) }
  }

  /// A client that claims a name again, on another connection, takes the place of the first. Others find the name taken.
  private mutating func displaceClaimant(of name: String, _ secret: String?, _ now: Timestamp) throws(HubFault) {
    guard let old = claimedNames[name], case .claiming(let claimed) = connections[old]?.stage else { return }
    guard let secret, Secret.matches(secret, Array(claimed.secret.utf8)) else { throw .takenName(name) }
    end(old, because: .replaced, .goodbye, now)
  }

  /// Whether the connection's network may have one name more.
  private func mayTakeName(_ connection: Connection) -> Bool {
    let network = ClientNetwork(connection.opening.address)
    let limit = min(configuration.limits.peersOfNetwork, max(1, configuration.limits.peers / 2))
    guard !network.isLoopback, peers.count >= limit else { return true }
    let taken = connections.values.count { $0.takesName && ClientNetwork($0.opening.address) == network }
    return taken < limit
  }

  private mutating func admit(
    _ name: String, _ token: String?, client: String?, _ connection: Connection, _ now: Timestamp
  ) throws(HubFault) -> AccessGrant {
    do throws(AccessRefusal) {
      return try gate.evaluate(
        token, for: .call, peer: name, client: client, isNew: true, from: connection.opening.address,
        now: AccessTime(unix: unixTime, monotonic: now))
    } catch {
      let address = connection.opening.address
      actions.append(.audit(AuditEvent(error, right: .call, shown: token, from: address, name: name)))
      throw .notAdmitted(error)
    }
  }

  /// Turns what admits a client into a registration.
  /// - Returns: whether a use of the link was counted.
  @discardableResult
  private mutating func use(
    _ grant: AccessGrant, _ name: String, client: String?, _ connection: Connection, _ now: Timestamp
  ) throws(HubFault) -> Bool {
    let address = connection.opening.address
    do throws(AccessRefusal) {
      return try gate.use(grant, client: client, now: AccessTime(unix: unixTime, monotonic: now))
    } catch {
      actions.append(.audit(AuditEvent(error, right: .call, by: grant.credential, from: address, name: name)))
      throw .notAdmitted(error)
    }
  }

  private mutating func noteAdmission(_ grant: AccessGrant, _ name: String, _ connection: Connection) {
    let address = connection.opening.address
    actions.append(.audit(AuditEvent(.admitted, right: .call, by: grant.credential, from: address, name: name)))
  }

  /// Ends a link: clients that came by it are notified and closed, and their names are free.
  mutating func endAll(of link: String, because refusal: AccessRefusal, _ now: Timestamp) {
    for name in peers.filter({ $0.value.grant?.id == link }).keys.sorted() {
      switch peers[name]?.link {
      case .present(let id): end(id, because: .notAdmitted(refusal), .goodbye, now)
      case .absent: remove(name)
      case nil: break
      }
    }
  }

  /// The reason to end a connection whose link has expired; nil: none.
  func overdue(_ id: HubConnectionID) -> AccessRefusal? {
    guard let name = try? name(of: id), let end = peers[name]?.grant?.expires, end <= unixTime else { return nil }
    return .expired(seconds: unixTime - end)
  }

  /// A client that was here before is unknown now. If this hub is young, it has been restarted, and the other clients
  /// are returning too, each after a pause of its own: a called peer that is missing is not unknown but late.
  private mutating func noteReturn(_ now: Timestamp) {
    let end = (began ?? now) + configuration.limits.returnTime
    if now < end { returnsUntil = end }
  }

  /// The owner of a name is back, maybe before the hub has noticed that it was gone.
  private mutating func resume(_ name: String, _ id: HubConnectionID, _ grant: SignedLink?, _ now: Timestamp) {
    guard let peer = peers[name], let connection = connections[id] else { return }
    switch peer.link {
    case .present(let old):
      connections[old]?.stage = .nameless
      end(old, because: .replaced, .goodbye, now)
    case .absent: figures.absentPeers -= 1
    }
    var returned = Peer(
      link: .present(id), dialect: connection.dialect, secret: peer.secret, isListed: peer.isListed, grant: grant)
    (returned.rooms, returned.entering, returned.order) = (peer.rooms, peer.entering, peer.order)
    returned.order.isCollecting = presence.keepsMessages && isConnected
    peers[name] = returned
    presence.collectMessages(for: name)
    figures.resumptions += 1
    actions.append(.announce(.resumed(name)))
    settle(name, id, secret: String(decoding: peer.secret, as: UTF8.self), isResumed: true, now)
  }

  private mutating func settle(
    _ name: String, _ id: HubConnectionID, secret: String, isResumed: Bool, _ now: Timestamp
  ) {
    connections[id]?.stage = .named(name)
    let due = nextCredentials(now)
    connections[id]?.credentialsDue = due
    let entered = peers[name]?.rooms ?? []
    send(
      .registered(
        name: name, secret: secret, iceServers: iceServers(for: name), rooms: entered, isResumed: isResumed),
      to: id)
    for room in entered { send(.peers(room: room, members(of: room, without: name), you: name), to: id) }
    // Older messages come first.
    if peers[name]?.order.isCollecting != true { deliverHeld(to: name, id) }
  }

  /// A name is free again.
  mutating func remove(_ name: String) {
    guard let peer = peers.removeValue(forKey: name) else { return }
    if case .absent = peer.link { figures.absentPeers -= 1 }
    actions.append(.announce(.left(name)))
    releaseClaims(of: name, peer)
    for room in peer.rooms { removeMember(name, from: room) }
    if peer.isListed { tellFollowers(.gone(name), but: nil) }
    forgetBridges(of: name)
    tellUndelivered(takeHeld(for: name), to: name)
  }

  /// Notifies a connected peer of the result of an earlier request.
  mutating func tell(_ name: String, _ fault: HubFault) {
    if remotes[name] != nil { return tellRemote(name, fault) }
    guard case .present(let id) = peers[name]?.link else { return }
    figures.faults[fault.code, default: 0] += 1
    send(.fault(fault, to: name), to: id)
  }
}
