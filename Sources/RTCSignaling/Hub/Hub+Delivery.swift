import RTCPrimitives

extension Hub {
  mutating func deliver(
    _ relay: HubRelay, from sender: String, _ id: HubConnectionID, _ now: Timestamp
  ) throws(HubFault) {
    if let remote = remotes[relay.to] { return try deliver(relay, from: sender, to: remote, now) }
    switch peers[relay.to]?.link {
    case .present(let target):
      guard peers[relay.to]?.order.isCollecting != true else {
        return try hold(Held(relay: relay, from: sender, expiry: now + configuration.limits.absence))
      }
      guard hand(relay, from: sender, to: target) else { throw .incompatible(relay.to) }
    case .absent where presence.keepsMessages && isConnected && (held[relay.to]?.isEmpty ?? true):
      pass(relay, from: sender)
    case .absent(let until):
      try hold(Held(relay: relay, from: sender, expiry: until))
    case nil where now < returnsUntil:
      guard (try? HubName.peer(relay.to)) != nil else { throw .unknownPeer(relay.to) }
      try hold(Held(relay: relay, from: sender, expiry: returnsUntil))
    case nil:
      guard connections[id]?.dialect == .peerJS else { throw .unknownPeer(relay.to) }
      // A `bye` need not be delivered later.
      if case .bye = relay.body { return }
      guard (try? HubName.peer(relay.to)) != nil else { throw .unknownPeer(relay.to) }
      try hold(Held(relay: relay, from: sender, expiry: now + configuration.limits.peerJSExpiry))
    }
  }

  mutating func hold(_ message: Held) throws(HubFault) {
    let limits = configuration.limits
    let name = message.relay.to
    guard held[name]?.count ?? 0 < limits.heldPerPeer, figures.heldMessages < limits.heldMessages,
      figures.heldBytes + message.relay.bytes <= limits.heldBytes
    else { throw .unknownPeer(name) }
    let waiting = held[name] ?? []
    let place = message.isReturned ? waiting.firstIndex { !$0.isReturned } : nil
    held[name, default: []].insert(message, at: place ?? waiting.count)
    figures.heldMessages += 1
    figures.heldBytes += message.relay.bytes
    wakes.insert(.held(name), at: message.expiry)
  }

  /// Delivers the messages that this hub holds for a peer that is connected to it.
  mutating func deliverHeld(to name: String, _ id: HubConnectionID) {
    for message in takeHeld(for: name) {
      if !hand(message.relay, from: message.from, to: id) { tell(message.from, .incompatible(name)) }
    }
  }

  /// Removes and returns the messages that wait for a peer.
  mutating func takeHeld(for name: String) -> [Held] {
    let messages = held.removeValue(forKey: name) ?? []
    release(messages)
    return messages
  }

  mutating func expireHeld(for name: String, _ now: Timestamp) {
    guard let messages = held[name] else { return }
    let expired = messages.filter { $0.expiry <= now }
    guard !expired.isEmpty else { return }
    let rest = messages.filter { $0.expiry > now }
    held[name] = rest.isEmpty ? nil : rest
    release(expired)
    tellUndelivered(expired, to: name)
  }

  private mutating func release(_ messages: [Held]) {
    figures.heldMessages -= messages.count
    figures.heldBytes -= messages.reduce(0) { $0 + $1.relay.bytes }
  }

  /// Notifies each sender once that its messages were not delivered.
  mutating func tellUndelivered(_ messages: [Held], to name: String) {
    var told: Set<String> = []
    for message in messages where told.insert(message.from).inserted { tell(message.from, .unknownPeer(name)) }
  }
}
