import FeatureKit
import RTCCapturePlugin
import RTCMedia
import RTCPrimitives
import Testing

@Suite(.serialized) struct BackPressureTests {
  @Test func `a consumer that never releases bounds what is out`() throws {
    let stage = try Stage(
      try PluginWorkshop.breaker("BACK_PRESSURE"), [("do", "fast")], onlooker: Onlooker(keeps: { _ in true }))
    let counts = try BreakerCounts(try PluginWorkshop.breaker("BACK_PRESSURE"))
    let before = counts.busy
    stage.start()
    #expect(stage.wait { $0.kept.count >= 4 && counts.busy - before > 1000 })
    #expect(stage.onlooker.now.kept.count == 4)
    #expect(counts.mostOut <= 5)
    stage.onlooker.letGo()
    let seen = stage.onlooker.now.pictures.count
    #expect(stage.wait { $0.pictures.count > seen })
    stage.onlooker.letGo()
    stage.stop()
    stage.onlooker.letGo()
  }

  @Test func `the pixels of a kept picture do not change`() throws {
    let stage = try Stage(
      try PluginWorkshop.breaker("BACK_PRESSURE"), [("do", "good")], onlooker: Onlooker(keeps: { $0 < 2 }))
    stage.start()
    #expect(stage.wait { $0.pictures.count >= 40 })
    stage.stop()
    for frame in stage.onlooker.now.kept { #expect(frame.buffer.bytes(ofPlane: 0)[100] != 0xEE) }
    stage.onlooker.letGo()
  }

  @Test func `a thousand frames a second are held to what was asked for`() throws {
    let stage = try Stage(try PluginWorkshop.breaker("BACK_PRESSURE"), [("do", "fast")], frameRate: 50)
    stage.start()
    #expect(stage.wait { $0.pictures.count >= 21 })
    stage.stop()
    let times = stage.onlooker.now.pictures.prefix(21).map(\.captureTime)
    // Twenty intervals of 20 ms, one of them of which a quarter is forgiven.
    #expect(times[20] - times[0] >= .milliseconds(390))
    #expect(stage.plugin.statistics.busy > 100)
  }

  @Test(.feature("S4.38")) func `a plugin that hoards buffers gets four`() throws {
    let counts = try BreakerCounts(try PluginWorkshop.breaker("BACK_PRESSURE"))
    let (before, busy) = (counts.borrowed, counts.busy)
    let stage = try Stage(try PluginWorkshop.breaker("BACK_PRESSURE"), [("do", "hoard")])
    stage.start()
    #expect(stage.wait { $0.pictures.count >= 3 })
    stage.stop()
    #expect(counts.borrowed - before == 4)
    #expect(counts.busy - busy >= 96)
  }

  @Test func `sound without a clock is held to real time`() throws {
    let stage = try Stage(try PluginWorkshop.breaker("BACK_PRESSURE"), [("do", "sound")])
    stage.start(pictures: false, sound: true)
    #expect(stage.wait { $0.sounds.count >= 40 })
    stage.stop()
    let sounds = stage.onlooker.now.sounds
    for (one, next) in zip(sounds, sounds.dropFirst()) {
      #expect(next.captureTime >= one.captureTime + one.duration)
    }
    #expect(sounds[0].samples.prefix(2) == [-0.5, 0.5])
  }
}
