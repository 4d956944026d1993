import RTCCapturePlugin
import RTCMedia
import Testing

@Suite(.serialized) struct RuleBreakingTests {
  /// The plugin's instruction, and the fault that must be found.
  static let refused: [(String, PluginFault)] = [
    ("null-plane", .missingPlane), ("null-everything", .missingPlane), ("short-stride", .shortStride),
    ("negative-stride", .shortStride), ("huge-stride", .shortStride), ("no-size", .impossibleSize),
    ("negative-size", .impossibleSize), ("huge-size", .impossibleSize), ("format", .unknownPixelFormat),
    ("rotation", .unknownRotation), ("color", .unknownColorSpace), ("struct-size", .structSize),
    ("null-picture", .structSize), ("unknown-buffer", .unknownBuffer), ("discard-unknown", .unknownBuffer),
    ("foreign-planes", .notTheBorrowedPlanes),
  ]
  static let corrected: [(String, PluginFault)] = [
    ("damage", .damageOutside), ("backwards", .timeBackwards), ("far-past", .timeFarOff), ("far-future", .timeFarOff),
  ]
  static let sounds: [(String, PluginFault)] = [
    ("sound-struct", .structSize), ("sound-rate", .impossibleSound), ("sound-rate-high", .impossibleSound),
    ("sound-channels", .impossibleSound), ("sound-length", .impossibleSound), ("sound-null", .missingSamples),
    ("sound-format", .unknownSampleFormat), ("sound-nan", .samplesNotANumber),
  ]

  private func run(_ how: String, _ fault: PluginFault, sound: Bool = false, isolation: PluginHostProgram? = nil) throws
    -> Stage
  {
    let stage = try Stage(try PluginWorkshop.breaker("RULES"), [("do", how)], isolation: isolation)
    stage.start(sound: sound)
    #expect(stage.wait { $0.pictures.count >= 10 && stage.plugin.statistics.faults[fault] ?? 0 >= 3 }, "\(how)")
    stage.stop()
    #expect(stage.onlooker.now.notices.filter { $0 == fault.sentence(plugin: "breaker") }.count == 1, "\(how)")
    return stage
  }

  @Test(arguments: refused) func `a picture that breaks a rule is refused and the good ones go on`(
    _ how: String, _ fault: PluginFault
  ) throws {
    let before = try BreakerCounts(try PluginWorkshop.breaker("RULES")).refused
    let stage = try run(how, fault)
    let refused = try BreakerCounts(try PluginWorkshop.breaker("RULES")).refused - before
    #expect(refused >= 3)
    for picture in stage.onlooker.now.pictures {
      #expect(picture.size == PixelSize(width: 64, height: 48))
      #expect(picture.first == picture.last)
    }
  }

  @Test(arguments: corrected) func `a smaller fault is corrected and times only go forward`(
    _ how: String, _ fault: PluginFault
  ) throws {
    let pictures = try run(how, fault).onlooker.now.pictures
    #expect(zip(pictures, pictures.dropFirst()).allSatisfy { $0.captureTime < $1.captureTime })
  }

  @Test(arguments: sounds) func `bad sound is refused or silenced and the pictures go on`(
    _ how: String, _ fault: PluginFault
  ) throws {
    let stage = try run(how, fault, sound: true)
    #expect(stage.onlooker.now.sounds.allSatisfy { $0.samples.allSatisfy { $0.isFinite } })
  }

  @Test(arguments: [("short-stride", PluginFault.shortStride), ("far-future", .timeFarOff)])
  func `the same is told from another process`(_ how: String, _ fault: PluginFault) throws {
    _ = try run(how, fault, isolation: PluginWorkshop.host())
  }

  @Test func `pushes before the start are ignored and told`() throws {
    let stage = try Stage(try PluginWorkshop.breaker("EARLY"))
    stage.start()
    #expect(stage.wait { $0.pictures.count >= 2 })
    stage.stop()
    #expect(stage.plugin.statistics.faults[.beforeStart] == 2)
  }

  @Test func `pictures from a plugin that declares none are refused`() throws {
    let stage = try Stage(try PluginWorkshop.breaker("ONLY_SOUND"), [("do", "sound-nan")])
    stage.start(sound: true)
    #expect(stage.wait { !$0.sounds.isEmpty && stage.plugin.statistics.faults[.undeclaredPictures] ?? 0 > 0 })
    stage.stop()
  }

  @Test func `an answer that makes no sense is passed over`() throws {
    let stage = try Stage(try PluginWorkshop.breaker("RULES"), [("do", "nonsense-format")])
    stage.start()
    #expect(stage.wait { $0.pictures.count >= 2 })
    stage.stop()
    #expect((try? stage.onlooker.now.start?.get())?.size == PixelSize(width: 64, height: 48))
  }

  @Test func `what a plugin says reaches the person without control characters`() throws {
    let stage = try Stage(try PluginWorkshop.breaker("RULES"), [("do", "notice")])
    stage.start()
    #expect(stage.wait { $0.notices.contains("breaker: warm[31m in here") })
    stage.stop()
  }
}
