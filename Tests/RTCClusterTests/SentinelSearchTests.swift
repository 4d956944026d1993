import RTCCluster
import RTCSignaling
import Testing

/// The search for a primary among sentinels.
@Suite struct SentinelSearchTests {
  private typealias Place = RedisAddress.Place

  private func place(_ host: String, _ port: UInt16 = 26_379) -> Place { Place(HostName(host), port: port) }

  private func search(_ hosts: String) throws -> SentinelSearch {
    SentinelSearch(try #require(try RedisAddress(parsing: "redis+sentinel://\(hosts)/mymaster").sentinels))
  }

  private func answer(_ words: String...) -> RESPValue { .list(words.map { .text(Array($0.utf8)) }) }

  @Test func `the first sentinel that answers decides, and is asked first the next time`() throws {
    var search = try search("a,b,c")
    #expect(search.question == ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster"])
    #expect(search.begin() == .ask(place("a")))
    #expect(search.take(.refusedConnection) == .ask(place("b")))
    #expect(search.take(.null) == .ask(place("c")), "a sentinel that does not know the primary yet")
    #expect(search.take(answer("10.0.0.1", "6380")) == .found(place("10.0.0.1", 6_380)))
    search.prove()
    #expect(search.begin() == .ask(place("c")))
    #expect(search.take(.timeout) == .ask(place("a")))
    #expect(search.take(answer("::1", "6379")) == .found(place("::1", 6_379)))
    _ = search.begin()
    #expect(search.take(answer("[::1]", "6379")) == .found(place("::1", 6_379)))
  }

  @Test func `a sentinel whose primary cannot be used is asked last the next time`() throws {
    var search = try search("a,b,c")
    #expect(search.begin() == .ask(place("a")))
    #expect(search.take(answer("10.0.0.1", "6379")) == .found(place("10.0.0.1", 6_379)))
    #expect(search.begin() == .ask(place("b")))
    #expect(search.take(.timeout) == .ask(place("c")))
    #expect(search.take(.timeout) == .ask(place("a")), "the other sentinels have failed")
    #expect(search.take(answer("10.0.0.1", "6379")) == .found(place("10.0.0.1", 6_379)))
    #expect(search.begin() == .ask(place("b")))
  }

  @Test func `if no sentinel answers, the failure of the first is the reason`() throws {
    var search = try search("a,b")
    _ = search.begin()
    #expect(search.take(.error("NOAUTH Authentication required.")) == .ask(place("b")))
    #expect(search.take(.unknownHost) == .failed(.sentinel(place("a"), .passwordNeeded)))
    #expect(search.begin() == .ask(place("a")))
    #expect(search.take(.error("ERR unknown command 'SENTINEL'")) == .ask(place("b")))
    #expect(search.take(.null) == .failed(.sentinel(place("a"), .notSentinel)))
    _ = search.begin()
    #expect(search.take(.null) == .ask(place("b")))
    #expect(search.take(.null) == .failed(.sentinel(place("a"), .unknownPrimary("mymaster"))))
  }

  @Test(arguments: [["h"], ["h", "0"], ["h", "65536"], ["h", "x"], ["", "1"], ["h", "1", "2"]])
  func `an answer that is no address is none`(words: [String]) throws {
    var search = try search("a")
    _ = search.begin()
    let reply = RESPValue.list(words.map { .text(Array($0.utf8)) })
    #expect(search.take(reply) == .failed(.sentinel(place("a"), .notRedis)))
  }
}
