internal import RTCBitstream
package import RTCMedia
package import RTCPrimitives

/// The Opus packets of a file, as they are.
package final class OpusPassthroughStream: AudioPassthrough {
  private var position: Int64 = 0
  /// When sound is left out, `position` leaps as far as the capture time does.
  private var expected: Timestamp?
  private static let leap = TimeDelta.milliseconds(120)

  /// Nil when the sound is not Opus, or has more channels than RTP carries.
  package init?(_ stream: StreamDescription) {
    guard stream.codecName == "opus" else { return nil }
    if let header = OpusHeader(parsing: stream.extradata.span) {
      guard header.mappingFamily == 0, header.channels <= 2 else { return nil }
    } else if stream.audio.channels > 2 {
      return nil
    }
  }

  package func frame(of packet: DemuxedPacket, captureTime: Timestamp) -> EncodedAudioFrame? {
    guard let sound = OpusPacket(parsing: packet.payload.bytes) else { return nil }
    var startsTalkSpurt = expected == nil
    if let expected, captureTime > expected + Self.leap {
      position += (captureTime - expected).microseconds * 48 / 1000
      startsTalkSpurt = true
    }
    let start = position
    position += Int64(sound.sampleCount)
    expected = captureTime + .microseconds(Int64(sound.sampleCount) * 1000 / 48)
    return EncodedAudioFrame(
      data: [UInt8](copying: packet.payload.bytes), position: start, sampleCount: sound.sampleCount,
      captureTime: captureTime, startsTalkSpurt: startsTalkSpurt)
  }
}
