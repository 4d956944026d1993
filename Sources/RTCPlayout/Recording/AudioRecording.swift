package import RTCEngine
package import RTCMedia
import RTCPrimitives
import RTCWire
import Synchronization

/// Passes the packets of a received sound to a recorder, without decoding. Late packets are left out. Any thread.
package final class AudioRecording: Sendable {
  private struct Place {
    var number: Int64
    var timestamp: RTPTimestamp
    var position: Int64
    var time: Timestamp
  }

  /// Further from its arrival than this, a packet is of another timeline.
  private static let leap = TimeDelta.seconds(3)

  private let sink: any EncodedMediaSink
  private let last = Mutex<Place?>(nil)

  package init(into sink: any EncodedMediaSink) { self.sink = sink }

  package func receive(_ packet: ReceivedAudio) {
    guard !packet.payload.isEmpty, let place = last.withLock({ Self.follow(packet, &$0) }) else { return }
    sink.take(
      EncodedAudioFrame(
        data: packet.payload, position: place.position, sampleCount: OpusPacket(packet.payload)?.sampleCount ?? 960,
        captureTime: place.time, startsTalkSpurt: packet.marker))
  }

  private static func follow(_ packet: ReceivedAudio, _ last: inout Place?) -> Place? {
    var place = Place(number: packet.number, timestamp: packet.timestamp, position: 0, time: packet.received)
    if let last {
      guard packet.number > last.number else { return nil }
      let steps = Int64(packet.timestamp.distance(from: last.timestamp))
      let expected = last.time + .ticks(steps, atRate: 48_000)
      if steps > 0, abs((expected - packet.received).nanoseconds) < leap.nanoseconds {
        place.position = last.position + steps
        place.time = min(expected, packet.received)
      } else {
        place.position = last.position + max(960, (packet.received - last.time).ticks(atRate: 48_000))
      }
    }
    last = place
    return place
  }
}
