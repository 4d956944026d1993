import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCTestKit
import Testing

/// A main rung that not everybody can decode, and a side rung that everybody can.
@Suite struct UnlikeRungTests {
  private static let main = Rendition.encoded
  private static let side = Rendition(1)
  private static let sharp = VideoPayloadFormat(codec: .vp9, chroma: .full)
  /// The formats of a browser that decodes 4:4:4, and of one that does not.
  private static let all = [sharp, VideoPayloadFormat(codec: .vp9, chroma: .quarter), .vp8]
  private static let plain = [VideoPayloadFormat(codec: .vp9, chroma: .quarter), .vp8]

  private struct Bench {
    var router = RenditionRouter<String>(
      renditions: [RenditionFormat(main, sharp), RenditionFormat(side, .vp8)], rungs: Rungs([main, side]))
    var now = Timestamp.zero + .seconds(Int64(100))

    mutating func join(_ viewer: String, _ formats: [VideoPayloadFormat]) -> Rendition? {
      router.add(viewer, formats: formats, understandsColorSpace: true)
      router.setBitrate(.megabitsPerSecond(2), of: viewer)
      return need(viewer, .begin)
    }

    mutating func need(_ viewer: String, _ reason: KeyFrameReason = .request) -> Rendition? {
      router.keyFrameNeeded(by: viewer, reason, now: now)
    }

    mutating func send(_ rendition: Rendition, key: Bool = false) -> Set<String> {
      var source = SyntheticVideo()
      source.needsKeyFrame = key
      source.rendition = rendition
      var receivers: [String] = []
      _ = router.route(source.next(now), now: now, into: &receivers)
      _ = router.demand(now: now)
      return Set(receivers)
    }

    mutating func demand() -> RenditionDemand { router.demand(now: now) }
  }

  @Test func `who cannot decode the main rung is on the side rung from the start and stays there`() {
    var bench = Bench()
    #expect(bench.join("plain", Self.plain) == Self.side)
    #expect(bench.send(Self.side, key: true) == ["plain"])
    #expect(bench.demand().renditions == [Self.side] && bench.demand().unservedViewers == 0)
    #expect(bench.router.rung(of: "plain")?.reason == .codec)
    bench.now += .seconds(Int64(60))
    #expect(bench.send(Self.main, key: true) == [] && !bench.demand().awaitsHandover)
    #expect(bench.need("plain") == Self.side)
  }

  @Test func `who can decode both comes to the main rung at once, beside one who cannot`() {
    var bench = Bench()
    _ = bench.join("plain", Self.plain)
    _ = bench.send(Self.side, key: true)
    #expect(bench.join("sharp", Self.all) == Self.main)
    #expect(bench.send(Self.main, key: true) == ["sharp"] && bench.send(Self.side) == ["plain"])
    #expect(bench.demand().renditions == [Self.main, Self.side])
  }

  @Test func `the rungs do not change places when the main rung is deserted`() {
    var bench = Bench()
    _ = bench.join("sharp", Self.all)
    _ = bench.send(Self.main, key: true)
    _ = bench.join("plain", Self.plain)
    _ = bench.send(Self.side, key: true)
    bench.router.remove("sharp")
    #expect(bench.demand().rungs?.main == Self.main && bench.demand().renditions == [Self.side])
    #expect(bench.router.takeKeyFrameRequest() == nil)
    #expect(bench.join("late", Self.all) == Self.main)
  }

  @Test func `who waits on the side rung comes to a deserted main rung by a key frame made for it`() {
    var bench = Bench()
    _ = bench.join("first", Self.all)
    _ = bench.send(Self.main, key: true)
    #expect(bench.join("second", Self.all) == Self.side)
    #expect(bench.send(Self.side, key: true) == ["second"])
    #expect(bench.router.rung(of: "second")?.reason == .joined)
    bench.router.remove("first")
    #expect(bench.router.takeKeyFrameRequest() == Self.main)
    #expect(bench.send(Self.side) == ["second"], "until then it has a picture")
    #expect(bench.send(Self.main, key: true) == ["second"] && bench.send(Self.side) == [])
    #expect(bench.demand().renditions == [Self.main])
  }

  @Test func `who joins others on the main rung goes over at its next key frame, if it can decode that`() {
    var bench = Bench()
    _ = bench.join("first", Self.all)
    _ = bench.send(Self.main, key: true)
    _ = bench.join("second", Self.all)
    _ = bench.join("plain", Self.plain)
    #expect(bench.send(Self.side, key: true) == ["second", "plain"])
    bench.now += .seconds(Int64(10))
    #expect(bench.demand().awaitsHandover)
    #expect(bench.send(Self.main, key: true) == ["first", "second"])
    #expect(bench.send(Self.side) == ["plain"] && !bench.demand().awaitsHandover)
  }

  @Test func `how many can take what might be made is told of those who are heard of`() {
    let plain = VideoPayloadFormat(codec: .vp9, chroma: .quarter)
    var router = RenditionRouter<String>(
      renditions: [RenditionFormat(Self.main, Self.sharp), RenditionFormat(Self.side, .vp8)],
      rungs: Rungs([Self.main, Self.side]),
      candidates: [Self.sharp, plain, VideoPayloadFormat(codec: .av1, chroma: .full)])
    let now = Timestamp.zero
    #expect(router.demand(now: now).takers == [0, 0, 0] && router.demand(now: now).viewers == 0)
    router.add("sharp", formats: Self.all, understandsColorSpace: true)
    router.add("plain", formats: Self.plain, understandsColorSpace: true)
    #expect(router.demand(now: now).takers == [1, 2, 0] && router.demand(now: now).viewers == 2)
    router.setReachable(false, "sharp")
    #expect(router.demand(now: now).takers == [0, 1, 0] && router.demand(now: now).viewers == 1)
    router.remove("plain")
    #expect(router.demand(now: now).takers == [0, 0, 0])
  }

  @Test func `when the main rung becomes another format, who takes it stays and who does not goes to the side rung`() {
    var bench = Bench()
    _ = bench.join("sharp", Self.all)
    _ = bench.join("both", Self.all)
    _ = bench.send(Self.main, key: true)
    let other = VideoPayloadFormat(codec: .vp9, chroma: .quarter)
    bench.router.add("late", formats: [Self.sharp, .vp8], understandsColorSpace: true)
    _ = bench.need("late", .begin)
    _ = bench.send(Self.side, key: true)
    let asked = bench.router.setRenditions(
      [RenditionFormat(Self.main, other), RenditionFormat(Self.side, .vp8)], preferred: nil,
      rungs: Rungs([Self.main, Self.side]))
    #expect(asked.isEmpty)
    #expect(bench.send(Self.main, key: true) == ["sharp", "both"])
    #expect(bench.send(Self.side) == ["late"])
    #expect(bench.router.rung(of: "late")?.reason == .codec)
  }
}
