import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCTestKit
import Testing

/// A track with three rungs: the third is an element of the list, and nothing else.
@Suite struct ThirdRungTests {
  private static let (best, middle, least) = (Rendition(0), Rendition(1), Rendition(2))
  private let now = Timestamp.zero + .seconds(Int64(100))
  private var router = RenditionRouter<String>(
    renditions: [best, middle, least].map { RenditionFormat($0, .vp8) }, rungs: Rungs([best, middle, least]))

  /// A viewer with this bandwidth comes.
  /// - Returns: the rendition that is asked for its first key frame.
  private mutating func join(_ viewer: String, _ megabits: Int64) -> Rendition? {
    router.add(viewer, formats: [.vp8], understandsColorSpace: true, bitrate: .megabitsPerSecond(megabits))
    return router.keyFrameNeeded(by: viewer, .begin, now: now)
  }

  /// - Returns: the viewers that receive it.
  private mutating func sendKeyFrame(_ rendition: Rendition) -> [String] {
    var source = SyntheticVideo(frameSize: 4_000, keyFrameSize: 4_000)
    (source.needsKeyFrame, source.rendition) = (true, rendition)
    var receivers: [String] = []
    _ = router.route(source.next(now), now: now, into: &receivers)
    return receivers
  }

  @Test mutating func `a viewer that would slow down the second rung gets the third`() {
    #expect(join("fast", 10) == Self.best && sendKeyFrame(Self.best) == ["fast"])
    #expect(join("fair", 5) == Self.middle && sendKeyFrame(Self.middle) == ["fair"])
    #expect(join("slow", 1) == Self.least && sendKeyFrame(Self.least) == ["slow"])
    #expect(join("other", 4) == Self.middle)
    #expect(["fast", "fair", "slow"].map { router.rung(of: $0)?.number } == [0, 1, 2])
    let demand = router.demand(now: now)
    #expect(demand.renditions == [Self.best, Self.middle, Self.least])
    #expect(demand.bitrates[Self.middle] == .megabitsPerSecond(4))
    #expect(demand.bitrates[Self.least] == .megabitsPerSecond(1))
  }

  @Test mutating func `the first side rung with viewers replaces a main rung without`() {
    _ = (join("fast", 10), sendKeyFrame(Self.best))
    _ = (join("fair", 5), sendKeyFrame(Self.middle))
    _ = (join("slow", 1), sendKeyFrame(Self.least))
    router.remove("fast")
    #expect(router.demand(now: now).rungs?.all == [Self.middle, Self.best, Self.least])
    #expect(router.rung(of: "fair")?.number == 0 && router.rung(of: "slow")?.number == 2)
    router.remove("fair")
    #expect(router.demand(now: now).rungs?.all == [Self.least, Self.best, Self.middle])
  }
}
