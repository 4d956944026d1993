import RTCMedia
import RTCPrimitives
import RTCast
import Testing

@Suite struct DegradationPolicyTests {
  /// Thirty pictures a second, of which every `nth` is coded.
  private struct Feed {
    var policy = DegradationPolicy()
    var now = Timestamp.zero

    mutating func run(_ hint: ContentHint, seconds: Int, nth: Int = 1, coarseness: Double) {
      for picture in 0..<seconds * 30 {
        policy.captured(hint, now: now)
        if picture % nth == 0 { policy.coded(coarseness: coarseness) }
        now += .microseconds(33_333)
      }
      policy.advance(hint, now: now)
    }
  }

  @Test func `detail tells the pictures that are left and keeps its size`() {
    var feed = Feed()
    feed.run(.detail, seconds: 8, nth: 6, coarseness: 0.95)
    #expect(feed.policy.decision == .init(scale: .full, frameRate: 5, isCoarse: true))
    feed.run(.detail, seconds: 8, coarseness: 0.3)
    #expect(!feed.policy.decision.isLimited)
    #expect(feed.policy.deadline == nil)
  }

  @Test func `one short second changes nothing`() {
    var feed = Feed()
    feed.run(.detail, seconds: 3, coarseness: 0.3)
    feed.run(.detail, seconds: 1, nth: 6, coarseness: 0.9)
    feed.run(.detail, seconds: 1, coarseness: 0.3)
    #expect(!feed.policy.decision.isLimited)
  }

  @Test func `motion goes down a size after three seconds and up again after ten`() {
    var feed = Feed()
    feed.run(.motion, seconds: 2, coarseness: 0.95)
    #expect(feed.policy.decision.scale == .full)
    feed.run(.motion, seconds: 2, coarseness: 0.95)
    #expect(feed.policy.decision.scale == .threeQuarters)
    feed.run(.motion, seconds: 3, coarseness: 0.95)
    #expect(feed.policy.decision.scale == .half)
    feed.run(.motion, seconds: 9, coarseness: 0.3)
    #expect(feed.policy.decision.scale == .half)
    feed.run(.motion, seconds: 2, coarseness: 0.3)
    #expect(feed.policy.decision.scale == .threeQuarters)
    // Enough, but with no room for more.
    feed.run(.motion, seconds: 30, coarseness: 0.6)
    #expect(feed.policy.decision.scale == .threeQuarters)
  }

  @Test func `a size that did not last is tried again later`() {
    var feed = Feed()
    feed.run(.motion, seconds: 4, coarseness: 0.95)
    feed.run(.motion, seconds: 11, coarseness: 0.3)
    #expect(feed.policy.decision.scale == .full)
    feed.run(.motion, seconds: 4, coarseness: 0.95)
    #expect(feed.policy.decision.scale == .threeQuarters)
    feed.run(.motion, seconds: 15, coarseness: 0.3)
    #expect(feed.policy.decision.scale == .threeQuarters)
    feed.run(.motion, seconds: 6, coarseness: 0.3)
    #expect(feed.policy.decision.scale == .full)
  }

  @Test func `at rest everything is sent again soon and the size waits for pictures to judge by`() {
    var feed = Feed()
    feed.run(.motion, seconds: 4, nth: 6, coarseness: 0.95)
    #expect(feed.policy.decision.frameRate == 5)
    feed.now += .seconds(Int64(20))
    feed.policy.advance(.motion, now: feed.now)
    #expect(feed.policy.decision == .init(scale: .threeQuarters, frameRate: nil, isCoarse: false))
  }

  @Test func `refinements are no pictures`() {
    var feed = Feed()
    for _ in 0..<4 {
      feed.run(.detail, seconds: 1, nth: 10, coarseness: 0.4)
      for _ in 0..<60 { feed.policy.coded(coarseness: 0.1) }
    }
    #expect(feed.policy.decision.frameRate != nil)
  }

  @Test func `sizes stay even`() {
    let size = PixelSize(width: 1366, height: 769)
    #expect(DegradationPolicy.Scale.threeQuarters.applied(to: size) == PixelSize(width: 1024, height: 576))
    #expect(DegradationPolicy.Scale.half.applied(to: size) == PixelSize(width: 682, height: 384))
    #expect(DegradationPolicy.Scale.full.applied(to: size) == size)
  }
}
