import RTCCapturePlugin
import RTCMedia
import Testing

@Suite(.serialized) struct LoadingTests {
  private func refusal(_ path: String) -> CaptureError? {
    do throws(CaptureError) {
      _ = try PluginSource(path: path)
      return nil
    } catch { return error }
  }

  @Test func `a missing plugin is named`() {
    guard case .noSuchSource(let sentence) = refusal("/nowhere/libnone.so") else {
      Issue.record("not refused so"); return
    }
    #expect(sentence.contains("/nowhere/libnone.so"))
  }

  @Test func `what is no library is refused and not loaded`() throws {
    let library = PluginWorkshop.bytes(of: try PluginWorkshop.breaker())
    let files = [
      try PluginWorkshop.file("empty.so", []),
      try PluginWorkshop.file("text.so", Array("#!/bin/sh\necho no\n".utf8)),
      try PluginWorkshop.file("random.so", (0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 193 &+ $0 >> 3) }),
      try PluginWorkshop.file("header.so", Array(library[..<64])),
      try PluginWorkshop.file("other-machine.so", Array(library[..<18]) + [8, 0] + Array(library[20...])),
      "/tmp", "/dev/null",
    ]
    for path in files { #expect(refusal(path) != nil, "\(path)") }
  }

  @Test func `a library cut short anywhere is refused`() throws {
    let library = PluginWorkshop.bytes(of: try PluginWorkshop.breaker())
    for part in 1..<16 {
      // The last part holds section tables, which loading does not need.
      let path = try PluginWorkshop.file("cut.so", Array(library[..<(library.count * part / 24)]))
      #expect(refusal(path) != nil, "\(part)/24")
    }
  }

  @Test func `a library that is no plugin is told apart`() throws {
    guard case .unsupportedFormat(let sentence) = refusal(try PluginWorkshop.breaker("NO_ENTRY")) else {
      Issue.record("not refused so"); return
    }
    #expect(sentence.contains("rtcast_plugin_entry"))
  }

  @Test func `another version of the interface is refused with both numbers`() throws {
    guard case .unsupportedFormat(let sentence) = refusal(try PluginWorkshop.breaker("ABI=7")) else {
      Issue.record("not refused so"); return
    }
    #expect(sentence.contains("version 7") && sentence.contains("version 1"))
  }

  @Test(arguments: ["NO_STOP", "NO_TRAITS", "ENTRY_REFUSES"]) func `a plugin that is not whole is refused`(
    _ macro: String
  ) throws {
    #expect(refusal(try PluginWorkshop.breaker(macro)) != nil)
  }

  @Test func `a plugin says what it is`() throws {
    let description = try PluginSource(path: try PluginWorkshop.breaker()).description
    #expect(description.name == "breaker")
    #expect(description.hasPictures && description.hasSound && !description.isScreencast)
    #expect(description.size == PixelSize(width: 64, height: 48))
  }

  @Test func `a plugin of sound alone has no pictures`() throws {
    let plugin = try PluginSource(path: try PluginWorkshop.breaker("ONLY_SOUND"))
    #expect(plugin.source.video == nil && plugin.source.audio != nil)
  }

  @Test func `another process describes a plugin and survives its crash`() throws {
    let program = PluginWorkshop.host()
    #expect(try program.describe(try PluginWorkshop.breaker()).summary == "Breaks a rule.")
    #expect(throws: CaptureError.self) { try program.describe(try PluginWorkshop.breaker("CRASH_IN_ENTRY")) }
    #expect(throws: CaptureError.self) { try program.describe("/nowhere.so") }
  }
}
