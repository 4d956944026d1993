import Testing
import rtcast_cli

@Suite struct StatusLineTests {
  private let line = StatusLine([
    .init("● live", rank: 0), .init("2 viewers", rank: 1), .init("1920×1080", rank: 3), .init("5.0 fps", rank: 2),
    .init("enc 3.1 ms", rank: 6),
  ])

  @Test func `a wide terminal gets everything`() {
    #expect(line.fitted(to: 80) == "● live  2 viewers  1920×1080  5.0 fps  enc 3.1 ms")
  }

  @Test func `what matters least goes first`() {
    #expect(line.fitted(to: 48) == "● live  2 viewers  1920×1080  5.0 fps")
    #expect(line.fitted(to: 36) == "● live  2 viewers  5.0 fps")
    #expect(line.fitted(to: 10) == "● live")
  }

  @Test(arguments: 0...60) func `no terminal is too narrow`(columns: Int) {
    #expect(line.fitted(to: columns).count <= columns)
  }

  @Test func `a lone piece that is too long is cut and says so`() {
    #expect(line.fitted(to: 4) == "● l…")
  }
}
