import RTCPrimitives
import RTCWire
import Testing

/// Sequence parameter sets written by x264.
@Suite struct H264SequenceParameterSetTests {
  private func parse(_ text: String) -> H264SequenceParameterSet? {
    parsing(wireBytes(text), H264SequenceParameterSet.init(parsing:))
  }

  @Test(arguments: [
    ("6742c01fd9005005bb0110000003001000000303c0f1832480", "1280x720", "42e01f", 0),
    ("674d4028d900780227e5c044000003000400000300f03c60c920", "1920x1080", "4d0028", 0),
    ("67640020acd94056061e6f0110000003001000000303c0f1831960", "1366x768", "640020", 2),
  ]) func `profile, size and order are read`(text: String, size: String, profile: String, reorderDepth: Int) throws {
    let set = try #require(parse(text))
    #expect(set.size.description == size)
    #expect(set.profileLevelID?.description == profile)
    #expect(set.reorderDepth == reorderDepth)
    #expect(set.bitDepth == 8)
    #expect(!set.isInterlaced)
  }

  @Test func `depth, chroma and interlacing that browsers do not take are seen`() throws {
    let full = try #require(parse("67f4000a9196411ec044000003000400000300f03c489920"))
    #expect((full.chromaFormat, full.profileLevelID == nil) == (3, true))
    let deep = try #require(parse("676e000da6cb20283f6022000003000200000300641e285490"))
    #expect((deep.bitDepth, deep.profileLevelID == nil) == (10, true))
    let interlaced = try #require(parse("67640015acd941612d808800000300080000030190f8a14cb0"))
    #expect(interlaced.isInterlaced)
    #expect(interlaced.size == PixelSize(width: 352, height: 288))
  }

  @Test func `a set cut short or of absurd size is refused`() {
    let whole = wireBytes("67640020acd94056061e6f0110000003001000000303c0f1831960")
    for count in 0..<whole.count - 3 {
      #expect(parsing(Array(whole[..<count]), H264SequenceParameterSet.init(parsing:)) == nil)
    }
    #expect(parsing([UInt8](repeating: 0x67, count: 64), H264SequenceParameterSet.init(parsing:)) == nil)
  }
}
