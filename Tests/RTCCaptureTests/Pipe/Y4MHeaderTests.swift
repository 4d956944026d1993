import RTCCapture
import RTCMedia
import Testing

private func parse(_ text: String) throws(Y4MError) -> Y4MHeader {
  try Y4MHeader(parsing: Array(text.utf8).span)
}

@Suite struct Y4MHeaderTests {
  @Test func `what ffmpeg writes is read`() throws {
    let header = try parse("YUV4MPEG2 W1280 H720 F30000:1001 Ip A1:1 C420jpeg XYSCSS=420JPEG XCOLORRANGE=LIMITED")
    #expect(header.size == PixelSize(width: 1280, height: 720))
    #expect(header.frameRate == 30000.0 / 1001)
    #expect(header.sampling.chroma == .quarter && header.sampling.bitDepth == 8)
    #expect(!header.isFullRange && !header.isInterlaced && !header.hasOddPixels)
  }

  @Test func `fields stand in any order, and unknown ones are let pass`() throws {
    let header = try parse("YUV4MPEG2 XSOMETHING C444 H16 Q7 A0:0 F25:1  W33 I?")
    #expect(header.size == PixelSize(width: 33, height: 16))
    #expect(header.sampling.chroma == .full)
    #expect(header.frameRate == 25)
  }

  @Test func `everything but the size may be missing`() throws {
    let header = try parse("YUV4MPEG2 W1 H8192")
    #expect(header.frameRate == nil)
    #expect(header.sampling.chroma == .quarter)
  }

  @Test func `a rate of zero means that nobody knows`() throws {
    #expect(try parse("YUV4MPEG2 W16 H16 F0:0").frameRate == nil)
    #expect(try parse("YUV4MPEG2 W16 H16 F0:1").frameRate == nil)
  }

  @Test(arguments: [
    ("420jpeg", Y4MSampling.Chroma.quarter, 8), ("420mpeg2", .quarter, 8), ("420paldv", .quarter, 8),
    ("420", .quarter, 8), ("422", .half, 8), ("444", .full, 8), ("444alpha", .full, 8), ("mono", .none, 8),
    ("420p10", .quarter, 10), ("422p12", .half, 12), ("444p16", .full, 16), ("mono9", .none, 9), ("mono16", .none, 16),
  ]) func `samplings are read`(name: String, chroma: Y4MSampling.Chroma, depth: Int) throws {
    let sampling = try parse("YUV4MPEG2 W16 H16 C\(name)").sampling
    #expect(sampling.chroma == chroma)
    #expect(sampling.bitDepth == depth)
    #expect(sampling.hasAlpha == (name == "444alpha"))
  }

  @Test(arguments: ["411", "440", "420p7", "420p17", "420p", "420p99999999999999999999", "mono1", "monox", "", "p8"])
  func `samplings that are not taken are refused by name`(name: String) {
    #expect(throws: Y4MError.unsupportedSampling(name)) { try parse("YUV4MPEG2 W16 H16 C\(name)") }
  }

  @Test(arguments: [
    "W0 H16", "W-16 H16", "W16", "H16", "", "W8193 H16", "W99999999999999999999 H16", "W16x H16", "W H16",
    "W16 H16 F-1:1", "W16 H16 F1:0", "W16 H16 F30", "W16 H16 F1:1:1", "W16 H16 F99999999999999999999:1",
    "W16 H16 F2000:1",
    "W16 H16 F1:1000", "W16 H16 A1", "W16 H16 Az", "W16 H16 Iq", "W1e2 H16", "W+16 H16", "W１６ H16",
  ]) func `hostile and senseless fields are refused with a sentence`(fields: String) {
    let error = #expect(throws: Y4MError.self) { try parse("YUV4MPEG2 \(fields)") }
    #expect(error?.sentence.contains("YUV4MPEG2 header") == true)
  }

  @Test(arguments: ["", "YUV4MPEG", "YUV4MPEG3 W16 H16", "RIFF", "yuv4mpeg2 W16 H16"])
  func `anything else is not taken for YUV4MPEG2`(line: String) {
    #expect(throws: Y4MError.notYUV4MPEG2) { try parse(line) }
  }

  @Test func `an old stream says its sampling in a comment`() throws {
    #expect(try parse("YUV4MPEG2 W16 H16 XYSCSS=444").sampling.chroma == .full)
    #expect(try parse("YUV4MPEG2 W16 H16 XYSCSS=444 C422").sampling.chroma == .half)
  }

  @Test func `a refused field's sentence shows no more of it than a line can take`() {
    let error = #expect(throws: Y4MError.self) {
      try parse("YUV4MPEG2 W16 H16 F\(String(repeating: "\u{1B}", count: 3000))")
    }
    #expect(error.map { $0.sentence.utf8.count < 300 && !$0.sentence.contains("\u{1B}") } == true)
  }
}
