import RTCDTLS
import RTCPrimitives
import RTCSignaling

/// The names and places of this hub.
extension ClusterMachine {
  var canAsk: Bool {
    switch phase {
    case .joining, .online: true
    case .offline, .stopping, .stopped: false
    }
  }

  mutating func take(_ claim: PresenceClaim, _ now: Timestamp) {
    switch claim.subject {
    case .name(let name):
      guard canAsk else { return answer(claim.id, .unavailable) }
      if case .withdrawn? = names[name]?.phase {
        names[name]?.phase = .withdrawn(next: claim)
        return
      }
      begin(claim, name, now)
    case .room(let room, let name):
      guard canAsk, let own = names[name], let fence = own.fence else { return answer(claim.id, .unavailable) }
      names[name]?.entering[room] = claim.id
      run(.enter, [name, "\(fence)", room, "\(roomMembers)"], .enter(name, room: room, claim.id), now)
    }
  }

  /// Runs the script that claims a name.
  mutating func begin(_ claim: PresenceClaim, _ name: String, _ now: Timestamp) {
    var own = Own(
      hash: Self.hash(claim.secret), isListed: claim.isListed, dialect: claim.dialect, phase: .claiming(claim))
    var arguments = [name, own.hash, own.isListed ? "1" : "0", own.dialect.rawValue]
    if let link = claim.link, link.uses != nil {
      let use = newUse(of: link, by: claim.secret)
      own.use = use
      arguments += use.arguments(link)
    }
    names[name] = own
    run(.claim, arguments, .claim(name), now)
  }

  /// Half of the SHA-256 of a secret: enough to compare, and readers of Redis do not learn the secret.
  static func hash(_ secret: String) -> String {
    MessageAuthentication.sha256(Array(secret.utf8)).prefix(16).map { byte in
      let digits = String(byte, radix: 16)
      return byte < 16 ? "0" + digits : digits
    }.joined()
  }

  mutating func release(_ name: String, _ now: Timestamp) {
    guard let own = names[name] else { return }
    switch own.phase {
    case .claiming: names[name]?.phase = .withdrawn(next: nil)
    case .withdrawn: names[name]?.phase = .withdrawn(next: nil)
    case .waiting: names[name] = nil
    case .held(let fence):
      names[name] = nil
      // Otherwise the next reading of the state finds a name that is not served.
      if canAsk { run(.release, [name, "\(fence)"], .other, now) }
    }
  }

  mutating func release(_ room: String, of name: String, _ now: Timestamp) {
    guard let own = names[name], let fence = own.fence else { return }
    names[name]?.entering[room] = nil
    names[name]?.rooms.removeAll { $0 == room }
    if canAsk { run(.exit, [name, "\(fence)", room], .other, now) }
  }

  // MARK: - Replies

  mutating func take(_ value: RESPValue, to id: UInt64, _ now: Timestamp) {
    guard let (ask, sent) = asks.removeValue(forKey: id) else { return }
    if case .error(let text) = value { return refuse(ask, .refused(text), now) }
    if let parts = value.elements, parts.count == 2, parts[0].string == "format", let format = parts[1].string {
      return refuse(ask, .otherFormat(format), now)
    }
    switch ask {
    case .beat: takeBeat(value, sent, now)
    case .state: takeState(value, now)
    case .claim(let name): takeClaim(value, name, now)
    // The state, which is read next, says where a name is that has moved.
    case .keep(let name, let fence):
      guard names[name]?.fence == fence else { break }
      switch value.elements?.first?.string {
      case "lost":
        names[name] = nil
        actions.append(.report(.lost(name)))
      case "kept": report(value.elements?.dropFirst().first, to: name)
      default: break
      }
    case .giveBack, .other: break
    case .use(let use): takeUse(value, use, now)
    case .links: takeLinks(value, now)
    case .publish(let name, let question): takePublished(value, name, question, now)
    case .streams: takeStreams(value, now)
    case .enter(let name, let room, let id):
      guard names[name]?.entering[room] == id else { break }
      names[name]?.entering[room] = nil
      switch value.elements?.first?.string {
      case "granted":
        names[name]?.rooms.append(room)
        answer(id, .granted)
        // A statement that was sent before the answer does not have the room, and has removed it again.
        let isStating = asks.values.contains { if case .keep(name, _) = $0.ask { true } else { false } }
        if isStating { keep(name, now) }
      case "full": answer(id, .full)
      default: answer(id, .unavailable)
      }
    case .post(let post): takePosted(value, post, now)
    case .letters(let name, let fence):
      guard names[name]?.fence == fence, value.elements?.first?.string == "letters" else { break }
      report(value.elements?.dropFirst().first, to: name)
    case .leave:
      guard case .stopping = phase else { break }
      phase = .stopped
      actions.append(.stopped)
    }
  }

  /// Redis cannot be written, is another program, or serves hubs that this one does not understand.
  private mutating func refuse(_ ask: Ask, _ fault: ClusterFault, _ now: Timestamp) {
    asks[lastAsk + 1] = (ask, now)
    lastAsk += 1
    drop(fault, now)
  }

  private mutating func takeBeat(_ value: RESPValue, _ sent: Timestamp, _ now: Timestamp) {
    guard let parts = value.elements, parts.count == 3, let epoch = parts[0].string, let last = parts[1].integer,
      let isKnown = parts[2].integer
    else { return drop(.unreadable, now) }
    confirmed = sent
    let isFirst = self.epoch == nil
    if self.epoch != epoch || isKnown == 0 {
      self.epoch = epoch
      // Redis has lost its data, or counts this hub as failed.
      if !isFirst, isOnline { restate(now) }
    } else if case .online(let known) = phase, known < last {
      rereads += 1
      restate(now)
    }
  }

  private mutating func takeClaim(_ value: RESPValue, _ name: String, _ now: Timestamp) {
    guard let own = names[name] else { return }
    let parts = value.elements ?? []
    let claim: PresenceClaim
    switch own.phase {
    case .claiming(let made): claim = made
    case .withdrawn(let next):
      names[name] = nil
      if parts.first?.string == "granted", parts.count >= 2, let fence = parts[1].integer {
        if remotes[name] != nil { forget(name) }
        run(.release, [name, "\(fence)"], .other, now)
        if let use = own.use, parts.count > 3, parts[3].string == "counted" { giveBack(use, now) }
      }
      if let next { begin(next, name, now) }
      return
    case .waiting, .held: return
    }
    switch parts.first?.string {
    case "granted":
      guard parts.count >= 3, let fence = parts[1].integer else { return drop(.unreadable, now) }
      names[name]?.phase = .held(fence)
      if let use = own.use, let link = claim.link {
        noteUse(use, of: link, isCounted: parts.count > 3 && parts[3].string == "counted")
      }
      let rooms = parts.dropFirst(4).first?.elements?.compactMap(\.string) ?? []
      names[name]?.rooms = rooms
      remotes[name] = nil
      guard parts[2].string == "moved" else { return answer(claim.id, .granted) }
      answer(claim.id, .moved(rooms: rooms))
      report(parts.dropFirst(5).first, to: name)
    case "wait":
      guard parts.count >= 2, let wait = parts[1].integer else { return drop(.unreadable, now) }
      let until = now + .milliseconds(min(max(wait, 1), Int64(ClusterScript.grace)))
      names[name]?.phase = .waiting(claim, until: until)
    case "taken":
      names[name] = nil
      answer(claim.id, .taken)
    case "used-up":
      names[name] = nil
      answer(claim.id, .usedUp)
    case "revoked":
      names[name] = nil
      answer(claim.id, .revoked)
    default: drop(.unreadable, now)
    }
  }
}
