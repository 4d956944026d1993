import RTCCapturePlugin
import RTCMedia
import Testing

@Suite(.serialized) struct WavesTests {
  @Test(arguments: [false, true]) func `the wave is seen to move and heard at its pitch`(_ isIsolated: Bool) throws {
    let stage = try Stage(
      try PluginWorkshop.waves(), [("tone", "1000")], frameRate: 60,
      isolation: isIsolated ? PluginWorkshop.host() : nil)
    stage.start(sound: true)
    #expect(stage.wait { $0.pictures.count >= 10 && $0.sounds.count >= 50 })
    stage.stop()
    let seen = stage.onlooker.now
    #expect(seen.pictures.allSatisfy { $0.size == PixelSize(width: 1280, height: 720) && $0.format == .i420 })
    #expect(stage.plugin.statistics.copies == 0)
    #expect(stage.plugin.statistics.faults.isEmpty)
    let left = seen.sounds.prefix(50).flatMap { sound in
      stride(from: 0, to: sound.samples.count, by: 2).map { sound.samples[$0] }
    }
    let crossings = zip(left, left.dropFirst()).count { $0 < 0 && $1 >= 0 }
    let seconds = Double(left.count) / 48_000
    #expect(abs(Double(crossings) / seconds - 1000) < 10)
  }

  @Test func `an option it does not know is its reason not to start`() throws {
    let stage = try Stage(try PluginWorkshop.waves(), [("colour", "red")])
    stage.start()
    #expect(stage.wait { $0.start != nil })
    guard case .failure(let error) = stage.onlooker.now.start else {
      Issue.record("\(String(describing: stage.onlooker.now.start))"); return
    }
    #expect(error.sentence.contains("its options are tone and volume."))
    stage.stop()
  }

  @Test func `its first comment holds the line that builds it and it has under two hundred lines`() throws {
    let text = String(
      decoding: PluginWorkshop.bytes(of: PluginWorkshop.root + "/Snippets/plugin/waves.c"), as: UTF8.self)
    #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count < 200)
    let line = text.split(separator: "\n").first { $0.contains(" cc ") }.map(String.init) ?? ""
    let arguments = line.split(separator: " ").drop { $0 != "cc" }.map(String.init)
    let library = try PluginWorkshop.folder() + "/libwaves.so"
    let status = PluginWorkshop.run(
      arguments.map { argument in
        switch argument {
        case "libwaves.so": library
        case "Sources/CRTCastPlugin/include", "Snippets/plugin/waves.c": PluginWorkshop.root + "/" + argument
        default: argument
        }
      })
    #expect(status == 0)
    #expect(try PluginSource(path: library).description.name == "waves")
  }
}
