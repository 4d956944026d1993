import RTCPrimitives

extension Hub {
  mutating func join(_ requested: String, _ id: HubConnectionID, _ now: Timestamp) throws(HubFault) {
    if let connection = connections[id], connection.dialect == .skyRTC, case .nameless = connection.stage {
      // The client's first message, so the hub chooses its name now.
      try register(
        id, name: nil, token: connection.opening.query["token"], secret: nil, isListed: false, isReturning: false, now)
      if keepWaiting(.join(room: requested), id) { return }
    }
    let name = try name(of: id)
    let room = try HubName.room(requested)
    let limits = configuration.limits
    let present = rooms[room] ?? []
    if !present.contains(name) {
      // If a place is claimed already, its answer is the answer to this request, too.
      guard peers[name]?.entering[room] == nil else { return }
      let entered = (peers[name]?.rooms.count ?? 0) + (peers[name]?.entering.count ?? 0)
      guard entered < limits.roomsPerPeer, !present.isEmpty || rooms.count < limits.rooms else { throw .tooManyRooms }
      guard present.count < limits.roomMembers else { throw .roomFull(room) }
      let claim = claim(.room(room, peer: name))
      guard let answer = claim.answer else {
        peers[name]?.entering[room] = claim.id
        pendingClaims[claim.id] = .room(room, peer: name)
        return
      }
      if let fault = HubFault(answer, room: room) { throw fault }
      enter(room, name)
    }
    send(.peers(room: room, members(of: room, without: name), you: name), to: id)
  }

  /// Adds a peer to a room, in which it has a place.
  mutating func enter(_ room: String, _ name: String) {
    let present = rooms[room] ?? []
    rooms[room, default: []].append(name)
    peers[name]?.rooms.append(room)
    announce(.joined(room: room, peer: name), to: present)
  }

  mutating func leave(_ room: String?, _ name: String) throws(HubFault) {
    guard let room else {
      for room in peers[name]?.rooms ?? [] { removeMember(name, from: room) }
      peers[name]?.rooms = []
      for (room, claim) in peers[name]?.entering ?? [:] { withdraw(claim, to: room, of: name) }
      peers[name]?.entering = [:]
      return
    }
    if let claim = peers[name]?.entering.removeValue(forKey: room) { return withdraw(claim, to: room, of: name) }
    guard let index = peers[name]?.rooms.firstIndex(of: room) else { throw .notInRoom(room) }
    peers[name]?.rooms.remove(at: index)
    removeMember(name, from: room)
  }

  func members(of room: String, without name: String) -> [String] { (rooms[room] ?? []).filter { $0 != name } }

  /// Takes a name off the room's list, not the room off the peer's.
  mutating func removeMember(_ name: String, from room: String) {
    presence.release(.room(room, peer: name))
    let rest = members(of: room, without: name)
    rooms[room] = rest.isEmpty ? nil : rest
    announce(.left(room: room, peer: name), to: rest)
  }

  /// Absent members get the list when they return.
  mutating func announce(_ notice: HubNotice, to names: [String]) {
    for name in names {
      if case .present(let id) = peers[name]?.link { send(notice, to: id) }
    }
  }
}
