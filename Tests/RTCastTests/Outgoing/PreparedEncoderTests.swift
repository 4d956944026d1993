import RTCCodecVPX
import RTCMedia
import RTCPrimitives
import RTCast
import Synchronization
import Testing

@Suite struct PreparedEncoderTests {
  private final class Told: Sendable {
    let drained = Mutex<[Timestamp]>([])
  }

  @Test func `a new encoder is told what waits unsent already`() throws {
    let told = Told()
    let settings = EncodingSettings()
    var stage = EncodeStage(
      settings: settings,
      makeEncoder: { wanted throws(VideoEncoderError) in
        InterruptedEncoder(
          try VP8Encoder(wanted), drainedChanged: { drained in told.drained.withLock { $0.append(drained) } })
      })
    var controls = EncoderControls(settings)
    controls.drained = .zero + .milliseconds(250)
    stage.apply(controls)
    #expect(told.drained.withLock(\.self) == [], "there is no encoder yet")
    stage.take(try Desktop(size: PixelSize(width: 64, height: 48)).frame(damage: nil, at: .zero), now: .zero)
    #expect(told.drained.withLock(\.self) == [controls.drained])
  }
}
