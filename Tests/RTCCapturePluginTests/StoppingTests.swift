import FeatureKit
import RTCCapturePlugin
import RTCMedia
import Synchronization
import Testing

@Suite(.serialized) struct StoppingTests {
  @Test(.feature("S4.37", "S4.39")) func `every buffer is released once and nothing is called after stop`() throws {
    let path = try PluginWorkshop.breaker("STOPPING")
    let counts = try BreakerCounts(path)
    let (taken, releases, stops) = (counts.taken, counts.releases, counts.stops)
    var stopped: [(onlooker: Onlooker, pictures: Int)] = []
    for how in ["good", "fast", "short-stride"] {
      let stage = try Stage(path, [("do", how)])
      stage.start()
      #expect(stage.wait { $0.pictures.count >= 20 })
      stage.stop()
      stopped.append((stage.onlooker, stage.onlooker.now.pictures.count))
    }
    // The first two had the time of the next twenty pictures for one too many.
    for (onlooker, pictures) in stopped { #expect(onlooker.now.pictures.count == pictures) }
    #expect(counts.taken - taken == counts.releases - releases)
    #expect(counts.stops - stops == 3)
    #expect(counts.callsAfterStop == 0)
  }

  @Test func `stop waits for the last lease but the caller does not`() throws {
    let counts = try BreakerCounts(try PluginWorkshop.breaker("STOPPING"))
    let (halts, stops) = (counts.halts, counts.stops)
    let stage = try Stage(try PluginWorkshop.breaker("STOPPING"), onlooker: Onlooker(keeps: { $0 == 3 }))
    stage.start()
    #expect(stage.wait { $0.kept.count == 1 })
    stage.stop()
    #expect(counts.halts - halts == 1)
    #expect(counts.stops == stops)
    stage.onlooker.letGo()
    #expect(stage.wait { _ in counts.stops == stops + 1 })
    #expect(counts.callsAfterStop == 0)
  }

  @Test func `frames after stop are ignored and counted`() throws {
    let stage = try Stage(try PluginWorkshop.breaker("STOPPING"), [("do", "late")])
    stage.start()
    #expect(stage.wait { $0.pictures.count >= 3 })
    stage.stop()
    let seen = stage.onlooker.now.pictures.count
    #expect(stage.wait { _ in stage.plugin.statistics.faults[.afterStop] ?? 0 >= 10 })
    #expect(stage.onlooker.now.pictures.count == seen)
  }

  @Test func `starting twice is refused stopping twice is not and it starts again`() throws {
    let stage = try Stage(try PluginWorkshop.breaker("STOPPING"))
    let second = Onlooker()
    stage.start()
    #expect(stage.wait { $0.pictures.count >= 1 })
    stage.plugin.source.video?.startCapture(format: stage.plugin.source.video!.supportedFormats[0], consumer: second)
    #expect(second.now.start == .failure(.alreadyStarted))
    stage.stop()
    stage.stop()
    let seen = stage.onlooker.now.pictures.count
    stage.start()
    #expect(stage.wait { $0.pictures.count > seen })
    stage.stop()
  }

  @Test func `stopping inside a callback makes it the last`() throws {
    let stopper = Mutex<(any VideoCapturer)?>(nil)
    let onlooker = Onlooker(onPicture: { if $0 == 4 { stopper.withLock { $0 }?.stopCapture() } })
    let stage = try Stage(try PluginWorkshop.breaker("STOPPING"), onlooker: onlooker)
    stopper.withLock { $0 = stage.plugin.source.video }
    stage.start()
    #expect(stage.wait { $0.pictures.count == 5 })
    stage.stop()
    #expect(onlooker.now.pictures.count == 5)
    stopper.withLock { $0 = nil }
  }

  @Test func `sound goes on when pictures stop and a still picture is not lost`() throws {
    let counts = try BreakerCounts(try PluginWorkshop.breaker("STOPPING"))
    let stops = counts.stops
    let stage = try Stage(try PluginWorkshop.breaker("STOPPING"), [("do", "still")])
    stage.start(pictures: false, sound: true)
    #expect(stage.wait { $0.soundStart != nil })
    stage.start()
    #expect(stage.wait { $0.pictures.count == 1 })
    stage.plugin.source.video?.stopCapture()
    #expect(counts.stops == stops)
    stage.plugin.source.audio?.stopCapture()
    #expect(counts.stops == stops + 1)
  }

  @Test func `a plugin that cannot start says why`() throws {
    let stage = try Stage(try PluginWorkshop.breaker("STOPPING"), [("do", "refuse")])
    stage.start()
    #expect(stage.wait { $0.start != nil })
    guard case .failure(.unavailable(let sentence)) = stage.onlooker.now.start else {
      Issue.record("\(String(describing: stage.onlooker.now.start))"); return
    }
    #expect(sentence.contains("no camera is plugged in."))
    stage.stop()
    #expect(stage.onlooker.now.pictures.isEmpty)
  }

  @Test func `the end is told after the last picture`() throws {
    for (how, expected) in [
      ("finish", CaptureEnd.finished), ("fail-later", .lost("The plugin breaker failed: the lamp went out.")),
    ] {
      for isolation in [nil, PluginWorkshop.host()] {
        let stage = try Stage(
          try PluginWorkshop.breaker("STOPPING"), [("do", how), ("limit", "5")], isolation: isolation)
        stage.start()
        #expect(stage.wait { $0.end != nil })
        #expect(stage.onlooker.now.end == expected)
        #expect(stage.onlooker.now.pictures.last?.first == 5)
        stage.stop()
        #expect(stage.plugin.statistics.restarts == 0)
      }
    }
  }
}
