import Testing
import rtcast_cli

@Suite struct FiguresTests {
  @Test func `fixed decimals are rounded and padded`() {
    #expect(Figures.fixed(4.96, 1) == "5.0")
    #expect(Figures.fixed(0.05, 2) == "0.05")
    #expect(Figures.fixed(-0.01, 1) == "0.0")
    #expect(Figures.fixed(-1.25, 1) == "-1.3")
    #expect(Figures.fixed(12, 0) == "12")
    #expect(Figures.fixed(.nan, 1) == "–")
  }

  @Test func `rates, times and counts read naturally`() {
    #expect(Figures.rate(bitsPerSecond: 999) == "999 bit/s")
    #expect(Figures.rate(bitsPerSecond: 182_400) == "182 kbit/s")
    #expect(Figures.rate(bitsPerSecond: 4_250_000) == "4.3 Mbit/s")
    #expect(Figures.milliseconds(3.14) == "3.1 ms")
    #expect(Figures.milliseconds(35.4) == "35 ms")
    #expect(Figures.duration(seconds: 42) == "42 s")
    #expect(Figures.duration(seconds: 187) == "3:07")
    #expect(Figures.duration(seconds: 3753) == "1:02:33")
    #expect(Figures.count(1, "viewer") == "1 viewer")
    #expect(Figures.count(0, "viewer") == "0 viewers")
  }
}
