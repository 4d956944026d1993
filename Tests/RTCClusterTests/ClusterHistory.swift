import RTCCluster
import RTCPrimitives
import RTCSignaling
import Testing

/// Several hubs' machines around a real Redis, in virtual time. Commands, replies and messages travel when the history
/// says so, or never.
final class ClusterHistory {
  /// A hub as far as the presence goes: its tables, and the clients' claims.
  final class SimulatedHub {
    var machine: ClusterMachine
    var client: ScriptClient?
    /// Commands on their way to Redis, and inputs on their way back.
    var outgoing: [ClusterMachine.Action] = []
    var incoming: [ClusterMachine.Input] = []
    var isCutOff = false
    /// Its clock differs from that of the others.
    let skew: TimeDelta
    /// Names that it serves, and the secrets of their owners.
    var served: [String: String] = [:]
    /// Names whose owners have gone to another hub, which this hub does not know yet: nobody is connected to it by them.
    var deserted: Set<String> = []
    /// Names and secrets of claims that may still reach Redis, withdrawn ones included.
    var attempts: Set<[String]> = []
    var claims: [PresenceClaim.ID: PresenceClaim] = [:]
    var claimCount: UInt64 = 0
    /// Places that it serves.
    var places: Set<[String]> = []
    /// Names and places of the others, as it was told.
    var others: [String: RemotePeer] = [:]
    /// The links that it knows as used or revoked, as its file keeps them.
    var ledger = LinkLedger()
    var questions: [UInt64: HistoryLinks.Use] = [:]
    /// Counted uses of which it has not decided whether they are kept.
    var counted: [(use: LinkUse, by: HistoryLinks.Use)] = []
    var questionCount: UInt64 = 0
    /// Streams that it has, those of other hubs as it was told, and questions about them.
    var streams: Set<String> = []
    var elsewhere: [String: String] = [:]
    var publications: [UInt64: String] = [:]
    var letters = HubLetters()

    init(_ number: Int, skew: TimeDelta) {
      machine = ClusterMachine(hub: "h\(number)", prefix: ScriptServer.prefix, roomMembers: 3)
      self.skew = skew
    }
  }

  let server: ScriptServer
  let redis: ScriptClient
  var hubs: [SimulatedHub] = []
  var now = Timestamp.zero
  var random: SeededGenerator
  private var hubCount = 0
  private var granted = 0
  private(set) var log: [String] = []
  /// The first breach of a rule.
  var breach: String?
  var links = HistoryLinks()
  var published = 0
  var letters = HistoryLetters()

  init(_ server: ScriptServer, seed: UInt64) throws {
    self.server = server
    random = SeededGenerator(seed: seed)
    redis = try ScriptClient(server)
    try redis.call("FLUSHALL")
    try setClock()
    for _ in 0..<3 { hubs.append(makeHub()) }
    for index in hubs.indices {
      try input(.address(hubs[index].machine.hub), index)
      try connect(index)
    }
    try settle(.seconds(Int64(5)))
  }

  private func makeHub() -> SimulatedHub {
    hubCount += 1
    return SimulatedHub(hubCount, skew: .seconds(Int64.random(in: 0...100_000, using: &random)))
  }

  private func setClock() throws {
    try redis.call("SET", "clock", "\(1_000_000_000_000 + now.nanoseconds / 1_000_000)")
  }

  // MARK: - Traffic

  private func connect(_ index: Int) throws {
    let hub = hubs[index]
    let client = try ScriptClient(server)
    hub.client = client
    try client.subscribe(hub.machine.channels)
    try input(.connected, index)
  }

  /// Breaks the connection: nothing that is on its way arrives.
  private func disconnect(_ index: Int) throws {
    let hub = hubs[index]
    guard hub.client != nil else { return }
    hub.client = nil
    (hub.outgoing, hub.incoming, hub.attempts) = ([], [], [])
    letters.allowSilence { $0.hub == hub.machine.hub }
    try input(.disconnected, index)
  }

  func input(_ input: ClusterMachine.Input, _ index: Int) throws {
    let hub = hubs[index]
    for action in hub.machine.handle(input, now: now + hub.skew) {
      switch action {
      case .run, .publish: hub.outgoing.append(action)
      case .report(let event): note(event, hub)
      case .used(let question, let answer): note(answer, to: question, hub)
      case .published(let question, let answer): note(answer, toPublication: question, hub)
      case .streams(let streams): hub.elsewhere = streams
      case .disconnect:
        hub.client = nil
        (hub.outgoing, hub.incoming) = ([], [])
        letters.allowSilence { $0.hub == hub.machine.hub }
      case .stopped: break
      }
    }
    check()
    try followUp(index)
  }

  /// Lets the oldest command of a hub reach Redis.
  func execute(_ index: Int) throws {
    let hub = hubs[index]
    guard let client = hub.client, !hub.isCutOff, !hub.outgoing.isEmpty else { return }
    let (id, value): (UInt64, RESPValue)
    hub.letters.running = hub.outgoing.first
    switch hub.outgoing.removeFirst() {
    case .run(let number, let script, let arguments):
      (id, value) = (
        number, try client.call(["EVAL", ScriptServer.scripts[script] ?? "", "1", ScriptServer.prefix] + arguments)
      )
    case .publish(let number, let channel, let text): (id, value) = (number, try client.call("PUBLISH", channel, text))
    default: return
    }
    noteExecution(value, hub)
    if case .error(let text) = value { breach = breach ?? "a script fails: \(text)" }
    collect(hub)
    hub.incoming.append(.reply(id, value))
    for other in hubs where other !== hub {
      try other.client?.call("PING")
      collect(other)
    }
  }

  private func collect(_ hub: SimulatedHub) {
    guard let client = hub.client else { return }
    for push in client.takePushes() { hub.incoming.append(.published(channel: push.channel, push.text)) }
  }

  private func receive(_ index: Int) throws {
    let hub = hubs[index]
    guard hub.client != nil, !hub.isCutOff, !hub.incoming.isEmpty else { return }
    try input(hub.incoming.removeFirst(), index)
  }

  /// Lets everything arrive that can.
  func flush() throws {
    var isMoving = true
    while isMoving {
      isMoving = false
      for index in hubs.indices where !hubs[index].isCutOff && hubs[index].client != nil {
        while !hubs[index].outgoing.isEmpty {
          try execute(index)
          isMoving = true
        }
        while !hubs[index].incoming.isEmpty {
          try receive(index)
          isMoving = true
        }
      }
    }
  }

  /// Lets time pass; what can arrive does.
  func settle(_ time: TimeDelta) throws {
    let end = now + time
    // A quarter of the second between two signs of life.
    let step = TimeDelta.milliseconds(time > .seconds(Int64(40)) ? Int64(2_000) : 250)
    while now < end {
      now = min(end, now + step)
      try setClock()
      for index in hubs.indices {
        if let due = hubs[index].machine.deadline, due <= now + hubs[index].skew { try input(.deadline, index) }
      }
      try flush()
    }
  }

  // MARK: - The hubs' tables

  private func note(_ event: PresenceEvent, _ hub: SimulatedHub) {
    switch event {
    case .answered(let id, let answer):
      guard let claim = hub.claims.removeValue(forKey: id) else { break }
      if case .name(let name) = claim.subject { hub.attempts.remove([name, claim.secret]) }
      switch (claim.subject, answer) {
      case (.name(let name), .granted): serve(name, [], claim, hub)
      case (.name(let name), .moved(let rooms)):
        serve(name, rooms, claim, hub)
        hub.letters.stays[name]?.order.isCollecting = true
      case (.room(let room, let name), .granted): hub.places.insert([room, name])
      default: break
      }
    case .lost(let name): stopServing(name, hub)
    case .remote(let peer):
      stopServing(peer.name, hub)
      hub.others[peer.name] = peer
    case .gone(let name): hub.others[name] = nil
    case .entered(let room, let name): hub.others[name]?.rooms.append(room)
    case .left(let room, let name): hub.others[name]?.rooms.removeAll { $0 == room }
    case .revoked(let link, let expires): hub.ledger.revoke(link, expires: expires)
    case .message, .letter, .collected, .returned, .connected: noteLetters(event, hub)
    case .wrongTry: break
    }
  }

  private func serve(_ name: String, _ rooms: [String], _ claim: PresenceClaim, _ hub: SimulatedHub) {
    granted += 1
    if let link = claim.link { admit(link, HistoryLinks.Use(link: link, client: claim.secret), hub) }
    // A client that comes to two hubs at once may be at either.
    if hubs.contains(where: { $0 !== hub && $0.attempts.contains([name, claim.secret]) }) { hub.deserted.insert(name) }
    hub.served[name] = claim.secret
    hub.letters.stays[name] = HubLetters.Stay()
    hub.others[name] = nil
    for room in rooms { hub.places.insert([room, name]) }
  }

  private func stopServing(_ name: String, _ hub: SimulatedHub) {
    hub.served[name] = nil
    endStay(of: name, hub)
    hub.deserted.remove(name)
    hub.places = hub.places.filter { $0[1] != name }
    for (id, claim) in hub.claims { if case .room(_, name) = claim.subject { hub.claims[id] = nil } }
  }

  func claim(_ subject: PresenceClaim.Subject, _ secret: String, _ index: Int) throws {
    let hub = hubs[index]
    guard !hub.claims.values.contains(where: { $0.subject == subject }) else { return }
    hub.claimCount += 1
    var claim = PresenceClaim(id: .init(rawValue: hub.claimCount), subject: subject, client: secret)
    claim.secret = secret
    if case .name = subject, Bool.random(using: &random) { claim.link = links.random(&random) }
    hub.claims[claim.id] = claim
    // A client that comes to a hub has left the one before.
    if case .name(let name) = subject {
      hub.attempts.insert([name, secret])
      for other in hubs where other !== hub && other.served[name] == secret { other.deserted.insert(name) }
    }
    try input(.claim(claim), index)
  }

  private func release(_ name: String, _ index: Int) throws {
    let hub = hubs[index]
    stopServing(name, hub)
    for (id, claim) in hub.claims where claim.subject == .name(name) { hub.claims[id] = nil }
    try input(.release(.name(name)), index)
  }

  // MARK: - The rule

  /// No name has two owners.
  private func check() {
    guard breach == nil else { return }
    checkLinks()
    var owners: [String: String] = [:]
    for hub in hubs {
      for (name, secret) in hub.served where !hub.deserted.contains(name) {
        if let other = owners.updateValue(secret, forKey: name), other != secret {
          breach = "\(name) has two owners at \(now.nanoseconds / 1_000_000)\n\((try? dump()) ?? "")"
        }
      }
    }
  }

  // MARK: - A history

  /// One random event.
  func step() throws {
    let index = Int.random(in: hubs.indices, using: &random)
    let hub = hubs[index]
    let name = "n\(Int.random(in: 0..<3, using: &random))"
    let room = "r\(Int.random(in: 0..<2, using: &random))"
    let event = Int.random(in: 0..<155, using: &random)
    switch event {
    case 133...: try stepLetters(event, name, index)
    case 125...: try stepStreams(event, index)
    case 100...: try stepLinks(event, index)
    case 0..<20: try execute(index)
    case 20..<40: try receive(index)
    case 40..<56: try begin(name, index)
    case 56..<62: if hub.served[name] != nil || !hub.claims.isEmpty { try release(name, index) }
    case 62..<68:
      if hub.served[name] != nil, !hub.places.contains([room, name]) { try claim(.room(room, peer: name), "", index) }
    case 68..<70:
      hub.places.remove([room, name])
      for (id, claim) in hub.claims where claim.subject == .room(room, peer: name) { hub.claims[id] = nil }
      try input(.release(.room(room, peer: name)), index)
    case 70..<76: try settle(.milliseconds(Int64.random(in: 1...2_000, using: &random)))
    case 76..<82: try flush()
    case 82..<86: hub.isCutOff = true
    case 86..<89: try disconnect(index)
    case 89..<93:
      // A partition that ends breaks the connection, or not.
      if Bool.random(using: &random) { try disconnect(index) }
      hub.isCutOff = false
      if hub.client == nil { try connect(index) }
    case 93..<95: try settle(.seconds(Int64.random(in: 3...40, using: &random)))
    case 95: try settle(.seconds(Int64.random(in: 500...700, using: &random)))
    case 96..<98: try replace(index, says: event == 97)
    default: try loseData()
    }
    if log.count < 400 { log.append("\(now.nanoseconds / 1_000_000) \(event) h\(index) \(name)") }
  }

  private func begin(_ name: String, _ index: Int) throws {
    guard hubs[index].served[name] == nil else { return }
    try claim(.name(name), "secret \(Int.random(in: 0..<3, using: &random))", index)
  }

  /// A hub fails, or ends, and another one starts.
  private func replace(_ index: Int, says goodbye: Bool) throws {
    let hub = hubs[index]
    (hub.served, hub.places, hub.claims, hub.deserted) = ([:], [], [:], [])
    for name in hub.streams.sorted() where goodbye { try input(.unpublish(name), index) }
    if goodbye, !hub.isCutOff, hub.client != nil {
      try input(.stop, index)
      try flush()
    }
    forgetUndecidedUses(of: hub)
    forgetLetters(of: hub)
    let ledger = hub.ledger
    hubs[index] = makeHub()
    // As a restarted hub reads it from its file.
    hubs[index].ledger = ledger
    try input(.addLinks(ledger), index)
    try input(.address(hubs[index].machine.hub), index)
    try connect(index)
  }

  /// Redis loses its data while all hubs reach it.
  private func loseData() throws {
    for index in hubs.indices { hubs[index].isCutOff = false }
    // A hub that was cut off for long may give its connection up first.
    for _ in 0..<2 {
      for index in hubs.indices where hubs[index].client == nil { try connect(index) }
      try settle(.seconds(Int64(2)))
    }
    letters.forget()
    try redis.call("EVAL", "for _, k in ipairs(redis.call('KEYS', '{t}*')) do redis.call('DEL', k) end", "0")
    // Clients come before the hubs have noticed it.
    for _ in 0..<4 {
      try begin("n\(Int.random(in: 0..<3, using: &random))", Int.random(in: hubs.indices, using: &random))
      try stepLinks(100, Int.random(in: hubs.indices, using: &random))
      try stepStreams(125, Int.random(in: hubs.indices, using: &random))
    }
    try flush()
    try settle(.seconds(Int64(2)))
  }

  /// Heals everything, and compares what the hubs know. In half of the histories, connections that last go on: what the hubs
  /// told is not told again.
  func end() throws {
    let reconnects = Bool.random(using: &random)
    for index in hubs.indices {
      hubs[index].isCutOff = false
      if reconnects { try disconnect(index) }
      if hubs[index].client == nil { try connect(index) }
    }
    try settle(.seconds(Int64(5)))
    // The peers of hubs that have failed leave.
    try settle(.seconds(Int64(36)))
    for (index, hub) in hubs.enumerated() {
      let others = hubs.enumerated().filter { $0.offset != index }.flatMap { $0.element.served.keys }.sorted()
      expect(hub.machine.isOnline, "h\(index) is not online")
      expect(hub.others.keys.sorted() == others, "h\(index) knows \(hub.others.keys.sorted()), and there are \(others)")
      expect(hub.claims.isEmpty, "h\(index) waits for an answer")
      expect(Set(hub.machine.held.keys) == Set(hub.served.keys), "h\(index) holds other names than it serves")
      for (name, peer) in hub.others {
        let places = hubs.flatMap(\.places).filter { $0[1] == name }.map { $0[0] }.sorted()
        expect(peer.rooms.sorted() == places, "\(name) is in \(places), and not in \(peer.rooms)")
      }
    }
    var counts: [String: Int64] = [:]
    for hub in hubs { for place in hub.places { counts[place[0], default: 0] += 1 } }
    let counted = try redis.call("HGETALL", "{t}:count").elements ?? []
    var found: [String: Int64] = [:]
    for pair in stride(from: 0, to: counted.count - 1, by: 2) {
      found[counted[pair].string ?? ""] = counted[pair + 1].integer
    }
    try endLinks()
    try endStreams()
    try endLetters()
    expect(counts == found, "rooms have \(counts) members, and Redis counts \(found)")
  }

  var grantedNames: Int { granted }

  func expect(_ isTrue: Bool, _ what: String) { if !isTrue, breach == nil { breach = what } }

  /// The data of Redis, for a message.
  func dump() throws -> String {
    var lines: [String] = []
    let keys = try redis.call("KEYS", "{t}*").elements ?? []
    for key in keys.compactMap(\.string).sorted() {
      let words =
        switch try redis.call("TYPE", key).string {
        case "hash": ["HGETALL", key]
        case "zset": ["ZRANGE", key, "0", "-1", "WITHSCORES"]
        case "set": ["SMEMBERS", key]
        default: ["GET", key]
        }
      lines.append("\(key): \(Self.plain(try redis.call(words)))")
    }
    for hub in hubs { lines.append("\(hub.machine.hub) serves \(hub.served), knows \(hub.others.keys.sorted())") }
    return lines.joined(separator: "\n")
  }

  private static func plain(_ value: RESPValue) -> String {
    switch value {
    case .list(let elements): elements.map(plain).joined(separator: " ")
    case .double(let number): "\(number)"
    default: value.string ?? "\(value)"
    }
  }
}
