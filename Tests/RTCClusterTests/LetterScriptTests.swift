import RTCCluster
import RTCSignaling
import Testing

/// The scripts of messages to peers, in a real Redis: `alice` is at the hub `a`, and `bob` at `b`.
@Suite(.enabled(if: ScriptServer.isThere, "redis-server is missing: run scripts/setup")) struct LetterScriptTests {
  private let server: ScriptServer
  private let redis: ScriptClient
  private let fence: String
  private static let start = 1_000_000_000

  init() throws {
    server = try ScriptServer()
    redis = try ScriptClient(server)
    try redis.call("SET", "clock", "\(Self.start - 10_000)")
    for hub in ["a", "b"] { _ = try Self.run(redis, .beat, [hub]) }
    try redis.call("SET", "clock", "\(Self.start)")
    for hub in ["a", "b"] { _ = try Self.run(redis, .beat, [hub]) }
    fence = try Self.run(redis, .claim, ["a", "alice", "hash of alice", "1", "hub"])[1]
    _ = try Self.run(redis, .claim, ["b", "bob", "hash of bob", "1", "hub"])
  }

  private static func run(_ redis: ScriptClient, _ script: ClusterScript, _ words: [String]) throws -> [String] {
    func flat(_ value: RESPValue) -> [String] {
      value.elements?.flatMap(flat) ?? [value.string ?? value.integer.map { "\($0)" }].compactMap(\.self)
    }
    let value = try redis.call(["EVAL", ScriptServer.scripts[script] ?? "", "1", ScriptServer.prefix] + words)
    if case .error(let text) = value { Issue.record("\(script): \(text)") }
    return flat(value)
  }

  @discardableResult private func run(_ script: ClusterScript, _ words: String...) throws -> [String] {
    try Self.run(redis, script, words)
  }

  /// Hubs give signs of life until this time after the start.
  private func pass(to seconds: Int, _ hubs: String...) throws {
    try redis.call("SET", "clock", "\(Self.start + seconds * 1_000)")
    for hub in hubs { try run(.beat, hub) }
  }

  private func text(_ number: Int) -> String {
    #"{"from":"bob","to":"alice","k":"request","d":"hub","b":"\#(number)"}"#
  }

  private func post(_ number: Int) throws -> String? { try run(.post, "b", "\(number)", "alice", text(number)).first }

  /// The texts of the letters in a reply.
  private func texts(_ reply: [String]) -> [String] { reply.filter { $0.hasPrefix("{") } }

  private var kept: [Int64?] {
    get throws {
      [
        try redis.call("ZCARD", "{t}:posted").integer, try redis.call("HLEN", "{t}:letters").integer,
        try redis.call("HLEN", "{t}:mailbytes").integer, try redis.call("EXISTS", "{t}:mail:alice").integer,
      ]
    }
  }

  @Test func `letters wait until their hub has delivered them, and are sent once`() throws {
    #expect(try [post(1), post(2), post(2), post(1)] == ["posted", "posted", "known", "known"])
    let all = try run(.letters, "a", "alice", fence, "1")
    #expect(texts(all) == [text(1), text(2)])
    #expect(try run(.delivered, "b", "alice", fence, all[1]) == ["lost"], "another hub has not delivered them")
    try run(.delivered, "a", "alice", fence, all[1])
    #expect(texts(try run(.letters, "a", "alice", fence, "1")) == [text(2)])
    try run(.delivered, "a", "alice", fence, all[3])
    #expect(try kept == [0, 0, 0, 0])
  }

  @Test func `a peer that comes to another hub gets the letters there, also when the first hub has failed`() throws {
    #expect(try post(1) == "posted")
    try pass(to: 20, "b")
    #expect(try post(2) == "posted", "the hub has failed")
    #expect(texts(try run(.claim, "b", "alice", "hash of alice", "1", "hub")) == [text(1), text(2)])
    #expect(try run(.letters, "a", "alice", fence, "1") == ["lost"])
  }

  @Test func `a hub that states its names again gets the letters that it has missed`() throws {
    #expect(try post(1) == "posted")
    #expect(texts(try run(.keep, "a", "alice", "hash of alice", "1", "hub", fence, "[]")) == [text(1)])
  }

  @Test func `letters that are not delivered come back: after 30 seconds, with the name, and to unknown peers`() throws
  {
    let other = try ScriptClient(server)
    try other.subscribe(["{t}:to:b"])
    func notices() throws -> Int {
      try other.call("PING")
      return other.takePushes().count { String(decoding: $0.text, as: UTF8.self).contains("unknown") }
    }
    try run(.letters, "a", "alice", fence, "0")
    #expect(try [post(1), post(2)] == ["posted", "posted"])
    try pass(to: 29, "a", "b")
    #expect(try notices() == 0 && kept[0] == 2)
    try pass(to: 30, "a", "b")
    #expect(try notices() == 1, "one notice for all letters of one sender to one peer")
    #expect(try kept == [0, 0, 0, 0])
    #expect(try post(3) == "posted")
    try run(.release, "a", "alice", fence)
    #expect(try notices() == 1)
    #expect(try kept == [0, 0, 0, 0])
    #expect(try post(4) == "unknown")
  }

  @Test func `letters to the peers of a failed hub come back when these leave`() throws {
    #expect(try post(1) == "posted")
    try pass(to: 4, "b")
    try pass(to: 20, "b")
    #expect(try post(2) == "posted")
    try pass(to: 35, "b")
    #expect(try kept == [0, 0, 0, 0])
    #expect(try post(3) == "unknown")
    #expect(texts(try run(.claim, "b", "alice", "hash of alice", "1", "hub")) == [])
  }

  @Test func `few letters wait for a peer that is away, and a peer that has returned gets more`() throws {
    try run(.letters, "a", "alice", fence, "0")
    let limit = HubLimits().heldPerPeer
    for number in 1...limit { #expect(try post(number) == "posted") }
    #expect(try post(limit + 1) == "full")
    try run(.letters, "a", "alice", fence, "1")
    #expect(try post(limit + 2) == "posted")
    let large = String(repeating: "x", count: HubLimits().heldBytes)
    #expect(try run(.post, "b", "1000", "alice", text(1) + large) == ["full"])
    #expect(try post(limit + 3) == "posted")
  }

  @Test func `letters to peers that are away leave room for those to connected peers`() throws {
    _ = try run(.claim, "a", "carol", "hash of carol", "1", "hub")
    try run(.letters, "a", "alice", fence, "0")
    try redis.call(["SADD", "{t}:held"] + (1...HubLimits().heldMessages).map { "\($0)" })
    try redis.call("ZADD", "{t}:posted", "\(Self.start)", "1")
    #expect(try post(1) == "full")
    #expect(try run(.post, "b", "2", "carol", text(2)) == ["posted"])
    try redis.call("DEL", "{t}:held")
    try redis.call("SET", "{t}:heldbytes", "\(HubLimits().heldBytes)")
    #expect(try post(3) == "full")
    #expect(try run(.post, "b", "4", "carol", text(4)) == ["posted"])
  }

  @Test func `letters to a connected peer whose hub is slow have a limit`() throws {
    let text = text(1) + String(repeating: " ", count: 1_048_576)
    for number in 1...3 { #expect(try run(.post, "b", "\(number)", "alice", text) == ["posted"]) }
    #expect(try run(.post, "b", "4", "alice", text) == ["full"])
    let all = try run(.letters, "a", "alice", fence, "1")
    try run(.delivered, "a", "alice", fence, all[1])
    #expect(try run(.post, "b", "5", "alice", text) == ["posted"])
  }

  @Test func `a hub reads no letters to a peer that is away`() throws {
    #expect(try post(1) == "posted")
    #expect(try run(.letters, "a", "alice", fence, "0") == ["letters"])
  }

  @Test func `a letter that was refused is refused again when it is sent again`() throws {
    try run(.letters, "a", "alice", fence, "0")
    let limit = HubLimits().heldPerPeer
    for number in 1...limit { #expect(try post(number) == "posted") }
    #expect(try [post(limit + 1), post(limit + 1)] == ["full", "full"])
    #expect(try post(limit) == "known")
    #expect(try run(.post, "b", "\(limit + 1)", "nobody", text(1)) == ["unknown"])
    #expect(try run(.post, "b", "\(limit + 1)", "nobody", text(1)) == ["unknown"])
  }

  @Test func `hubs go on if Redis has lost the texts of letters`() throws {
    #expect(try [post(1), post(2)] == ["posted", "posted"])
    try redis.call("DEL", "{t}:letters")
    #expect(texts(try run(.letters, "a", "alice", fence, "1")) == [])
    try pass(to: 29, "a", "b")
    #expect(try post(3) == "posted")
    let all = try run(.letters, "a", "alice", fence, "1")
    #expect(texts(all) == [text(3)])
    try pass(to: 31, "a", "b")
    #expect(try redis.call("ZCARD", "{t}:posted").integer == 1)
    try run(.delivered, "a", "alice", fence, all[1])
    try pass(to: 32, "a", "b")
    #expect(try kept == [0, 0, 0, 0])
    #expect(try post(4) == "posted")
    try redis.call("DEL", "{t}:letters")
    try run(.release, "a", "alice", fence)
    #expect(try kept == [0, 0, 0, 0])
  }

  @Test func `hubs go on if Redis has lost the time at which its data began`() throws {
    try redis.call("DEL", "{t}:born")
    #expect(try run(.claim, "a", "carol", "hash of carol", "1", "hub").first == "wait")
    try pass(to: 4, "a", "b")
    #expect(try run(.claim, "a", "carol", "hash of carol", "1", "hub").first == "granted")
  }

  @Test func `after a loss of data, letters wait until the receiver is stated again`() throws {
    try redis.call("FLUSHALL")
    try redis.call("SET", "clock", "\(Self.start + 20_000)")
    try run(.beat, "b")
    #expect(try post(1) == "later")
    try run(.beat, "a")
    try run(.keep, "a", "alice", "hash of alice", "1", "hub", fence, "[]")
    #expect(try post(1) == "posted")
  }
}
