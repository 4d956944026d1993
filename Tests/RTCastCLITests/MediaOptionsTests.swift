import ArgumentParser
import RTCMedia
import Testing
import rtcast_cli

@Suite struct MediaOptionsTests {
  @Test(arguments: [
    ([], VideoCodec.vp8, ChromaSampling.quarter), (["--codec", "vp9"], .vp9, .quarter),
    (["--codec", "VP9", "--chroma", "444"], .vp9, .full), (["--chroma", "4:4:4"], .vp9, .full),
    (["--chroma", "420"], .vp8, .quarter),
  ]) func `codec and chroma are chosen, and what only some codec has chooses it`(
    arguments: [String], codec: VideoCodec, chroma: ChromaSampling
  ) throws {
    let options = try MediaOptions.parse(arguments)
    #expect(options.codec == codec && options.chroma == chroma)
  }

  @Test func `a codec that has not the chroma is refused with one that has`() {
    let error = #expect(throws: (any Error).self) { try MediaOptions.parse(["--codec", "VP8", "--chroma", "444"]) }
    let sentence = error.map { MediaOptions.message(for: $0) } ?? ""
    #expect(sentence.contains("VP8 has no --chroma 444; choose --codec VP9"), "\(sentence)")
  }

  @Test func `a codec that this program does not have is refused with how to get it or what it has`() throws {
    #if X264
      #expect(try MediaOptions.parse(["--codec", "h264", "--chroma", "444"]).codec == .h264)
    #else
      let error = #expect(throws: (any Error).self) { try MediaOptions.parse(["--codec", "H264"]) }
      let sentence = error.map { MediaOptions.message(for: $0) } ?? ""
      #expect(sentence.contains("swift build --traits X264") && sentence.contains("--codec VP8"), "\(sentence)")
    #endif
    #expect(throws: (any Error).self) { try MediaOptions.parse(["--codec", "H265"]) }
  }

  @Test func `auto chooses codec and chroma, and takes no chroma beside it`() throws {
    #expect(try MediaOptions.parse(["--codec", "auto"]).choosesCodec)
    #expect(try !MediaOptions.parse([]).choosesCodec)
    let error = #expect(throws: (any Error).self) { try MediaOptions.parse(["--codec", "AUTO", "--chroma", "444"]) }
    let sentence = error.map { MediaOptions.message(for: $0) } ?? ""
    #expect(sentence.contains("leave --chroma out"), "\(sentence)")
  }

  @Test(arguments: ["422", "4:1:1", "full", ""]) func `another chroma is refused`(text: String) {
    #expect(throws: (any Error).self) { try MediaOptions.parse(["--chroma", text]) }
  }
}
