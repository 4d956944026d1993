import RTCCluster
import RTCSignaling
import Testing

/// The search for the node of a Redis Cluster that has the keys.
@Suite struct NodeSearchTests {
  private func place(_ host: String) -> RedisAddress.Place { RedisAddress.Place(HostName(host), port: 7_000) }

  @Test func `each attempt follows nodes anew, also after many attempts that came to nothing`() {
    var search = NodeSearch(place("a"))
    for _ in 0..<3 * NodeSearch.mostRedirections {
      _ = search.begin()
      #expect(search.follow("b:7000", from: place("a")) == place("b"))
    }
    _ = search.begin()
    for _ in 0..<NodeSearch.mostRedirections { #expect(search.follow("b:7000", from: place("a")) != nil) }
    #expect(search.follow("b:7000", from: place("a")) == nil, "nodes that name each other")
  }

  @Test func `all nodes that were named are tried, the last one first`() {
    var search = NodeSearch(place("a"))
    #expect(search.begin() == place("a") && search.begin() == place("a"))
    _ = search.follow("b:7000", from: place("a"))
    _ = search.follow("c:7000", from: place("b"))
    search.prove()
    #expect((0..<4).map { _ in search.begin() } == ["c", "b", "a", "c"].map(place))
    for host in 0..<100 {
      _ = search.begin()
      _ = search.follow("h\(host):7000", from: place("a"))
    }
    search.prove()
    let tried = (0..<100).map { _ in search.begin() }
    #expect(tried.first == place("h99") && tried.contains(place("a")) && Set(tried).count == NodeSearch.mostNodes)
  }
}
