import FeatureKit
import RTCCapturePlugin
import RTCMedia
import Testing

@Suite(.serialized) struct DeliveryTests {
  @Test(arguments: [false, true]) func `pictures come in order from the plugin's own memory`(_ isIsolated: Bool) throws
  {
    let stage = try Stage(
      try PluginWorkshop.breaker(), [("do", "good")], isolation: isIsolated ? PluginWorkshop.host() : nil)
    stage.start()
    #expect(stage.wait { $0.pictures.count >= 60 })
    stage.stop()
    let pictures = stage.onlooker.now.pictures
    // Each number twice: a picture without fault and the one before it, pushed with nothing wrong in it.
    let numbers = pictures.map { Int($0.first) }
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 <= $1 || $1 < 2 })
    #expect(pictures.allSatisfy { $0.first == $0.last && $0.format == .i420 })
    #expect(stage.plugin.statistics.pictures >= 60)
    #expect(stage.plugin.statistics.copies == (isIsolated ? stage.plugin.statistics.pictures : 0))
    #expect(stage.plugin.statistics.faults.isEmpty)
  }

  @Test(arguments: [false, true]) func `borrowed buffers travel without a copy`(_ isIsolated: Bool) throws {
    let stage = try Stage(
      try PluginWorkshop.breaker(), [("do", "borrow")], isolation: isIsolated ? PluginWorkshop.host() : nil)
    stage.start()
    #expect(stage.wait { $0.pictures.count >= 60 })
    stage.stop()
    let pictures = stage.onlooker.now.pictures
    #expect(pictures.allSatisfy { $0.first == $0.last && $0.format == .bgra })
    #expect(Set(pictures.map(\.address)).count <= 4)
    #expect(stage.plugin.statistics.copies == 0)
  }

  @Test(arguments: [false, true]) func `sound comes without a gap`(_ isIsolated: Bool) throws {
    let stage = try Stage(
      try PluginWorkshop.breaker(), [("do", "sound")], isolation: isIsolated ? PluginWorkshop.host() : nil)
    stage.start(pictures: false, sound: true)
    #expect(stage.wait { $0.sounds.count >= 30 })
    stage.stop()
    let sounds = stage.onlooker.now.sounds
    #expect(sounds.allSatisfy { $0.format == .opus && $0.sampleCount == 480 })
  }

  @Test(.feature("S4.20", "S4.21")) func `two instances of one library run side by side`() throws {
    let (one, other) = (
      try Stage(try PluginWorkshop.breaker()), try Stage(try PluginWorkshop.breaker(), [("do", "borrow")])
    )
    one.start()
    other.start()
    #expect(one.wait { $0.pictures.count >= 10 } && other.wait { $0.pictures.count >= 10 })
    one.stop()
    let seen = other.onlooker.now.pictures.count
    #expect(other.wait { $0.pictures.count > seen })
    other.stop()
    #expect(one.onlooker.now.pictures.allSatisfy { $0.format == .i420 })
    #expect(other.onlooker.now.pictures.allSatisfy { $0.format == .bgra })
  }
}
