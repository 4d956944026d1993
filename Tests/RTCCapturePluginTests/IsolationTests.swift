import CLinux
import Glibc
import RTCCapturePlugin
import RTCMedia
import Testing

@Suite(.serialized) struct IsolationTests {
  private func stage(_ options: [(key: String, value: String)], _ onlooker: Onlooker = Onlooker(), host: String...)
    throws -> Stage
  {
    var program = PluginWorkshop.host()
    program.arguments = host
    return try Stage(try PluginWorkshop.breaker(), options, isolation: program, onlooker: onlooker)
  }

  @Test(arguments: [
    ("segv", "signal 11"), ("null-write", "signal 11"), ("abort", "signal 6"), ("exit", "status 3"),
  ]) func `a death is told and the plugin is started again`(_ how: String, _ cause: String) throws {
    let stage = try stage([("do", how), ("limit", "5")])
    stage.start()
    #expect(stage.wait { $0.pictures.count >= 12 && stage.plugin.statistics.restarts >= 2 })
    stage.stop()
    #expect(stage.onlooker.now.notices.contains { $0.contains(cause) && $0.contains("1 of 5") })
  }

  @Test func `after five restarts in a minute the source is lost`() throws {
    let stage = try stage([("do", "segv"), ("limit", "2")])
    stage.start()
    #expect(stage.wait { $0.end != nil })
    guard case .lost(let sentence) = stage.onlooker.now.end else {
      Issue.record("\(String(describing: stage.onlooker.now.end))"); return
    }
    #expect(sentence.contains("after 5 restarts"))
    #expect(stage.plugin.statistics.restarts == 5)
    stage.stop()
  }

  @Test func `a picture outlives the process that drew it`() throws {
    let stage = try stage([("do", "segv"), ("limit", "3")], Onlooker(keeps: { $0 == 0 }))
    stage.start()
    #expect(stage.wait { _ in stage.plugin.statistics.restarts >= 1 })
    stage.stop()
    // On a busy machine the plugin's first picture is left out, and the one that is kept is its second.
    let (frame, drawn) = (stage.onlooker.now.kept.first, stage.onlooker.now.pictures.first)
    #expect(frame != nil && frame?.buffer.bytes(ofPlane: 0)[0] == drawn?.first)
    stage.onlooker.letGo()
  }

  @Test func `the first picture of a new process is whole`() throws {
    let stage = try stage([("do", "segv"), ("limit", "3")])
    stage.start()
    #expect(stage.wait { $0.pictures.count >= 8 })
    stage.stop()
    #expect(stage.onlooker.now.pictures.allSatisfy { !$0.hasDamage })
  }

  @Test func `a crash while starting is a failure at once`() throws {
    let stage = try stage([("do", "crash-in-start")])
    stage.start()
    #expect(stage.wait { $0.start != nil })
    guard case .failure(.unavailable(let sentence)) = stage.onlooker.now.start else {
      Issue.record("\(String(describing: stage.onlooker.now.start))"); return
    }
    #expect(sentence.contains("signal 11") && sentence.contains("while it started"))
    stage.stop()
  }

  @Test func `B15: memory of huge pages is not taken`() {
    let plain = clinux_sealed_memory("test", 4_096)
    #expect(plain >= 0 && clinux_sealed_memory_size(plain) == 4_096)
    close(plain)
    // A kernel without huge pages makes none.
    let huge = clinux_sealed_memory_of("test", 2 << 20, UInt32(clinux_huge_pages))
    if huge >= 0 { #expect(clinux_sealed_memory_size(huge) == -1) }
    close(huge)
  }

  @Test func `B15: a refusal to start keeps its reason, and the plugin was told no secret`() throws {
    setenv("RTCAST_TOKEN", "sesame-sesame", 1)
    defer { unsetenv("RTCAST_TOKEN") }
    let stage = try stage([("do", "refuse")])
    stage.start()
    #expect(stage.wait { $0.start != nil })
    guard case .failure(.unavailable(let sentence)) = stage.onlooker.now.start else {
      Issue.record("\(String(describing: stage.onlooker.now.start))"); return
    }
    #expect(sentence.contains("no camera is plugged in."))
    stage.stop()
  }

  @Test func `a plugin that hangs in stop is ended`() throws {
    let stage = try Stage(
      try PluginWorkshop.breaker(), [("do", "hang-in-stop")], isolation: PluginWorkshop.host(),
      patience: PluginPatience(stop: .milliseconds(300)))
    stage.start()
    #expect(stage.wait { $0.pictures.count >= 2 })
    stage.stop()
    #expect(stage.onlooker.now.notices.contains { $0.contains("did not stop within 0.3 s") })
    #expect(Machine.children.isEmpty)
  }

  @Test func `a plugin that hangs in start is ended`() throws {
    let stage = try Stage(
      try PluginWorkshop.breaker(), [("do", "hang-in-start")], isolation: PluginWorkshop.host(),
      patience: PluginPatience(start: .milliseconds(300)))
    stage.start(sound: true)
    #expect(stage.wait { $0.start != nil && $0.soundStart != nil })
    guard case .failure(.unavailable(let sentence)) = stage.onlooker.now.start else {
      Issue.record("\(String(describing: stage.onlooker.now.start))"); return
    }
    #expect(sentence.contains("did not return from its `start` within 0.3 s"))
    #expect(stage.wait { _ in Machine.children.isEmpty })
    stage.stop()
  }

  @Test func `a plugin that hangs in start is ended when nobody wants it any more`() throws {
    let stage = try Stage(
      try PluginWorkshop.breaker(), [("do", "hang-in-start")], isolation: PluginWorkshop.host(),
      patience: PluginPatience(start: .seconds(3600), stop: .milliseconds(300)))
    stage.start()
    #expect(stage.wait { _ in !Machine.children.isEmpty })
    stage.stop()
    #expect(stage.onlooker.now.notices.contains { $0.contains("0.3 s after the end of the cast") })
    #expect(stage.wait { _ in Machine.children.isEmpty })
    #expect(stage.onlooker.now.start == nil)
  }

  @Test func `a plugin that hangs when it is started again is ended too`() throws {
    let marker = try PluginWorkshop.folder() + "/started-once"
    let stage = try Stage(
      try PluginWorkshop.breaker(), [("do", "hang-in-restart"), ("limit", "3"), ("marker", marker)],
      isolation: PluginWorkshop.host(), patience: PluginPatience(start: .seconds(2)))
    stage.start()
    #expect(stage.wait { $0.notices.contains { $0.contains("did not return from its `start` within 2 s") } })
    stage.stop()
    #expect(stage.plugin.statistics.restarts == 2)
    #expect(!stage.onlooker.now.pictures.isEmpty)
    #expect(Machine.children.isEmpty)
  }

  @Test(arguments: ["nonsense", "unsealed", "outside"]) func `a process that lies is ended and not believed`(
    _ lie: String
  ) throws {
    let stage = try stage([("do", "good")], host: lie)
    stage.start()
    #expect(stage.wait { $0.start != nil || $0.end != nil })
    #expect(stage.wait { $0.end != nil || (try? $0.start?.get()) == nil })
    stage.stop()
    #expect(stage.onlooker.now.pictures.isEmpty)
    #expect(Machine.children.isEmpty)
  }

  @Test func `a program that cannot be started is named`() throws {
    #expect(throws: CaptureError.self) {
      try PluginSource(
        path: try PluginWorkshop.breaker(), isolation: PluginHostProgram(executable: "/nowhere/host"))
    }
  }

  @Test func `nothing is left behind`() throws {
    let before = (Machine.descriptors, Machine.sharedMappings)
    for how in ["borrow", "good", "segv", "fast"] {
      let stage = try stage([("do", how), ("limit", how == "segv" ? "4" : "0")])
      stage.start()
      #expect(stage.wait { $0.pictures.count >= 6 })
      stage.stop()
    }
    #expect(Machine.children.isEmpty)
    // Threads that have done their work let go a moment later.
    #expect(Onlooker().wait { _ in Machine.sharedMappings <= before.1 && Machine.descriptors <= before.0 })
  }
}

/// The resources of this process.
private enum Machine {
  static var descriptors: Int { entries("/proc/self/fd").count }

  static var sharedMappings: Int {
    String(decoding: PluginWorkshop.bytes(of: "/proc/self/maps"), as: UTF8.self)
      .split(separator: "\n").count { $0.contains("memfd:rtcast-plugin") }
  }

  /// Child processes that run or were not waited for.
  static var children: [String] {
    entries("/proc/self/task").flatMap { task in
      String(decoding: PluginWorkshop.bytes(of: "/proc/self/task/\(task)/children"), as: UTF8.self)
        .split(separator: " ").map(String.init)
    }
  }

  private static func entries(_ folder: String) -> [String] {
    guard let list = opendir(folder) else { return [] }
    defer { closedir(list) }
    var names: [String] = []
    while let entry = readdir(list) {
      withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { names.append(String(cString: $0)) }
      }
    }
    return names.filter { !$0.hasPrefix(".") }
  }
}
