import RTCPrimitives

/// Calls between a client of the native dialect and one of another. PeerJS and SkyRTC know no ringing: their callers send
/// the offer at once, and their callees answer it at once. The hub speaks the missing words (`CallSignal`) in their stead,
/// so that clients of the native dialect need not know whom they talk to.
extension Hub {
  /// Two clients of different dialects, and the calls between them, oldest first.
  struct BridgeKey: Hashable {
    var foreigner: String
    var native: String
  }

  /// Hands a message to a client that is there, in its own words. False: it has no words for it.
  mutating func hand(_ relay: HubRelay, from sender: String, to id: HubConnectionID) -> Bool {
    let isHandedOn: Bool
    switch (relay.original, connections[id]?.dialect) {
    case (_, nil): return true
    case (.native, .peerJS?), (.native, .skyRTC?): isHandedOn = handOut(relay, from: sender, to: id)
    case (.peerJS, .native?), (.skyRTC, .native?): isHandedOn = handIn(relay, from: sender, to: id)
    default: isHandedOn = send(.relayed(from: sender, to: relay.to, relay), to: id)
    }
    if isHandedOn { figures.messagesRelayed += 1 }
    return isHandedOn
  }

  /// A name is given back: its calls are over.
  mutating func forgetBridges(of name: String) {
    guard !bridges.isEmpty else { return }
    bridges = bridges.filter { $0.key.foreigner != name && $0.key.native != name }
  }

  // MARK: - From the native dialect

  private mutating func handOut(_ relay: HubRelay, from sender: String, to id: HubConnectionID) -> Bool {
    let key = BridgeKey(foreigner: relay.to, native: sender)
    var said = relay
    switch relay.body {
    case .call(let signal, _):
      said.call = signal.call
      switch signal.body {
      case .ring: return acceptRing(signal.call, key)
      case .accept, .mute, .streams: return true
      case .reject(let reason): said.body = .bye(reason: reason)
      case .end: said.body = .bye(reason: nil)
      case .description(let kind, let sdp):
        note(signal.call, key)
        said.body = .description(
          kind: kind, json: JSONValue.object([("type", .string(kind)), ("sdp", .string(sdp))]).text)
      }
    case .description: if let call = relay.call { note(call, key) }
    case .data, .candidate, .bye: break
    }
    if case .bye = said.body { forget(said.call, key) }
    return send(.relayed(from: sender, to: relay.to, said), to: id)
  }

  /// Answers in the stead of one who would not be asked in its own protocol.
  private mutating func acceptRing(_ call: String, _ key: BridgeKey) -> Bool {
    // SkyRTC knows only those in its room.
    if peers[key.foreigner]?.dialect == .skyRTC, sharedRoom(key) == nil { return false }
    guard note(call, key) else { return false }
    say(CallSignal(call: call, .accept), from: key.foreigner, to: key.native)
    return true
  }

  // MARK: - To the native dialect

  private mutating func handIn(_ relay: HubRelay, from sender: String, to id: HubConnectionID) -> Bool {
    let key = BridgeKey(foreigner: sender, native: relay.to)
    var said = relay
    switch relay.body {
    case .description(let kind, let json):
      let known = bridges[key] ?? []
      let call = relay.call ?? known.last ?? freshCall(key)
      if kind == "offer", !known.contains(call) {
        guard note(call, key) else { return false }
        let ring = CallSignal(call: call, .ring(media: relay.media, room: sharedRoom(key)))
        say(ring, from: sender, to: relay.to)
      }
      let text = JSONValue.object([
        ("call", .string(call)), ("type", "description"), ("description", .verbatim(json)),
      ]).text
      said.body = .data(json: text)
      said.call = nil
    case .candidate: said.call = relay.call ?? bridges[key]?.last
    case .bye:
      // PeerJS takes leave of a peer, not of one connection with it.
      if case .skyRTC = relay.original { said.call = bridges[key]?.last }
      forget(said.call, key)
    case .data, .call: break
    }
    return send(.relayed(from: sender, to: relay.to, said), to: id)
  }

  private mutating func say(_ signal: CallSignal, from sender: String, to name: String) {
    let relay = HubRelay(to: name, call: nil, body: .call(signal, json: signal.json), original: .native)
    if remotes[name] != nil { return pass(relay, from: sender) }
    guard case .present(let id) = peers[name]?.link else { return }
    send(.relayed(from: sender, to: name, relay), to: id)
  }

  // MARK: - Calls that are going on

  private func sharedRoom(_ key: BridgeKey) -> String? {
    guard let rooms = self.rooms(of: key.foreigner), let others = self.rooms(of: key.native) else { return nil }
    return rooms.first { others.contains($0) }
  }

  private mutating func freshCall(_ key: BridgeKey) -> String {
    bridgedCalls += 1
    return "\(CallSignal.identifierPrefix)\(key.foreigner).\(bridgedCalls)"
  }

  /// False when there are more than the hub keeps.
  @discardableResult
  mutating func note(_ call: String, _ key: BridgeKey) -> Bool {
    var calls = bridges[key] ?? []
    if calls.contains(call) { return true }
    guard !calls.isEmpty || bridges.count < configuration.limits.bridges else { return false }
    if calls.count >= configuration.limits.callsPerBridge { calls.removeFirst() }
    bridges[key] = calls + [call]
    return true
  }

  private mutating func forget(_ call: String?, _ key: BridgeKey) {
    guard let call else { return bridges[key] = nil }
    let rest = (bridges[key] ?? []).filter { $0 != call }
    bridges[key] = rest.isEmpty ? nil : rest
  }
}
