package import RTCEngine
package import RTCMedia
import RTCPrimitives
import RTCWire

/// Converts received frames into frames to send, without decoding. Picture and sound of one moment keep one capture
/// time, whichever arrives later, by the remote peer's sender reports (RFC 3550 §6.4.1). Before the first report of
/// each, arrival times are used.
package struct StreamForwarder: Sendable {
  private var picture = RelayTimeline(rate: 90_000)
  private var sound = RelayTimeline(rate: 48_000)
  private var pictureClock = RemoteClock(rate: 90_000)
  private var soundClock = RemoteClock(rate: 48_000)
  /// From the remote peer's wall clock to ours, by the newest picture.
  private var wallOffset: TimeDelta?
  private var pictures: UInt64 = 0
  private var latestPicture = Timestamp.zero
  private var newestSound = Int64.min
  /// Reports that place a sound further from its arrival than this do not belong together: a clock is wrong.
  private static let largestSkew = TimeDelta.seconds(5)

  package init() {}

  /// - Parameter clock: the last report on the far video; nil before the first.
  package mutating func forward(_ frame: ReceivedFrame, clock: SenderClock?) -> EncodedFrame {
    let placed = picture.place(frame.timestamp, received: frame.received).time
    if let clock, clock.ntpTime.value != 0 {
      pictureClock.note(clock)
      wallOffset = pictureClock.wallTime(of: frame.timestamp).map { (placed - .zero) - $0 }
    }
    latestPicture = max(placed, latestPicture + .nanoseconds(1))
    defer { pictures += 1 }
    return EncodedFrame(
      codec: frame.codec, data: frame.data, isKeyFrame: frame.isKeyFrame, size: PixelSize(width: 0, height: 0),
      captureTime: latestPicture, encodedTime: frame.received, quantizer: 0, rotation: frame.rotation,
      contentHint: .motion, colorSpace: frame.colorSpace, number: pictures)
  }

  /// - Parameter clock: the last sender report of the sound; nil before the first.
  /// - Returns: nil for other codecs than Opus, and for packets that arrive too late to be played.
  package mutating func forward(_ packet: ReceivedAudio, clock: SenderClock?) -> EncodedAudioFrame? {
    guard let header = OpusPacket(packet.payload) else { return nil }
    if let clock, clock.ntpTime.value != 0 { soundClock.note(clock) }
    let (position, arrival) = sound.place(packet.timestamp, received: packet.received)
    guard position > newestSound else { return nil }
    newestSound = position
    return EncodedAudioFrame(
      data: packet.payload, position: position, sampleCount: header.sampleCount,
      captureTime: reported(packet.timestamp, received: packet.received) ?? arrival, startsTalkSpurt: packet.marker,
      level: packet.level)
  }

  /// The capture time of the sound at `timestamp`, on the clock of the pictures; nil before the first report.
  private func reported(_ timestamp: RTPTimestamp, received: Timestamp) -> Timestamp? {
    guard let wallOffset, let wall = soundClock.wallTime(of: timestamp) else { return nil }
    let time = Timestamp.zero + (wall + wallOffset)
    return abs((time - received).nanoseconds) < Self.largestSkew.nanoseconds ? time : nil
  }
}
