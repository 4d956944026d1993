import RTCSignaling
import Synchronization
import Testing

/// The streams of a hub that shares their names with others.
@Suite struct SharedStreamTests {
  private final class Others: SharedStreams {
    struct State {
      var answer = PresenceAnswer.granted
      var claims: [String] = []
      var releases: [String] = []
      var report: (@Sendable ([String: String]) -> Void)?
    }
    let state = Mutex(State())

    func claim(stream: String) async -> PresenceAnswer {
      state.withLock {
        $0.claims.append(stream)
        return $0.answer
      }
    }
    func release(stream: String) { state.withLock { $0.releases.append(stream) } }
    func followStreams(_ report: @escaping @Sendable ([String: String]) -> Void) {
      state.withLock { $0.report = report }
    }

    func report(_ streams: [String: String]) { state.withLock { $0.report }?(streams) }
  }

  private let others = Others()
  private let directory = StreamDirectory()

  init() { directory.share(by: others) }

  @Test func `a stream is added if no hub has its name`() async throws {
    try await directory.publish(StreamDirectory(), as: "desk")
    #expect(directory.names == ["desk"])
    await #expect(throws: WHEPRefusal.streamTaken("desk")) {
      try await directory.publish(StreamDirectory(), as: "desk")
    }
    #expect(others.state.withLock { $0.claims } == ["desk"], "this hub has it")
    directory.remove("desk")
    directory.remove("desk")
    #expect(others.state.withLock { $0.releases } == ["desk"])
    for (answer, refusal) in [
      (PresenceAnswer.taken, WHEPRefusal.streamTaken("desk")), (.unavailable, .clusterUnavailable),
    ] {
      others.state.withLock { $0.answer = answer }
      await #expect(throws: refusal) { try await directory.publish(StreamDirectory(), as: "desk") }
      #expect(directory.names.isEmpty)
    }
    #expect(WHEPRefusal.clusterUnavailable.status == 503 && WHEPRefusal.clusterUnavailable.retryAfter != nil)
  }

  @Test func `streams of other hubs are listed and found`() async throws {
    others.report(["desk": "https://hub2.example/"])
    #expect(directory.place(of: "desk") == StreamPlace(name: "desk", address: "https://hub2.example/"))
    #expect(directory.place(of: nil)?.name == "desk" && directory.place(of: "other") == nil)
    #expect(await directory.listing().map(\.address) == ["https://hub2.example/"])
    directory.add(StreamDirectory(), as: "here")
    #expect(directory.place(of: nil) == nil, "there are two")
    await #expect(throws: WHEPRefusal.streamNotNamed(["desk", "here"])) {
      try await directory.open(stream: nil, offer: "", remote: "")
    }
    // After a partition, a name may be at two hubs.
    directory.add(StreamDirectory(), as: "desk")
    #expect(directory.place(of: "desk") == nil)
    #expect(await directory.listing().map(\.address) == [nil, nil])
    others.report([:])
    directory.remove("desk")
    #expect(directory.place(of: "desk") == nil)
  }

  @Test func `clients are redirected, and pages are told the place`() {
    let place = StreamPlace(name: "a desk/ä", address: "https://hub2.example/cast/")
    let reply = HTTPReply.elsewhere(place, path: "whep/")
    #expect(reply.status == 307 && reply.first("Location") == "https://hub2.example/cast/whep/a%20desk%2F%C3%A4")
    #expect(reply.first("RTCast-Cluster") == "1")
    #expect(HTTPReply.elsewhere(place, path: "whep/", isPage: true).status == 300, "fetch follows no 300")
    let same = HTTPReply.elsewhere(StreamPlace(name: "desk", address: ""), path: "whep/")
    #expect(same.status == 503 && same.first("Location") == nil)
    #expect(String(decoding: same.body, as: UTF8.self).contains("--cluster-address"))
  }
}
