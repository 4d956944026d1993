import RTCPrimitives
import RTCSignaling

/// The copy of the other hubs' names.
extension ClusterMachine {
  // MARK: - The state

  mutating func takeState(_ value: RESPValue, _ now: Timestamp) {
    guard case .joining = phase else { return }
    guard let parts = value.elements, parts.count >= 3, parts.count % 2 == 1, let epoch = parts[0].string,
      let last = parts[1].integer, let waits = parts[2].integer
    else { return drop(.unreadable, now) }
    // Redis has lost its data after the links were stated.
    if let known = self.epoch, known != epoch { stateLinks(now) }
    self.epoch = epoch
    var known: [String: NameRecord] = [:]
    for index in stride(from: 3, to: parts.count, by: 2) {
      guard let name = parts[index].string, case .text(let text) = parts[index + 1],
        let record = JSONFields(text).flatMap({ NameRecord($0, name: name) })
      else { continue }
      known[name] = record
    }
    phase = .online(last)
    let isWhole = waits <= 0
    rereadDue = isWhole ? nil : now + .milliseconds(min(waits, Int64(ClusterScript.grace)))
    adopt(known, isWhole: isWhole, now)
    actions.append(.report(.connected(true)))
  }

  /// - Parameter isWhole: false: Redis has lost its data, and hubs have not stated all names again.
  private mutating func adopt(_ known: [String: NameRecord], isWhole: Bool, _ now: Timestamp) {
    for name in remotes.keys.sorted() where known[name] == nil || known[name]?.hub == hub {
      if isWhole || known[name] != nil { forget(name) } else { expectAgain(name) }
    }
    for record in known.values.sorted(by: { $0.name < $1.name }) {
      if record.hub != hub { place(record) } else { checkOwn(record, now) }
    }
    // Names that were taken while this hub was away, and are free again.
    for (name, own) in names.sorted(by: { $0.key < $1.key }) where own.fence != nil && known[name] == nil {
      keep(name, now)
    }
  }

  /// Redis takes this hub for the one that serves a name.
  private mutating func checkOwn(_ record: NameRecord, _ now: Timestamp) {
    switch names[record.name]?.phase {
    case .claiming, .waiting, .withdrawn: break
    case .held(let fence) where fence == record.fence: break
    case .held, nil: run(.release, [record.name, "\(record.fence)"], .other, now)
    }
  }

  // MARK: - Changes

  mutating func take(_ text: [UInt8], from channel: String, _ now: Timestamp) {
    if channel == wrongTriesChannel { return takeWrongTry(text) }
    guard channel == changesChannel else { return takeLetter(text) }
    guard let change = ClusterChange(text) else { return }
    // The state, which is read when the hub joins, does not contain it.
    if case .revoked(let link, let expires) = change.kind { learnRevoked(link, expires: expires) }
    guard case .online(let last) = phase, change.sequence > last else { return }
    guard change.sequence == last + 1 else {
      rereads += 1
      return restate(now)
    }
    phase = .online(change.sequence)
    switch change.kind {
    // The reply to the claim says that a name is this hub's.
    case .placed(let record): if record.hub != hub { place(record, isAnnounced: true) }
    case .gone(let name, let fence): if remotes[name]?.fence == fence { forget(name) }
    case .entered(let name, let room, let fence):
      guard remotes[name]?.fence == fence, remotes[name]?.peer.rooms.contains(room) == false else { break }
      remotes[name]?.peer.rooms.append(room)
      actions.append(.report(.entered(room: room, name)))
    case .left(let name, let room, let fence):
      guard remotes[name]?.fence == fence else { break }
      remotes[name]?.peer.rooms.removeAll { $0 == room }
      actions.append(.report(.left(room: room, name)))
    case .revoked: break
    case .published(let name, let hub, let address): note(stream: name, at: hub, address: address)
    case .unpublished(let name, let hub): note(endOf: name, at: hub, now)
    case .hubLost(let lost):
      guard lost != hub else { break }
      forgetStreams(of: lost, now)
      for (name, record) in remotes.sorted(by: { $0.key < $1.key }) where record.hub == lost { expectAgain(name) }
    }
  }

  /// A peer is not at a hub now, and will be again.
  private mutating func expectAgain(_ name: String) {
    guard var peer = remotes[name]?.peer, !peer.isAbsent else { return }
    peer.isAbsent = true
    remotes[name]?.peer = peer
    actions.append(.report(.remote(peer)))
  }

  /// - Parameter isAnnounced: its hub states it now. Messages that found no hub there are passed on, although the record is
  ///   the same.
  private mutating func place(_ record: NameRecord, isAnnounced: Bool = false) {
    if let own = names[record.name], let fence = own.fence {
      // A token that is older than ours belongs to a change that ours has overtaken.
      guard record.fence > fence else { return }
      names[record.name] = nil
      if own.hash != record.hash { actions.append(.report(.lost(record.name))) }
    }
    if !isAnnounced, let old = remotes[record.name], old.fence == record.fence, old.hub == record.hub,
      old.peer == record.peer
    {
      return
    }
    remotes[record.name] = record
    actions.append(.report(.remote(record.peer)))
  }

  mutating func forget(_ name: String) {
    remotes[name] = nil
    actions.append(.report(.gone(name)))
  }
}
