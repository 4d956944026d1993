import RTCMedia
import RTCPrimitives
import RTCast
import Testing
import rtcast_cli

/// Sentences about reduced quality.
@Suite struct QualityLimitationTests {
  @Test func `the sentence says what the network allows and what is left`() {
    var limitation = QualityLimitation(reason: .bandwidth, rate: .kilobitsPerSecond(400))
    #expect(limitation.sentence == "the network allows 400 kbit/s")
    limitation.frameRate = 5
    #expect(limitation.sentence == "the network allows 400 kbit/s: 5 fps")
    limitation.frameRate = 12.3
    limitation.isCoarse = true
    limitation.size = PixelSize(width: 640, height: 360)
    #expect(limitation.sentence == "the network allows 400 kbit/s: 12 fps, 640×360, coarse")
  }

  @Test func `a machine that is too slow is no network that is`() {
    var limitation = QualityLimitation(reason: .cpu, rate: .kilobitsPerSecond(400))
    limitation.frameRate = 1
    #expect(limitation.sentence == "this machine is too slow: 1 fps")
  }
}
