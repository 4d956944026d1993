import RTCCluster
import RTCSignaling
import Testing

/// The address of `--cluster`.
@Suite struct RedisAddressTests {
  @Test func `all parts of an address are read`() throws {
    let whole = try RedisAddress(parsing: "rediss://hubs:p%40ss:w@redis.example:7000/3")
    #expect(whole.isSecure && whole.place.description == "redis.example:7000" && whole.database == 3)
    #expect(whole.user == "hubs" && whole.password == "p@ss:w")
    #expect(!whole.description.contains("ss:w") && whole.description.contains("hubs@redis.example:7000/3"))
    let short = try RedisAddress(parsing: "redis://[::1]")
    #expect(!short.isSecure && short.place.description == "[::1]:6379" && short.user == nil)
    #expect(try RedisAddress(parsing: "redis://:secret@h").password == "secret")
    #expect(try RedisAddress(parsing: "redis://u@h").password == nil)
  }

  @Test func `nodes of a Redis Cluster are named in several ways`() {
    let asked = RedisAddress.Place(HostName("redis.example"), port: 6_379)
    func place(_ text: String) -> String? { RedisAddress.Place(node: text, asking: asked)?.description }
    #expect(place("10.0.0.1:7000") == "10.0.0.1:7000" && place("node.example:7000") == "node.example:7000")
    #expect(place("::1:7000") == "[::1]:7000" && place("[::1]:7000") == "[::1]:7000")
    #expect(place(":7000") == "redis.example:7000")
    for text in ["", "h", "h:", "h:0", "h:65536", "h x:1"] { #expect(place(text) == nil, "\(text)") }
  }

  @Test func `an address of sentinels has several hosts and the name of the primary`() throws {
    let address = try RedisAddress(parsing: "rediss+sentinel://hubs:word@s1,[::1]:26000,s3:/my%20master/2")
    #expect(address.isSecure && address.user == "hubs" && address.password == "word" && address.database == 2)
    #expect(address.sentinels?.places.map(\.description) == ["s1:26379", "[::1]:26000", "s3:26379"])
    #expect(address.sentinels?.name == "my master" && address.place.description == "s1:26379")
    #expect(address.description == "rediss+sentinel://hubs@s1:26379,[::1]:26000,s3:26379/my%20master/2")
    let found = address.at(RedisAddress.Place(HostName("10.0.0.1"), port: 7_000))
    #expect(found.place.description == "10.0.0.1:7000" && found.password == "word" && found.database == 2)
  }

  @Test(arguments: [
    ("redis+sentinel://h", "does not name the primary"), ("redis+sentinel://h//0", "does not name the primary"),
    ("redis+sentinel://h,/m", "names no host"), ("redis+sentinel://h,i:0/m", "port"),
    ("redis+sentinel://h/m/x", "part after the name"),
    ("redis.example", "it does not begin"), ("http://h", "begins with http"), ("redis://", "names no host"),
    ("redis://h:0", "port"), ("redis://h:65536", "port"), ("redis://h/x", "database"), ("redis://h/-1", "database"),
    ("redis://u:%zz@h", "percent"), ("redis://h?x", "query"), ("redis://a b", "blank"),
  ]) func `an address that cannot be used is refused with the reason`(text: String, reason: String) {
    let problem = #expect(throws: RedisAddress.Problem.self) { try RedisAddress(parsing: text) }
    #expect(problem?.text.contains(reason) == true, "\(problem?.text ?? "")")
  }
}
