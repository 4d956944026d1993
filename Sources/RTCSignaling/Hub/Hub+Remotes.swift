import RTCPrimitives

/// Peers of other hubs that share the presence: they are in lists and rooms, and are called like those of this hub.
extension Hub {
  mutating func take(_ event: PresenceEvent, _ now: Timestamp) {
    switch event {
    case .answered(let id, let answer): take(answer, to: id, now)
    case .remote(let peer): take(peer, now)
    case .gone(let name):
      guard let peer = remotes.removeValue(forKey: name) else { break }
      for room in peer.rooms { leaveRemotely(room, name) }
      if peer.isListed { tellFollowers(.gone(name), but: nil) }
      forgetBridges(of: name)
      tellUndelivered(takeHeld(for: name), to: name)
    case .lost(let name): lose(name, because: .lostName(name), now)
    case .entered(let room, let name): enterRemotely(room, name)
    case .left(let room, let name):
      remotes[name]?.rooms.removeAll { $0 == room }
      leaveRemotely(room, name)
    case .message(let message): deliver(message, now)
    case .returned(let message): holdReturned(message, now)
    case .connected(let isConnected):
      self.isConnected = isConnected
      guard isConnected else { break }
      for name in held.keys.sorted() where remotes[name]?.isAbsent == false { passHeld(for: name) }
    // The server ends all sessions of the link, those of the hub included, and counts wrong credentials.
    case .revoked, .wrongTry: break
    }
  }

  /// The rooms of a peer of any hub; nil: it is unknown.
  func rooms(of name: String) -> [String]? { peers[name]?.rooms ?? remotes[name]?.rooms }

  // MARK: - Where peers are

  private mutating func take(_ peer: RemotePeer, _ now: Timestamp) {
    let (name, old) = (peer.name, remotes[peer.name])
    // Its owner has moved to another hub, and keeps its places.
    if let own = peers[name] {
      let rooms = own.rooms
      peers[name]?.rooms = []
      lose(name, because: .replaced, now, isMoving: true)
      remotes[name] = RemotePeer(name, dialect: own.dialect, isListed: own.isListed, rooms: rooms)
      return take(peer, now)
    }
    // While a client of this hub waits for the name, the answer to its claim decides.
    remotes[name] = peer
    for room in old?.rooms ?? [] where !peer.rooms.contains(room) { leaveRemotely(room, name) }
    for room in peer.rooms { enterRemotely(room, name) }
    if peer.isListed, old?.isListed != true { tellFollowers(.arrived(name), but: nil) }
    if !peer.isListed, old?.isListed == true { tellFollowers(.gone(name), but: nil) }
    if !peer.isAbsent { passHeld(for: name) }
  }

  private mutating func passHeld(for name: String) {
    for message in takeHeld(for: name) { pass(message.relay, from: message.from) }
  }

  private mutating func enterRemotely(_ room: String, _ name: String) {
    guard remotes[name] != nil else { return }
    if remotes[name]?.rooms.contains(room) == false { remotes[name]?.rooms.append(room) }
    let present = rooms[room] ?? []
    guard !present.contains(name) else { return }
    rooms[room, default: []].append(name)
    announce(.joined(room: room, peer: name), to: present)
  }

  private mutating func leaveRemotely(_ room: String, _ name: String) {
    guard rooms[room]?.contains(name) == true else { return }
    let rest = members(of: room, without: name)
    rooms[room] = rest.isEmpty ? nil : rest
    announce(.left(room: room, peer: name), to: rest)
  }

  /// Gives a peer that came from another hub the places that it had there.
  mutating func adopt(_ entered: [String], of name: String, _ known: RemotePeer?) {
    for room in known?.rooms ?? [] where !entered.contains(room) { leaveRemotely(room, name) }
    for room in entered {
      if rooms[room]?.contains(name) == true { peers[name]?.rooms.append(room) } else { enter(room, name) }
    }
  }

  /// Stops serving a name that belongs to another client, or to another hub.
  private mutating func lose(_ name: String, because fault: HubFault, _ now: Timestamp, isMoving: Bool = false) {
    guard let peer = peers[name] else { return }
    if case .present(let id) = peer.link {
      // The fault is the last message, and closing must not free the name.
      connections[id]?.stage = .nameless
      end(id, because: fault, .goodbye, now)
    }
    if isMoving { peers[name]?.isListed = false }
    let messages = isMoving ? held[name] : nil
    if isMoving { held[name] = nil }
    remove(name)
    held[name] = messages
  }

  // MARK: - Messages between hubs

  /// Delivers a message of a peer of this hub to one of another.
  mutating func deliver(
    _ relay: HubRelay, from sender: String, to remote: RemotePeer, _ now: Timestamp
  ) throws(HubFault) {
    // The answers of a client without identifiers of calls are told apart by what was sent to it.
    if peers[sender]?.dialect == .native, remote.dialect != .native, let call = relay.callNumber {
      note(call, BridgeKey(foreigner: remote.name, native: sender))
    }
    // Messages that are held for the peer are passed before this one.
    guard isConnected, !remote.isAbsent, held[remote.name]?.isEmpty ?? true else {
      return try hold(Held(relay: relay, from: sender, expiry: now + configuration.limits.absence))
    }
    pass(relay, from: sender)
  }

  mutating func pass(_ relay: HubRelay, from sender: String) {
    figures.messagesRelayed += 1
    let dialect = relay.dialect
    guard let text = request(relay) else { return tell(sender, .incompatible(relay.to)) }
    presence.pass(PresenceMessage(from: sender, to: relay.to, .request(dialect, Array(text.utf8))))
  }

  private func request(_ relay: HubRelay) -> String? {
    switch relay.dialect {
    case .native: NativeDialect.request(relay)
    case .peerJS: PeerJSDialect.request(relay)
    case .skyRTC: SkyRTCDialect.request(relay)
    }
  }

  private func relay(_ message: PresenceMessage) -> HubRelay? {
    guard case .request(let dialect, let bytes) = message.body else { return nil }
    let request =
      switch dialect {
      case .native: try? NativeDialect.parse(bytes)
      case .peerJS: try? PeerJSDialect.parse(bytes)
      case .skyRTC: try? SkyRTCDialect.parse(bytes)
      }
    guard case .relay(let relay)? = request, relay.to == message.to else { return nil }
    return relay
  }

  private mutating func deliver(_ message: PresenceMessage, _ now: Timestamp) {
    switch message.body {
    case .unknownPeer(let name): return tell(message.to, .unknownPeer(name))
    case .incompatible(let name): return tell(message.to, .incompatible(name))
    case .request: break
    }
    guard let relay = relay(message) else { return }
    switch peers[message.to]?.link {
    case .present(let id):
      if !hand(relay, from: message.from, to: id) { tell(message.from, .incompatible(message.to)) }
    case .absent(let until):
      do throws(HubFault) { try hold(Held(relay: relay, from: message.from, expiry: until)) } catch {
        tell(message.from, error)
      }
    case nil:
      // The peer has moved while the message was on its way.
      guard remotes[message.to] != nil, message.hops < 2 else { return tell(message.from, .unknownPeer(message.to)) }
      var further = message
      further.hops += 1
      presence.pass(further)
    }
  }

  private mutating func holdReturned(_ message: PresenceMessage, _ now: Timestamp) {
    guard let relay = relay(message) else { return }
    let expiry = now + configuration.limits.absence
    do throws(HubFault) { try hold(Held(relay: relay, from: message.from, expiry: expiry)) } catch {
      tell(message.from, error)
    }
  }

  /// Notifies a peer of another hub that a message of it was not delivered.
  mutating func tellRemote(_ name: String, _ fault: HubFault) {
    switch fault {
    case .unknownPeer(let peer): presence.pass(PresenceMessage(from: peer, to: name, .unknownPeer(peer)))
    case .incompatible(let peer): presence.pass(PresenceMessage(from: peer, to: name, .incompatible(peer)))
    default: break
    }
  }
}

extension HubRelay {
  /// The dialect in which the message was written.
  var dialect: HubDialect {
    switch original {
    case .native: .native
    case .peerJS: .peerJS
    case .skyRTC: .skyRTC
    }
  }

  /// The identifier of the call that it belongs to.
  var callNumber: String? { if case .call(let signal, _) = body { signal.call } else { call } }
}

extension NativeDialect {
  /// A message as its client writes it.
  static func request(_ relay: HubRelay) -> String {
    var members: [(String, JSONValue)] = [("to", .string(relay.to))]
    if let call = relay.call { members.append(("call", .string(call))) }
    let type: String
    switch relay.body {
    case .description(_, let json), .call(_, let json), .data(let json):
      (type, members) = ("signal", members + [("data", .verbatim(json))])
    case .candidate(_, let json): (type, members) = ("candidate", members + [("candidate", .verbatim(json))])
    case .bye(let reason): (type, members) = ("bye", members + (reason.map { [("reason", .string($0))] } ?? []))
    }
    return JSONValue.object([("type", .string(type))] + members).text
  }
}

extension PeerJSDialect {
  /// A message as its client writes it; nil for one of another dialect.
  static func request(_ relay: HubRelay) -> String? {
    guard case .peerJS(let type, let payload) = relay.original else { return nil }
    let members: [(String, JSONValue)] = [("type", .string(type)), ("dst", .string(relay.to))]
    return JSONValue.object(members + (payload.map { [("payload", .verbatim($0))] } ?? [])).text
  }
}

extension SkyRTCDialect {
  /// A message as its client writes it; nil for one of another dialect.
  static func request(_ relay: HubRelay) -> String? {
    guard case .skyRTC(let members) = relay.original else { return nil }
    let event: String
    switch relay.body {
    case .description(let kind, _): event = "__\(kind)"
    case .candidate: event = "__ice_candidate"
    case .bye, .call, .data: return nil
    }
    return JSONValue.object([
      ("eventName", .string(event)), ("data", .object(members + [("socketId", .string(relay.to))])),
    ]).text
  }
}
