import RTCast
import Testing
import rtcast_cli

@Suite struct CodecCostsFileTests {
  private let machine = "2 x Some Processor, libvpx v1.12.0"
  private let costs = CodecCosts([
    CodecCosts.Entry(codec: .vp8, chroma: .quarter, perMegapixel: .microseconds(7_100)),
    CodecCosts.Entry(codec: .av1, chroma: .full, perMegapixel: .microseconds(19_000)),
  ])

  @Test func `what was measured is read again`() {
    let text = CodecCostsFile.text(costs, of: machine)
    #expect(text == machine + "\nVP8 420 7100\nAV1 444 19000\n")
    #expect(CodecCostsFile.parse(text, of: machine) == costs)
  }

  @Test func `another machine's or library's is not taken`() {
    let text = CodecCostsFile.text(costs, of: machine)
    #expect(CodecCostsFile.parse(text, of: "8" + machine.dropFirst()) == nil)
    #expect(CodecCostsFile.parse(text, of: machine + ".1") == nil)
  }

  @Test(arguments: [
    "", "\n", "VP8 420", "VP8 420 x", "VP8 420 0", "VP8 420 -5", "VP8 422 100", "H266 420 100",
    "VP8 420 99999999999999999999",
  ])
  func `what cannot be read is measured anew`(line: String) {
    #expect(CodecCostsFile.parse(machine + "\n" + line, of: machine) == nil)
  }
}
