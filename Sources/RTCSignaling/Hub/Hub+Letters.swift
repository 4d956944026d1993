import RTCPrimitives

/// Messages between peers of different hubs, and messages that wait outside of this hub for its peers.
extension Hub {
  /// Delivers a message of a peer of this hub to one of another.
  mutating func deliver(
    _ relay: HubRelay, from sender: String, to remote: RemotePeer, _ now: Timestamp
  ) throws(HubFault) {
    // The answers of a client without identifiers of calls are told apart by what was sent to it.
    if peers[sender]?.dialect == .native, remote.dialect != .native, let call = relay.callNumber {
      note(call, BridgeKey(foreigner: remote.name, native: sender))
    }
    // Messages that are held for the peer are passed before this one.
    guard isConnected, held[remote.name]?.isEmpty ?? true else {
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

  /// Notifies a peer of another hub that a message of it was not delivered.
  mutating func tellRemote(_ name: String, _ fault: HubFault) {
    switch fault {
    case .unknownPeer(let peer): presence.pass(PresenceMessage(from: peer, to: name, .unknownPeer(peer)))
    case .incompatible(let peer): presence.pass(PresenceMessage(from: peer, to: name, .incompatible(peer)))
    default: break
    }
  }

  // MARK: - Messages by the presence

  mutating func tellFault(_ message: PresenceMessage) {
    switch message.body {
    case .unknownPeer(let name): tell(message.to, .unknownPeer(name))
    case .incompatible(let name): tell(message.to, .incompatible(name))
    case .request: break
    }
  }

  /// Messages to a peer that is not connected to this hub stay where they are kept.
  mutating func deliver(_ letter: PresenceLetter) {
    let name = letter.message.to
    guard case .present(let id)? = peers[name]?.link, peers[name]?.order.isBehind == false else { return }
    guard hasRoom(for: letter, id) else { return fallBehind(name) }
    switch peers[name]?.order.take(letter) {
    case .deliver?:
      deliver(letter.message, to: id)
      presence.confirm(letter.number, for: name)
    case .collect?:
      let isConnected = isConnected
      peers[name]?.order.isCollecting = isConnected
      presence.collectMessages(for: name)
    case .ignore?, nil: break
    }
  }

  mutating func deliver(_ letters: [PresenceLetter], to name: String) {
    peers[name]?.order.isCollecting = false
    peers[name]?.order.isBehind = false
    guard case .present(let id)? = peers[name]?.link else { return }
    var last: Int64?
    for letter in letters {
      guard hasRoom(for: letter, id) else {
        fallBehind(name)
        break
      }
      if peers[name]?.order.takeCollected(letter) == true { deliver(letter.message, to: id) }
      last = letter.number
    }
    if let last { presence.confirm(last, for: name) }
    if peers[name]?.order.isBehind == false { deliverHeld(to: name, id) }
  }

  /// Whether a message fits into what may be on its way to a client, with all that a translation adds.
  private func hasRoom(for letter: PresenceLetter, _ id: HubConnectionID) -> Bool {
    guard case .request(_, let bytes) = letter.message.body, let queued = connections[id]?.queuedBytes, queued > 0
    else {
      return true
    }
    return queued + 2 * bytes.count + 1_024 <= configuration.limits.outgoingBytes
  }

  /// The messages to a peer stay where they are kept until its client has taken some of those on their way.
  private mutating func fallBehind(_ name: String) {
    peers[name]?.order.isCollecting = true
    peers[name]?.order.isBehind = true
  }

  /// Reads the messages for which the connection of a peer had no room.
  mutating func collectRest(for id: HubConnectionID) {
    guard case .named(let name)? = connections[id]?.stage, peers[name]?.order.isBehind == true,
      case .present(id)? = peers[name]?.link,
      connections[id]?.queuedBytes ?? 0 <= configuration.limits.outgoingBytes / 2
    else { return }
    peers[name]?.order.isBehind = false
    presence.collectMessages(for: name)
  }

  private mutating func deliver(_ message: PresenceMessage, to id: HubConnectionID) {
    guard let relay = relay(message) else { return }
    if !hand(relay, from: message.from, to: id) { tell(message.from, .incompatible(message.to)) }
  }

  /// A message that could not be passed on.
  mutating func holdReturned(_ message: PresenceMessage, _ now: Timestamp) {
    guard let relay = relay(message) else { return }
    if case .present(let id)? = peers[message.to]?.link, peers[message.to]?.order.isCollecting == false {
      return deliver(message, to: id)
    }
    let expiry = now + configuration.limits.absence
    let held = Held(relay: relay, from: message.from, expiry: expiry, isReturned: true)
    do throws(HubFault) { try hold(held) } catch {
      tell(message.from, error)
    }
  }

  // MARK: - Messages that this hub holds

  mutating func passHeld(for name: String) {
    for message in takeHeld(for: name) { pass(message.relay, from: message.from) }
  }

  /// The hub reaches the others again.
  mutating func passHeld() {
    for name in held.keys.sorted() {
      switch peers[name]?.link {
      case .absent? where presence.keepsMessages: passHeld(for: name)
      case nil where remotes[name] != nil: passHeld(for: name)
      case .present?, .absent?, nil: break
      }
    }
  }

  /// The hub does not reach the others, and messages that were asked for will not come now.
  mutating func stopCollecting() {
    for name in peers.filter({ $0.value.order.isCollecting }).keys.sorted() {
      peers[name]?.order.isCollecting = false
      peers[name]?.order.isBehind = false
      if case .present(let id)? = peers[name]?.link { deliverHeld(to: name, id) }
    }
  }
}
