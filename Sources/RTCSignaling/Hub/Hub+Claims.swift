import RTCPrimitives

/// Claims to names and rooms that the presence answers later. Until then, the hub serves neither: a peer cannot be called,
/// is in no list, and is in no room.
extension Hub {
  /// A name that was claimed for a connection.
  struct Registration {
    let claim: PresenceClaim.ID
    let name: String
    let secret: String
    /// The secret that the client brought.
    let client: String?
    let isListed: Bool
    let isReturning: Bool
    let grant: AccessGrant
    /// Whether a use of the link was counted.
    let isCounted: Bool
    /// Requests that came meanwhile, oldest first. They are limited as messages before a name are.
    var waiting: [HubRequest] = []
  }

  enum PendingClaim: Hashable {
    case name(HubConnectionID)
    case room(String, peer: String)
  }

  /// Claims `subject`.
  /// - Returns: the number of the claim, and the answer; nil: it comes later.
  mutating func claim(
    _ subject: PresenceClaim.Subject, _ describe: (inout PresenceClaim) -> Void = { _ in }
  ) -> (id: PresenceClaim.ID, answer: PresenceAnswer?) {
    claimCount += 1
    var claim = PresenceClaim(id: .init(rawValue: claimCount), subject: subject)
    describe(&claim)
    return (claim.id, presence.claim(claim))
  }

  /// The answer to a claim has come. It is void if the claim was withdrawn.
  mutating func take(_ answer: PresenceAnswer, to id: PresenceClaim.ID, _ now: Timestamp) {
    switch pendingClaims.removeValue(forKey: id) {
    case .name(let connection): finishRegistration(connection, answer, now)
    case .room(let room, let name): finishJoining(room, name, answer)
    case nil: break
    }
  }

  /// Keeps a request of a connection whose name is being claimed; false: it has none or its name.
  mutating func keepWaiting(_ request: HubRequest, _ id: HubConnectionID) -> Bool {
    guard case .claiming(var registration) = connections[id]?.stage else { return false }
    registration.waiting.append(request)
    connections[id]?.stage = .claiming(registration)
    return true
  }

  private mutating func finishRegistration(_ id: HubConnectionID, _ answer: PresenceAnswer, _ now: Timestamp) {
    guard let connection = connections[id], case .claiming(let registration) = connection.stage else { return }
    connections[id]?.stage = .nameless
    claimedNames[registration.name] = nil
    var fault = HubFault(answer, name: registration.name)
    if fault == nil {
      // The link may have been revoked, or have ended, meanwhile.
      do throws(AccessRefusal) {
        try gate.recheck(registration.grant, now: AccessTime(unix: unixTime, monotonic: now))
      } catch {
        presence.release(.name(registration.name))
        fault = .notAdmitted(error)
      }
    }
    guard let fault else {
      complete(registration, id, connection, answer, now)
      for request in registration.waiting {
        do throws(HubFault) { try perform(request, id, now) } catch { blame(id, error, now) }
      }
      return
    }
    refuse(registration, connection, fault, now)
    // As when the answer comes at once. The fault answers the requests that wait, too.
    if connection.dialect == .peerJS { end(id, because: fault, .lost, now) } else { blame(id, fault, now) }
  }

  /// The client of a connection has gone before its name was granted.
  mutating func withdraw(_ registration: Registration, _ now: Timestamp) {
    pendingClaims[registration.claim] = nil
    claimedNames[registration.name] = nil
    presence.release(.name(registration.name))
    giveBack(registration, now)
  }

  /// A claim is refused: the use of the link is undone.
  mutating func refuse(_ registration: Registration, _ connection: Connection, _ fault: HubFault, _ now: Timestamp) {
    giveBack(registration, now)
    guard case .notAdmitted(let refusal) = fault else { return }
    let (address, credential) = (connection.opening.address, registration.grant.credential)
    actions.append(
      .audit(AuditEvent(refusal, right: .call, by: credential, from: address, name: registration.name)))
  }

  private func giveBack(_ registration: Registration, _ now: Timestamp) {
    guard registration.isCounted else { return }
    gate.giveBack(
      registration.grant, client: registration.client, now: AccessTime(unix: unixTime, monotonic: now))
  }

  private mutating func finishJoining(_ room: String, _ name: String, _ answer: PresenceAnswer) {
    guard peers[name]?.entering.removeValue(forKey: room) != nil else { return }
    if let fault = HubFault(answer, room: room) { return tell(name, fault) }
    // Others may have entered, or made rooms, meanwhile.
    let limits = configuration.limits
    guard rooms[room] != nil || rooms.count < limits.rooms, rooms[room]?.count ?? 0 < limits.roomMembers else {
      presence.release(.room(room, peer: name))
      return tell(name, rooms[room] == nil ? .tooManyRooms : .roomFull(room))
    }
    enter(room, name)
    // An absent peer gets the list when it returns.
    guard case .present(let id) = peers[name]?.link else { return }
    send(.peers(room: room, members(of: room, without: name), you: name), to: id)
  }

  /// A name is free again, and no place in a room is claimed for it any longer. Places that it has are released as it
  /// leaves them.
  mutating func releaseClaims(of name: String, _ peer: Peer) {
    for (room, claim) in peer.entering { withdraw(claim, to: room, of: name) }
    presence.release(.name(name))
  }

  /// A peer leaves a room before it is in it.
  mutating func withdraw(_ id: PresenceClaim.ID, to room: String, of name: String) {
    pendingClaims[id] = nil
    presence.release(.room(room, peer: name))
  }
}

extension HubFault {
  /// The fault of a client whose name was not granted; nil if it was.
  init?(_ answer: PresenceAnswer, name: String) {
    switch answer {
    case .granted, .moved: return nil
    case .taken: self = .takenName(name)
    case .usedUp: self = .notAdmitted(.usedUp)
    case .revoked: self = .notAdmitted(.revoked)
    case .full: self = .tooManyPeers
    case .unavailable: self = .clusterUnavailable
    }
  }

  /// The fault of a peer whose place in a room was not granted; nil if it was.
  init?(_ answer: PresenceAnswer, room: String) {
    switch answer {
    case .granted, .moved: return nil
    case .taken, .usedUp, .revoked, .full: self = .roomFull(room)
    case .unavailable: self = .clusterUnavailable
    }
  }
}
