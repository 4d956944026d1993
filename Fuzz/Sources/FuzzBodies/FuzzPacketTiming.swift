import RTCCaptureFile
import RTCPrimitives

/// Packets of three streams as a demuxer gives them, of any time, duration and order: a byte says what each has, then come a
/// size and a value for each time. No sum overflows, and the times to decode at never go back.
public func fuzzPacketTiming(_ bytes: Span<UInt8>) {
  var reader = ByteReader(bytes)
  guard let flags = reader.readUInt8() else { return }
  let fileEnd = flags & 1 == 0 ? nil : takeTime(&reader)
  var timing = PacketTiming(
    fileTime: flags & 2 == 0 ? 0 : takeTime(&reader), media: flags & 8 == 0 ? 0 : abs(takeTime(&reader)),
    fileEnd: fileEnd, mayLeap: flags & 4 == 4)
  var decoded: [Int32: Int64] = [:]
  while let head = reader.readUInt8() {
    let stream = Int32(head & 3)
    let place = timing.place(
      stream: stream, pts: head & 4 == 0 ? nil : takeTime(&reader), dts: head & 8 == 0 ? nil : takeTime(&reader),
      duration: head & 0x10 == 0 ? 20_000_000 : takeDuration(&reader), cut: head & 0x20 == 0 ? 0 : takeDuration(&reader)
    )
    precondition(place.decodeTime >= decoded[stream] ?? .min, "a stream goes back")
    decoded[stream] = place.decodeTime
    for time in [place.time, place.decodeTime, place.offset] {
      precondition(abs(time) <= PacketTiming.latestMediaTime, "\(time) is beyond the end of the timeline")
    }
  }
}

/// Nanoseconds of either sign, from one to the most that a file may say.
private func takeTime(_ reader: inout ByteReader) -> Int64 {
  let scale = Int64(reader.readUInt8() ?? 0)
  let value = Int64(Int8(bitPattern: reader.readUInt8() ?? 0))
  let time = (value << (scale & 0x3F)) &+ (scale >> 6) * 1_000_003
  return max(-PacketTiming.latestTime, min(PacketTiming.latestTime, time))
}

private func takeDuration(_ reader: inout ByteReader) -> Int64 {
  let scale = Int64(reader.readUInt8() ?? 0) & 0x3F
  return max(0, min(PacketTiming.longestDuration, Int64(reader.readUInt8() ?? 0) << scale))
}
