import RTCEngine
import RTCPlayout
import RTCPrimitives

/// Eight bytes an event: packets of any number, time and content, and requests for sound. Every request is answered, in
/// Opus' own lengths, and every packet is counted once.
public func fuzzJitter(_ bytes: Span<UInt8>) {
  var buffer = AudioJitterBuffer()
  var now = Timestamp.zero
  var pending = 0
  for start in stride(from: 0, to: bytes.count - 7, by: 8) {
    now += .milliseconds(Int64(bytes[start] & 0x1F) * Int64(bytes[start] & 0x1F))
    let number = Int64(bytes[start + 1]) << (bytes[start] >> 5)
    let timestamp = UInt32(bytes[start + 2]) << 24 | UInt32(bytes[start + 3]) << 12 | UInt32(bytes[start + 4]) * 120
    let payload = [UInt8](repeating: bytes[start + 6], count: Int(bytes[start + 5] & 7))
    buffer.insert(
      ReceivedAudio(
        payload: payload, number: number, timestamp: RTPTimestamp(timestamp), marker: false, received: now))
    for _ in 0..<(bytes[start + 7] & 7) {
      switch buffer.next(heardAt: now + .nanoseconds(Int64(pending) * 62_500 / 3)) {
      case .decode(let packet, let skipping):
        precondition(!packet.payload.isEmpty && (0..<5_760).contains(skipping))
        pending += 960
      case .recover(let count, _): pending += check(count, 5_760)
      case .conceal(let count), .comfort(let count), .silence(let count): pending += check(count, 480)
      }
      let pace = buffer.pace(pending: pending, at: now)
      precondition((0.999...1.001).contains(pace.ratio))
      pending = max(0, pending - 480)
    }
  }
  let said = buffer.statistics
  let used = said.packetsDecoded + said.packetsLate + said.packetsDiscarded + said.packetsDuplicated
  precondition((0...400).contains(said.packetsReceived - used))
}

private func check(_ count: Int, _ largest: Int) -> Int {
  precondition((120...largest).contains(count) && count % 120 == 0)
  return count
}
