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
    case .message(let message): tellFault(message)
    case .letter(let letter): deliver(letter)
    case .collected(let name, let letters): deliver(letters, to: name)
    case .returned(let message): holdReturned(message, now)
    case .connected(let isConnected):
      self.isConnected = isConnected
      if isConnected { passHeld() } else { stopCollecting() }
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
    if isConnected { passHeld(for: name) }
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
