import ArgumentParser
import RTCMedia
import RTCSignaling
import Testing
import rtcast_cli

@Suite struct OptionParsingTests {
  @Test(arguments: [("5", 5.0), ("0.1", 0.1), ("240", 240), ("29.97", 29.97)])
  func `a frame rate within the range is taken`(text: String, value: Double) throws {
    #expect(try FrameRate(parsing: text).value == value)
  }

  @Test(arguments: ["0", "-5", "1000", "abc", "", "nan", "inf", "5fps"])
  func `a frame rate that makes no sense is refused with the range`(text: String) {
    let error = #expect(throws: ValidationError.self) { try FrameRate(parsing: text) }
    #expect(error?.message.contains("--fps takes 0.1 to 240 frames per second") == true)
  }

  @Test(arguments: [("50", 0.5), ("100%", 1), ("1", 0.01), ("6400", 64)])
  func `a share of processor time is taken, in per cent of one core`(text: String, value: Double) throws {
    #expect(try ProcessorShare(parsing: text).value == value)
  }

  @Test(arguments: ["0", "0.5", "-5", "6401", "abc", "", "%", "nan", "inf"])
  func `a share of processor time that makes no sense is refused`(text: String) {
    #expect(throws: ValidationError.self) { try ProcessorShare(parsing: text) }
  }

  @Test(arguments: ["", "x", "1280", "0x0", "15x15", "8193x16", "1280x720x3", "-16x16", "1280X720 "])
  func `a size that makes no sense is refused`(text: String) {
    #expect(throws: ValidationError.self) { try PictureSize(parsing: text) }
  }

  @Test func `sizes and regions are read`() throws {
    #expect(try PictureSize(parsing: "1280X720").size == PixelSize(width: 1280, height: 720))
    #expect(try ScreenRegion(parsing: "800x600+100+50").rect == PixelRect(x: 100, y: 50, width: 800, height: 600))
  }

  @Test(arguments: ["abc", "10x10", "0x0+0+0", "100x100", "100x100+1", "100x100+-1+0", "100x100+1+2+3"])
  func `a region that makes no sense is refused`(text: String) {
    #expect(throws: ValidationError.self) { try ScreenRegion(parsing: text) }
  }

  @Test(arguments: ["", "nonsense:99999", "127.0.0.1", "127.0.0.1:x", "::1", "[::1]", "host:"])
  func `an address to listen at names its port`(text: String) {
    #expect(throws: ValidationError.self) { try ListenOption.address(text) }
  }

  @Test(arguments: [
    ("127.0.0.1:8080", "127.0.0.1:8080"), ("[::1]:0", "[::1]:0"), ("8080", "127.0.0.1:8080"), (":80", "[::]:80"),
  ]) func `addresses to listen at are read`(text: String, address: String) throws {
    #expect(try ListenOption.address(text).description == address)
  }
}
