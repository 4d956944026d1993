import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCTestKit
import Testing

/// The viewers of two rungs, and the bitrate of each rung: one rule a test.
@Suite struct RungTests {
  private static let main = Rendition.encoded
  private static let side = Rendition(1)

  /// Two rungs, their viewers and a clock.
  private struct Bench {
    var router = RenditionRouter<String>(
      renditions: [RenditionFormat(main, .vp8), RenditionFormat(side, .vp8)], rungs: Rungs([main, side]))
    var now = Timestamp.zero + .seconds(Int64(100))

    mutating func demand() -> RenditionDemand { router.demand(now: now) }

    /// The main rung is to make a key frame where it costs little.
    mutating func awaits() -> Bool { demand().awaitsHandover }

    /// A viewer comes, and asks for its first key frame. Returns what is asked for.
    mutating func join(_ viewer: String, _ bitrate: BitRate? = nil) -> Rendition? {
      router.add(viewer, formats: [.vp8], understandsColorSpace: true)
      if let bitrate { router.setBitrate(bitrate, of: viewer) }
      return need(viewer, .begin)
    }

    mutating func need(_ viewer: String, _ reason: KeyFrameReason) -> Rendition? {
      defer { _ = demand() }
      return router.keyFrameNeeded(by: viewer, reason, now: now)
    }

    mutating func bear(_ bitrate: BitRate, _ viewers: String...) {
      for viewer in viewers { router.setBitrate(bitrate, of: viewer) }
      _ = demand()
    }

    mutating func send(_ rendition: Rendition, key: Bool = false, bytes: Int = 4_000) -> Set<String> {
      var source = SyntheticVideo(frameSize: bytes, keyFrameSize: max(32, bytes))
      source.needsKeyFrame = key
      source.rendition = rendition
      var receivers: [String] = []
      _ = router.route(source.next(now), now: now, into: &receivers)
      _ = demand()
      return Set(receivers)
    }

    /// 25 frames a second of the main rung at this rate.
    mutating func run(_ length: TimeDelta, at rate: BitRate) {
      let end = now + length
      while now < end {
        _ = send(RungTests.main, bytes: max(16, rate.bytes(in: .milliseconds(40))))
        now += .milliseconds(40)
      }
    }

    /// For whom the key frames that were put off are asked for now.
    mutating func dueRequests() -> [String] { router.takeDueRequests().map(\.viewer) }

    func rung(_ viewer: String) -> RungReason? { router.rung(of: viewer)?.reason }
    func isOnSide(_ viewer: String) -> Bool { router.rung(of: viewer)?.number == 1 }
  }

  /// `first` is on the main rung, the others are on the side rung.
  private func bench(_ first: String, _ others: String..., bearing rate: BitRate = .megabitsPerSecond(4)) -> Bench {
    var bench = Bench()
    _ = bench.join(first, rate)
    _ = bench.send(Self.main, key: true)
    for viewer in others { _ = bench.join(viewer, rate) }
    _ = bench.send(Self.side, key: true)
    return bench
  }

  // MARK: - Alone

  @Test func `a viewer alone is on the main rung, and nothing is made twice for it`() {
    var bench = Bench()
    #expect(bench.join("a") == Self.main)
    #expect(bench.demand().renditions == [Self.main] && bench.rung("a") == .main)
    #expect(bench.send(Self.main, key: true) == ["a"])
    for reason in [KeyFrameReason.request, .loss, .backlog] { #expect(bench.need("a", reason) == Self.main) }
    #expect(bench.demand().renditions == [Self.main])
  }

  @Test func `who comes before the first key frame shares it`() {
    var bench = Bench()
    #expect(bench.join("a") == Self.main && bench.join("b") == Self.main)
    #expect(bench.send(Self.main) == [], "nothing can be decoded yet")
    #expect(bench.send(Self.main, key: true) == ["a", "b"])
  }

  // MARK: - Joining

  @Test func `who joins others is served by the side rung and goes over at the main rung's key frame`() {
    var bench = bench("a")
    #expect(bench.join("b", .megabitsPerSecond(4)) == Self.side)
    #expect(bench.demand().renditions == [Self.main, Self.side] && !bench.awaits())
    #expect(bench.send(Self.main) == ["a"] && bench.send(Self.side) == [])
    #expect(bench.send(Self.side, key: true) == ["b"] && bench.rung("b") == .joined)
    #expect(bench.awaits() == true)
    #expect(bench.send(Self.main) == ["a"] && bench.send(Self.side) == ["b"])
    #expect(bench.send(Self.main, key: true) == ["a", "b"] && bench.rung("b") == .main)
    #expect(bench.send(Self.side, key: true) == [])
    #expect(bench.demand().renditions == [Self.main] && !bench.awaits())
    #expect(bench.router.counts.handovers == 1)
  }

  @Test func `a main key frame that comes first serves who joins`() {
    var bench = bench("a")
    _ = bench.join("b", .megabitsPerSecond(4))
    #expect(bench.send(Self.main, key: true) == ["a", "b"] && bench.rung("b") == .main)
    #expect(bench.demand().renditions == [Self.main])
  }

  @Test func `who bears much less than the main rung is not handed over to it`() {
    var bench = bench("a", "b")
    bench.bear(.megabitsPerSecond(2), "b")
    #expect(!bench.awaits() && bench.send(Self.main, key: true) == ["a"])
    bench.bear(.kilobitsPerSecond(2_500), "b")
    #expect(bench.awaits() && bench.send(Self.main, key: true) == ["a", "b"])
  }

  // MARK: - Leaving

  @Test func `when the last leaves the main rung the side rung is the main rung, without a key frame`() {
    var bench = bench("a", "b", "c")
    bench.router.remove("a")
    #expect(bench.rung("b") == .main && bench.rung("c") == .main)
    #expect(bench.demand().renditions == [Self.side] && bench.demand().rungs?.main == Self.side)
    #expect(bench.send(Self.side) == ["b", "c"])
    // Whoever comes now is served beside them.
    #expect(bench.join("d") == Self.main && bench.isOnSide("d"))
    #expect(bench.send(Self.main, key: true) == ["d"])
  }

  @Test func `a silent viewer keeps nobody from the main rung`() {
    var bench = bench("a", "b")
    bench.router.setReachable(false, "a")
    #expect(bench.rung("b") == .main && bench.demand().renditions == [Self.side])
    bench.router.setReachable(true, "a")
    #expect(bench.isOnSide("a"))
  }

  @Test func `what is recorded stays the main rung`() {
    var bench = bench("a", "b")
    bench.router.swapsRungs = false
    bench.router.remove("a")
    #expect(bench.isOnSide("b") && bench.demand().rungs?.main == Self.main && bench.awaits())
    #expect(bench.join("c") == Self.main, "nobody is harmed by its key frames")
    #expect(bench.send(Self.main, key: true) == ["b", "c"])
  }

  // MARK: - Key frames

  @Test(arguments: [(KeyFrameReason.request, RungReason.request), (.loss, .loss), (.backlog, .backlog)])
  func `who needs a key frame among others goes to the side rung`(reason: KeyFrameReason, rung: RungReason) {
    var bench = bench("a")
    _ = bench.join("b", .megabitsPerSecond(4))
    _ = bench.send(Self.main, key: true)
    #expect(bench.need("b", reason) == Self.side && bench.rung("b") == rung)
    #expect(bench.send(Self.main) == ["a", "b"], "until the key frame comes")
    #expect(bench.send(Self.side, key: true) == ["b"])
    #expect(bench.send(Self.main) == ["a"])
    #expect(bench.router.counts.moves == [rung: 1] && bench.router.counts.keyFrameRequests[reason] == 1)
  }

  @Test func `who was moved off stays away for five seconds, and twice as long after each return that fails`() {
    var bench = bench("a", "b")
    _ = bench.send(Self.main, key: true)
    for hold in [5, 10, 20, 40, 80, 120, 120] {
      _ = bench.need("b", .request)
      _ = bench.send(Self.side, key: true)
      let before = bench.now
      #expect(bench.router.nextDeadline(now: bench.now) == before + .seconds(Int64(hold)))
      bench.now += .seconds(Int64(hold)) - .milliseconds(1)
      #expect(!bench.awaits() && bench.send(Self.main, key: true) == ["a"])
      bench.now += .milliseconds(1)
      #expect(bench.awaits() && bench.send(Self.main, key: true) == ["a", "b"])
      bench.now += .seconds(Int64(10))
    }
    // A return that lasts begins anew.
    bench.now += .seconds(Int64(60))
    _ = bench.need("b", .request)
    _ = bench.send(Self.side, key: true)
    bench.now += .seconds(Int64(5))
    #expect(bench.awaits() == true)
  }

  @Test func `requests on a shared side rung are a second apart, and none is forgotten`() {
    var bench = bench("a", "b", "c")
    bench.now += .milliseconds(500)
    #expect(bench.need("b", .request) == nil, "one came just now")
    let due = bench.now + .milliseconds(500)
    #expect(bench.router.nextDeadline(now: bench.now) == due)
    bench.now = due
    bench.router.deadlineReached(bench.now)
    #expect(bench.dueRequests() == ["b"] && bench.dueRequests().isEmpty)
    bench.now += .milliseconds(300)
    #expect(bench.need("c", .request) == nil)
    // What somebody else asked for serves it.
    _ = bench.send(Self.side, key: true)
    #expect(bench.router.nextDeadline(now: bench.now) == .distantFuture)
  }

  @Test func `a first picture waits for nobody`() {
    var bench = bench("a", "b")
    #expect(bench.need("b", .request) == Self.side)
    #expect(bench.join("c") == Self.side)
  }

  @Test func `alone on the side rung nobody is spared`() {
    var bench = bench("a", "b")
    for _ in 0..<3 { #expect(bench.need("b", .request) == Self.side) }
  }

  // MARK: - Key frames without end

  /// How often each rendition is asked for a key frame, and makes one at once, while `viewer` asks every 20 ms.
  private func storm(_ bench: inout Bench, by viewer: String, for length: TimeDelta) -> [Rendition: Int] {
    var asked: [Rendition: Int] = [:]
    let end = bench.now + length
    while bench.now < end {
      var wanted: [Rendition] = []
      if bench.router.nextDeadline(now: bench.now) <= bench.now {
        bench.router.deadlineReached(bench.now)
        wanted += bench.router.takeDueRequests().map(\.rendition)
      }
      if let rendition = bench.need(viewer, .request) { wanted.append(rendition) }
      for rendition in wanted {
        asked[rendition, default: 0] += 1
        _ = bench.send(rendition, key: true)
      }
      if bench.demand().awaitsHandover { asked[Self.main, default: 0] += 1 }
      bench.now += .milliseconds(20)
    }
    return asked
  }

  @Test func `who asks every 20 ms costs those it shares a rung with two key frames a minute`() {
    var bench = bench("a", "b", "storm")
    bench.bear(.megabitsPerSecond(1), "b", "storm")
    let asked = storm(&bench, by: "storm", for: .seconds(300))
    #expect(asked[Self.main] == nil)
    #expect((1...11).contains(asked[Self.side] ?? 0), "\(asked)")
  }

  @Test func `who asks every 20 ms alone has one key frame in two seconds made`() {
    var bench = bench("a", "storm")
    bench.bear(.megabitsPerSecond(1), "storm")
    let asked = storm(&bench, by: "storm", for: .seconds(60))
    #expect(asked[Self.main] == nil)
    #expect((1...35).contains(asked[Self.side] ?? 0), "\(asked)")
  }

  @Test func `without rungs others are spared likewise, and first pictures are not`() {
    var bench = Bench()
    bench.router = RenditionRouter()
    _ = bench.join("a")
    _ = bench.join("storm")
    _ = bench.send(Self.main, key: true)
    let asked = storm(&bench, by: "storm", for: .seconds(120))
    #expect((1...5).contains(asked[Self.main] ?? 0), "\(asked)")
    #expect(bench.join("b") == Self.main)
  }

  @Test func `who begins again and again has few first pictures made`() {
    var bench = bench("a", "b")
    var asked = 0
    for _ in 0..<3_000 {
      if bench.need("b", .begin) != nil { asked += 1 }
      bench.now += .milliseconds(20)
    }
    #expect(asked <= 16)
  }

  @Test func `who says that its network bears much costs those who bear less nothing`() {
    var bench = bench("a", "b")
    bench.bear(.megabitsPerSecond(2), "a", "b")
    bench.bear(.megabitsPerSecond(1_000), "liar")
    _ = bench.join("liar", .megabitsPerSecond(1_000))
    _ = bench.send(Self.main, key: true)
    bench.run(.seconds(20), at: .megabitsPerSecond(3))
    // The main rung is made for the liar; the others have the side rung, at what they bear.
    #expect(bench.demand().bitrates[Self.side] == .megabitsPerSecond(2) || bench.isOnSide("liar"))
  }

  // MARK: - Slow

  @Test func `who bears too little for what is shown is moved off after a second`() {
    var bench = bench("a", "b")
    _ = bench.send(Self.main, key: true, bytes: 100)
    bench.bear(.kilobitsPerSecond(300), "b")
    bench.run(.milliseconds(900), at: .megabitsPerSecond(4))
    #expect(bench.rung("b") == .main)
    bench.run(.milliseconds(400), at: .megabitsPerSecond(4))
    #expect(bench.rung("b") == .slow && bench.router.takeKeyFrameRequest() == Self.side)
    // A key frame of the main rung does not keep it there.
    #expect(bench.send(Self.main, key: true) == ["a", "b"])
    #expect(bench.send(Self.side, key: true) == ["b"] && bench.send(Self.main) == ["a"])
  }

  @Test func `what needs little moves nobody off`() {
    var bench = bench("a", "b")
    _ = bench.send(Self.main, key: true, bytes: 100)
    bench.bear(.kilobitsPerSecond(300), "b")
    bench.run(.seconds(Int64(10)), at: .kilobitsPerSecond(200))
    #expect(bench.rung("b") == .main)
  }

  @Test func `who bears nearly as much as the best is not slow`() {
    var bench = bench("a", "b")
    _ = bench.send(Self.main, key: true, bytes: 100)
    bench.bear(.kilobitsPerSecond(2_500), "b")
    bench.run(.seconds(Int64(10)), at: .megabitsPerSecond(4))
    #expect(bench.rung("b") == .main)
  }

  @Test func `who was slow returns when it has borne the main rung for five seconds`() {
    var bench = bench("a", "b")
    _ = bench.send(Self.main, key: true, bytes: 100)
    bench.bear(.kilobitsPerSecond(300), "b")
    bench.run(.milliseconds(1_400), at: .megabitsPerSecond(4))
    _ = bench.send(Self.side, key: true)
    bench.now += .seconds(Int64(20))
    bench.bear(.kilobitsPerSecond(3_500), "b")
    bench.now += .seconds(Int64(10))
    #expect(bench.awaits() == false, "less than 0.9 of the main rung's rate")
    bench.bear(.kilobitsPerSecond(3_600), "b")
    let able = bench.now
    #expect(!bench.awaits() && bench.router.nextDeadline(now: able) == able + .seconds(Int64(5)))
    bench.now = able + .seconds(Int64(5))
    #expect(bench.awaits() && bench.send(Self.main, key: true) == ["a", "b"])
  }

  // MARK: - Rates

  @Test func `the main rung is made with the smallest rate near the best`() {
    var bench = Bench()
    for (viewer, rate) in [("a", 6_000), ("b", 4_000), ("c", 300)] {
      _ = bench.join(viewer, .kilobitsPerSecond(Int64(rate)))
    }
    #expect(bench.demand().bitrates == [Self.main: .kilobitsPerSecond(4_000)])
    bench.router.remove("b")
    #expect(bench.demand().bitrates == [Self.main: .kilobitsPerSecond(6_000)], "who is slow pulls nobody down")
  }

  @Test func `the side rung is made with its smallest rate, and what only waits is not held back`() {
    var bench = bench("a", "b", "c")
    #expect(bench.demand().bitrates[Self.side] == .megabitsPerSecond(4))
    bench.bear(.kilobitsPerSecond(700), "c")
    #expect(bench.demand().bitrates[Self.side] == .kilobitsPerSecond(700))
    #expect(bench.demand().bitrates[Self.main] == .megabitsPerSecond(4))
  }

  @Test func `with somebody who was moved off the side rung takes half of the main rung's rate at most`() {
    var bench = bench("a", "b")
    _ = bench.send(Self.main, key: true)
    _ = bench.need("b", .loss)
    #expect(bench.demand().bitrates[Self.side] == .megabitsPerSecond(2))
  }

  @Test func `changes of less than five per cent are not told`() {
    var bench = bench("a")
    for (rate, told) in [(3_850, 4_000), (3_810, 4_000), (3_790, 3_790), (3_900, 3_790)] {
      bench.bear(.kilobitsPerSecond(Int64(rate)), "a")
      #expect(bench.demand().bitrates[Self.main] == .kilobitsPerSecond(Int64(told)))
    }
  }

  // MARK: - A file's own frames

  @Test func `where a file's frames are passed on there are no rungs`() {
    var bench = bench("a", "b")
    let file = Rendition(2)
    let h264 = VideoPayloadFormat(codec: .h264)
    let asked = bench.router.setRenditions(
      [RenditionFormat(file, h264), RenditionFormat(Self.main, .vp8)], preferred: file)
    #expect(asked == [Self.main] && bench.rung("b") == nil)
    #expect(bench.send(Self.main, key: true) == ["a", "b"])
    #expect(bench.need("b", .request) == Self.main && bench.demand().rungs?.main == nil)
  }
}
