import RTCPrimitives
import RTCast
import Testing

@Suite struct CodecChooserTests {
  /// Full chroma, dear; a sample for four pixels, dear; the same, cheap.
  private static let sharp = 0
  private static let plain = 1
  private static let light = 2

  private static func situation(
    viewers: Int = 0, takers: [Int] = [0, 0, 0], megapixels: Double = 2, frameRate: Double = 5, full: Bool = true
  ) -> CodecChooser.Situation {
    var situation = CodecChooser.Situation()
    (situation.viewers, situation.takers) = (viewers, takers)
    (situation.megapixels, situation.frameRate, situation.wantsFullChroma) = (megapixels, frameRate, full)
    return situation
  }

  private static func chooser(_ expected: CodecChooser.Situation = situation()) -> CodecChooser {
    let candidates = [(true, 20), (false, 15), (false, 7)].map {
      CodecChooser.Candidate(isFullChroma: $0.0, cost: .milliseconds(Int64($0.1)))
    }
    return CodecChooser(candidates, processors: 2, situation: expected)
  }

  private let start = Timestamp.zero + .seconds(Int64(100))

  @Test func `before anybody has come the best that the machine encodes in time is chosen`() {
    #expect(Self.chooser().current == Self.sharp)
    // 40 ms a picture leave no time for 30 pictures a second.
    #expect(Self.chooser(Self.situation(frameRate: 30)).current == Self.light)
    // Nor is a picture to take longer than 90 ms, however few there are.
    #expect(Self.chooser(Self.situation(megapixels: 8)).current == Self.light)
    #expect(Self.chooser(Self.situation(full: false)).current == Self.plain)
  }

  @Test func `the first viewer is served at once with the best that it decodes`() {
    var chooser = Self.chooser()
    #expect(chooser.choose(Self.situation(viewers: 1, takers: [0, 0, 1]), now: start) == Self.light)
    #expect(chooser.deadline == nil)
  }

  @Test func `one of three who cannot decode it changes nothing, two of three do after five seconds`() {
    var chooser = Self.chooser()
    #expect(chooser.choose(Self.situation(viewers: 1, takers: [1, 1, 1]), now: start) == Self.sharp)
    #expect(chooser.choose(Self.situation(viewers: 3, takers: [2, 3, 3]), now: start) == Self.sharp)
    let most = Self.situation(viewers: 3, takers: [1, 3, 3])
    #expect(chooser.choose(most, now: start) == Self.sharp)
    #expect(chooser.deadline == start + .seconds(Int64(5)))
    #expect(chooser.choose(most, now: start + .milliseconds(4_990)) == Self.sharp)
    #expect(chooser.choose(most, now: start + .seconds(Int64(5))) == Self.plain)
    #expect(chooser.deadline == nil)
  }

  @Test func `who comes and goes costs others no key frame`() {
    var chooser = Self.chooser()
    let (able, mixed) = (Self.situation(viewers: 1, takers: [1, 1, 1]), Self.situation(viewers: 2, takers: [1, 2, 2]))
    _ = chooser.choose(able, now: start)
    for second in stride(from: Int64(1), to: 60, by: 4) {
      #expect(chooser.choose(mixed, now: start + .seconds(second)) == Self.sharp)
      #expect(chooser.choose(able, now: start + .seconds(second + 2)) == Self.sharp)
    }
  }

  @Test func `two changes are half a minute apart`() {
    var chooser = Self.chooser()
    _ = chooser.choose(Self.situation(viewers: 1, takers: [1, 1, 1]), now: start)
    let plain = Self.situation(viewers: 3, takers: [1, 3, 3])
    _ = chooser.choose(plain, now: start)
    let change = start + .seconds(Int64(5))
    #expect(chooser.choose(plain, now: change) == Self.plain)
    let sharp = Self.situation(viewers: 3, takers: [3, 3, 3])
    #expect(chooser.choose(sharp, now: change + .seconds(Int64(1))) == Self.plain)
    #expect(chooser.deadline == change + .seconds(Int64(30)))
    #expect(chooser.choose(sharp, now: change + .seconds(Int64(29))) == Self.plain)
    #expect(chooser.choose(sharp, now: change + .seconds(Int64(30))) == Self.sharp)
  }

  @Test func `what takes longer than was measured gives way`() {
    var chooser = Self.chooser()
    let situation = Self.situation(viewers: 1, takers: [1, 1, 1])
    #expect(chooser.choose(situation, now: start) == Self.sharp)
    for _ in 0..<30 { chooser.note(.milliseconds(150)) }
    _ = chooser.choose(situation, now: start + .seconds(Int64(1)))
    #expect(chooser.choose(situation, now: start + .seconds(Int64(6))) == Self.plain)
  }

  @Test func `pictures that are quick for lack of change say nothing`() {
    var chooser = Self.chooser(Self.situation(frameRate: 30))
    let situation = Self.situation(viewers: 1, takers: [1, 1, 1], frameRate: 30)
    for _ in 0..<300 { chooser.note(.microseconds(100)) }
    _ = chooser.choose(situation, now: start)
    #expect(chooser.choose(situation, now: start + .seconds(Int64(60))) == Self.light)
  }

  @Test func `where nothing is in time the cheapest is chosen, and where nobody decodes anything it stays`() {
    var chooser = Self.chooser(Self.situation(megapixels: 30))
    #expect(chooser.current == Self.light)
    #expect(chooser.choose(Self.situation(viewers: 2), now: start) == Self.light)
    #expect(chooser.choose(Self.situation(viewers: 2), now: start + .seconds(Int64(60))) == Self.light)
  }

  @Test func `where the rate is short colours give way, not letters`() {
    var chooser = Self.chooser()
    var situation = Self.situation(viewers: 1, takers: [1, 1, 1])
    situation.rate = .megabitsPerSecond(1)
    // What the network bears is not known yet.
    #expect(chooser.choose(situation, now: start) == Self.sharp)
    #expect(chooser.choose(situation, now: start + .seconds(Int64(1))) == Self.sharp)
    #expect(chooser.choose(situation, now: start + .seconds(Int64(6))) == Self.plain)
    // Not to and fro about the limit.
    situation.rate = .kilobitsPerSecond(1_700)
    #expect(chooser.choose(situation, now: start + .seconds(Int64(100))) == Self.plain)
    #expect(chooser.choose(situation, now: start + .seconds(Int64(200))) == Self.plain)
    situation.rate = .kilobitsPerSecond(1_900)
    _ = chooser.choose(situation, now: start + .seconds(Int64(201)))
    #expect(chooser.choose(situation, now: start + .seconds(Int64(206))) == Self.sharp)
    situation.rate = .kilobitsPerSecond(1_300)
    _ = chooser.choose(situation, now: start + .seconds(Int64(300)))
    #expect(chooser.choose(situation, now: start + .seconds(Int64(400))) == Self.sharp)
  }

  @Test func `a cast that may take little begins without full chroma`() {
    var situation = Self.situation()
    situation.highestRate = .megabitsPerSecond(1)
    #expect(Self.chooser(situation).current == Self.plain)
  }

  @Test func `counts of other candidates than there are do no harm`() {
    var chooser = Self.chooser()
    #expect(chooser.choose(Self.situation(viewers: 1, takers: [1]), now: start) == Self.sharp)
    #expect(chooser.choose(Self.situation(viewers: 1, takers: [0, 0, 0, 9]), now: start) == Self.sharp)
  }
}
