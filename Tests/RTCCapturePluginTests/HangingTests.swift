import RTCCapturePlugin
import RTCMedia
import RTCPrimitives
import Testing

/// Plugins of this process that do not return. Each test lets them go at its end.
@Suite(.serialized) struct HangingTests {
  private let counts: BreakerCounts

  init() throws { counts = try BreakerCounts(try PluginWorkshop.breaker("HANGING")) }

  private func stage(_ how: String, _ patience: PluginPatience) throws -> Stage {
    counts.hangs = true
    return try Stage(try PluginWorkshop.breaker("HANGING"), [("do", how)], patience: patience)
  }

  @Test func `a start that does not return is given up and tried again once it has`() throws {
    let stage = try stage("hang-in-start", PluginPatience(start: .milliseconds(200)))
    defer { counts.hangs = false }
    let (starts, stops) = (counts.starts, counts.stops)
    stage.start(sound: true)
    #expect(stage.wait { $0.start != nil && $0.soundStart != nil })
    for start in [
      stage.onlooker.now.start.map { $0.map { _ in } }, stage.onlooker.now.soundStart.map { $0.map { _ in } },
    ] {
      guard case .failure(.unavailable(let sentence)) = start else {
        Issue.record("\(String(describing: start))"); return
      }
      #expect(sentence.contains("did not return from its `start` within 0.2 s"))
    }
    #expect(stage.wait { _ in counts.starts == starts + 1 })
    counts.hangs = false
    // What came back too late is ended; nothing that it pushed was taken.
    #expect(stage.wait { _ in counts.stops == stops + 1 })
    #expect(stage.onlooker.now.pictures.isEmpty)
    // On a busy machine more than one try may be given up.
    #expect(
      stage.wait { seen in
        if seen.pictures.isEmpty { stage.start() }
        return !seen.pictures.isEmpty
      })
    stage.stop()
    #expect(stage.wait { _ in counts.stops >= stops + 2 && counts.stops == counts.starts - starts + stops })
  }

  @Test func `stopping does not wait for a start that does not return`() throws {
    let stage = try stage("hang-in-start", PluginPatience(start: .seconds(3600), stop: .milliseconds(100)))
    defer { counts.hangs = false }
    let (starts, stops) = (counts.starts, counts.stops)
    stage.start(sound: true)
    #expect(stage.wait { _ in counts.starts == starts + 1 })
    stage.stop()
    #expect(stage.onlooker.now.start == nil)
    #expect(stage.onlooker.now.notices.contains { $0.contains("0.1 s after the end of the cast") })
    counts.hangs = false
    #expect(stage.wait { _ in counts.stops == stops + 1 })
  }

  @Test func `who stops waiting leaves the start to the other`() throws {
    let stage = try stage("hang-in-start", PluginPatience(start: .seconds(3600), stop: .milliseconds(100)))
    defer { counts.hangs = false }
    let (starts, stops) = (counts.starts, counts.stops)
    stage.start()
    #expect(stage.wait { _ in counts.starts == starts + 1 })
    stage.start(pictures: false, sound: true)
    stage.plugin.source.audio?.stopCapture()
    counts.hangs = false
    #expect(stage.wait { !$0.pictures.isEmpty })
    #expect(stage.onlooker.now.notices.isEmpty)
    stage.stop()
    #expect(stage.wait { _ in counts.stops == stops + 1 })
  }

  @Test func `an entry function that does not return is given up and the rest goes on`() throws {
    let path = try PluginWorkshop.breaker("HANG_IN_ENTRY")
    let entering = try BreakerCounts(path)
    defer { entering.hangs = false }
    func load(patience: TimeDelta) throws -> PluginDescription {
      try PluginSource(
        path: path, settings: PluginSettings(), isolation: nil, patience: PluginPatience(start: patience),
        onNotice: { _ in }
      ).description
    }
    let refusal = #expect(throws: CaptureError.self) { try load(patience: .milliseconds(200)) }
    guard case .unavailable(let sentence)? = refusal else { Issue.record("\(String(describing: refusal))"); return }
    #expect(sentence.contains("\(path) did not return from `rtcast_plugin_entry` within 0.2 s"))
    // Others are loaded meanwhile, and so is this one as soon as it returns.
    #expect(try PluginSource(path: try PluginWorkshop.breaker()).description.name == "breaker")
    entering.hangs = false
    #expect(try load(patience: .seconds(60)).name == "breaker")
  }

  @Test func `a stop that does not return is left behind with a word`() throws {
    let stage = try stage("hang-in-stop", PluginPatience(stop: .milliseconds(100)))
    defer { counts.hangs = false }
    let stops = counts.stops
    stage.start()
    #expect(stage.wait { $0.pictures.count >= 2 })
    stage.stop()
    let seen = stage.onlooker.now
    #expect(seen.notices.contains { $0.contains("did not return from its `stop` within 0.1 s") })
    #expect(counts.stops == stops)
    // It may be started again beside what is left.
    stage.start()
    #expect(stage.wait { $0.pictures.count > seen.pictures.count })
    stage.stop()
    counts.hangs = false
    #expect(stage.wait { _ in counts.stops == stops + 2 })
    #expect(counts.callsAfterStop == 0)
  }
}
