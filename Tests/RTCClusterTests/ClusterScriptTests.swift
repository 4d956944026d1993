import RTCCluster
import Testing

/// Single scripts in a real Redis.
@Suite(.enabled(if: ScriptServer.isThere, "redis-server is missing: run scripts/setup")) struct ClusterScriptTests {
  private let server: ScriptServer
  private let redis: ScriptClient

  init() throws {
    server = try ScriptServer()
    redis = try ScriptClient(server)
    try setClock(1_000_000_000)
    try run(.beat, "a")
    try run(.beat, "b")
    try setClock(1_000_000_000 + 10_000)
    try run(.beat, "a")
    try run(.beat, "b")
  }

  private func setClock(_ milliseconds: Int) throws { try redis.call("SET", "clock", "\(milliseconds)") }

  @discardableResult
  private func run(_ script: ClusterScript, _ arguments: String...) throws -> [String] {
    let value = try redis.call(
      ["EVAL", ScriptServer.scripts[script] ?? "", "1", ScriptServer.prefix] + arguments)
    if case .error(let text) = value { Issue.record("\(script): \(text)") }
    return Self.flat(value)
  }

  private static func flat(_ value: RESPValue) -> [String] {
    value.elements?.flatMap(flat) ?? [value.string ?? value.integer.map { "\($0)" }].compactMap(\.self)
  }

  @Test func `a use that another use by the same client relies on cannot be given back`() throws {
    #expect(try run(.use, "a", "link", "1", "", "ada", "a.1") == ["counted"])
    #expect(try run(.use, "b", "link", "1", "", "bob", "b.1") == ["used-up"])
    #expect(try run(.use, "b", "link", "1", "", "ada", "b.2") == ["known"])
    try run(.giveBack, "a", "link", "ada", "a.1")
    #expect(try run(.use, "b", "link", "1", "", "bob", "b.3") == ["used-up"])
  }

  @Test func `a use that is given back is another client's`() throws {
    #expect(try run(.use, "a", "link", "1", "", "ada", "a.1") == ["counted"])
    try run(.giveBack, "a", "link", "ada", "a.1")
    #expect(try run(.use, "b", "link", "1", "", "bob", "b.1") == ["counted"])
    // Too late, or twice.
    try run(.giveBack, "a", "link", "bob", "a.1")
    #expect(try run(.use, "a", "link", "1", "", "ada", "a.2") == ["used-up"])
  }

  @Test func `claims to names and other uses count together`() throws {
    #expect(
      try run(.claim, "a", "alice", "hash", "1", "hub", "link", "2", "", "ada", "a.1").prefix(1) == ["granted"])
    #expect(try run(.use, "b", "link", "2", "", "bob", "b.1") == ["counted"])
    #expect(try run(.claim, "b", "carol", "other", "1", "hub", "link", "2", "", "carol", "b.2") == ["used-up"])
    #expect(
      try run(.claim, "b", "alice", "hash", "1", "hub", "link", "2", "", "ada", "b.3").suffix(2) == ["moved", "known"])
    // A name that is refused is no use.
    #expect(try run(.claim, "a", "alice", "thief", "1", "hub", "last", "1", "", "eve", "a.2") == ["taken"])
    #expect(try run(.use, "a", "last", "1", "", "dave", "a.3") == ["counted"])
  }

  @Test func `a revoked link is neither used nor claimed with`() throws {
    let revoked = try run(.links, "a", #"{"r":[["link","2000000000"],["old","1"]],"u":[]}"#)
    #expect(revoked.dropFirst() == ["link", "2000000000"], "a link that ended long ago is forgotten")
    #expect(try run(.use, "b", "link", "1", "", "bob", "b.1") == ["revoked"])
    #expect(try run(.claim, "b", "alice", "hash", "1", "hub", "link", "1", "", "ada", "b.2") == ["revoked"])
  }

  @Test func `after a loss of data, uses wait until hubs have stated theirs`() throws {
    try redis.call("FLUSHALL")
    try setClock(2_000_000_000)
    try run(.beat, "a")
    #expect(try run(.use, "a", "link", "1", "", "bob", "a.1").first == "wait")
    #expect(try run(.claim, "a", "alice", "hash", "1", "hub", "link", "1", "", "ada", "a.2").first == "wait")
    #expect(try run(.publish, "a", "desk", "http://a/").first == "wait")
    try run(.links, "a", #"{"r":[],"u":[["link","","ada"]]}"#)
    try setClock(2_000_000_000 + ClusterScript.grace)
    #expect(try run(.use, "a", "link", "1", "", "bob", "a.3") == ["used-up"])
    #expect(try run(.use, "a", "link", "1", "", "ada", "a.4") == ["known"])
  }

  @Test func `a primary that has taken over grants nothing new until hubs have stated what they know`() throws {
    try run(.beat, "a", "10.0.0.1:6379")
    #expect(try run(.claim, "a", "alice", "hash", "1", "hub").first == "wait")
    try setClock(1_000_000_000 + 20_000)
    for hub in ["a", "b"] { try run(.beat, hub, "10.0.0.1:6379") }
    let fence = try run(.claim, "a", "alice", "hash", "1", "hub")[1]
    // The next one has not heard of the name.
    try redis.call("HDEL", "{t}:names", "alice")
    try run(.beat, "b", "10.0.0.2:6379")
    #expect(try run(.claim, "b", "alice", "thief", "1", "hub").first == "wait")
    #expect(try run(.use, "b", "link", "1", "", "bob", "b.1").first == "wait")
    try run(.keep, "a", "alice", "hash", "1", "hub", fence, "[]")
    try setClock(1_000_000_000 + 20_000 + ClusterScript.grace)
    for hub in ["a", "b"] { try run(.beat, hub, "10.0.0.2:6379") }
    #expect(try run(.claim, "b", "alice", "thief", "1", "hub") == ["taken"])
    #expect(try run(.claim, "b", "bob", "hash", "1", "hub").first == "granted")
  }

  @Test func `a hub does not join hubs of another format, and takes over what they have left`() throws {
    let own = "\(ClusterScript.format)"
    #expect(try redis.call("GET", "{t}:format").string == own)
    for (found, reported) in [("1", nil), ("999", "999")] as [(String, String?)] {
      // Data of the first format has no number.
      try redis.call("DEL", "{t}:format")
      if let reported { try redis.call("SET", "{t}:format", reported) }
      for script in ClusterScript.allCases {
        #expect(try run(script, "new", "", "", "", "", "", "") == ["format", found], "\(script)")
      }
    }
    try setClock(1_000_000_000 + 10_000 + ClusterScript.lease)
    #expect(try run(.beat, "new").first == "format", "the hubs may be running")
    try setClock(1_000_000_000 + 10_001 + ClusterScript.lease)
    #expect(try run(.beat, "new").count == 3)
    #expect(try run(.beat, "a").count == 3 && redis.call("GET", "{t}:format").string == own)
  }

  @Test func `the uses of a link are kept until it has ended everywhere`() throws {
    try run(.use, "a", "link", "1", "4000000000", "ada", "a.1")
    #expect(try redis.call("EXPIRETIME", "{t}:used:link").integer == 4_000_086_400)
    try run(.use, "a", "lasting", "1", "", "ada", "a.2")
    #expect(try redis.call("EXPIRETIME", "{t}:used:lasting").integer == -1)
  }

  @Test func `a stream has one hub, for as long as that hub gives signs of life`() throws {
    #expect(try run(.publish, "a", "desk", "http://a/") == ["granted"])
    #expect(try run(.publish, "b", "desk", "http://b/") == ["taken"])
    try run(.unpublish, "b", "desk")
    #expect(try run(.streams, "b", #"{"a":"http://b/","n":["desk"]}"#) == ["desk", "a", "http://a/"])
    try setClock(1_000_000_000 + 20_000)
    try run(.beat, "c")
    #expect(try run(.publish, "b", "other", "http://b/").first == "wait", "the hub counts as failed itself")
    try run(.beat, "b")
    #expect(try run(.publish, "b", "desk", "http://b/") == ["granted"])
    try run(.beat, "a")
    #expect(try run(.streams, "a", #"{"a":"http://a/","n":["desk"]}"#) == ["desk", "b", "http://b/"])
    // A stream that its hub does not state has ended.
    #expect(try run(.streams, "b", #"{"a":"http://b/","n":[]}"#) == [])
    #expect(try run(.publish, "a", "desk", "http://a/") == ["granted"])
  }
}
