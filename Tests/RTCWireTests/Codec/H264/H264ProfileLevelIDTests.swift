import RTCWire
import Testing

@Suite struct H264ProfileLevelIDTests {
  @Test(arguments: [
    ("42e01f", H264ProfileLevelID.Profile.constrainedBaseline, 31), ("42C02A", .constrainedBaseline, 42),
    ("42001f", .baseline, 31), ("4d001f", .main, 31), ("4d801e", .constrainedBaseline, 30),
    ("640c1f", .constrainedHigh, 31),
    ("640033", .high, 51), ("f4001f", .highPredictive444, 31), ("58c01f", .constrainedBaseline, 31),
  ]) func `profiles follow the constraint flags`(_ text: String, _ profile: H264ProfileLevelID.Profile, _ level: UInt8)
    throws
  {
    let id = try #require(H264ProfileLevelID(parsing: text))
    #expect(id.profile == profile && id.level == H264ProfileLevelID.Level(level))
    #expect(H264ProfileLevelID(parsing: id.description) == id)
  }

  @Test func `level 1b stands between 10 and 11`() throws {
    let b = try #require(H264ProfileLevelID(parsing: "42f00b"))
    #expect(b.level == .b1 && b.level < H264ProfileLevelID.Level(11) && b.level > H264ProfileLevelID.Level(10))
    #expect(b.description == "42f00b")
    #expect(H264ProfileLevelID(parsing: "640009")?.description == "640009")
  }

  @Test(arguments: ["", "42e01", "42e01f0", "+2e01f", "xxe01f", "00e01f", "42e0ff", "42e000"]) func `rubbish is none`(
    _ text: String
  ) {
    #expect(H264ProfileLevelID(parsing: text) == nil)
  }
}
