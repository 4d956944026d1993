internal import RTCWire
package import RTCMedia
package import RTCPrimitives

/// The Opus packets of a file, as they are.
package final class OpusPassthroughStream: AudioPassthrough {
  private var position: Int64 = 0
  /// A place and the moment it was due: from there on samples and capture times run side by side.
  private var anchor: (position: Int64, time: Timestamp)?

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
    let due = anchor.map { $0.position + (captureTime - $0.time).microseconds * 48 / 1000 } ?? position
    // The packets of a pass through a file last longer than the pass: the first holds what the decoder needs to begin, the
    // last is filled up. Without leaving out one where that adds up to it, sound would fall behind its pictures.
    let tolerance = Int64(sound.sampleCount) / 2
    guard position - due <= tolerance else { return nil }
    // Sound is missing, or short holes between passes have added up: `position` leaps as far as the capture time did.
    let startsTalkSpurt = anchor == nil || due - position > tolerance
    if startsTalkSpurt {
      position = due
      anchor = (due, captureTime)
    }
    defer { position += Int64(sound.sampleCount) }
    return EncodedAudioFrame(
      data: [UInt8](copying: packet.payload.bytes), position: position, sampleCount: sound.sampleCount,
      captureTime: captureTime, startsTalkSpurt: startsTalkSpurt)
  }
}
