package import RTCMedia
package import RTCPrimitives

/// A source of packets that look like Opus from outside (RFC 6716 §3.1: fullband CELT, 20 ms, stereo, one frame) and
/// whose bytes follow from their number, so that what arrives can be compared with what left.
package struct SyntheticAudio: Sendable {
  /// Samples at 48 kHz in a packet.
  package static let sampleCount = 960

  /// Bytes of a packet; at least 16.
  package var packetSize: Int
  /// The sound's clock against the monotonic one: 1.001 gives 48 048 samples a second.
  package var clockRatio: Double
  /// The loudness that it states.
  package var level: AudioLevel?
  /// The number of the next packet, from 0.
  package private(set) var nextNumber: UInt64 = 0
  private let start: Timestamp
  private let firstPosition: Int64

  /// Sound whose first packet begins at `start`; `firstPosition` is its position in samples.
  package init(packetSize: Int = 160, clockRatio: Double = 1, firstPosition: Int64 = 0, from start: Timestamp = .zero) {
    self.packetSize = packetSize
    self.clockRatio = clockRatio
    self.firstPosition = firstPosition
    self.start = start
  }

  /// The time of the next packet's last sample.
  package var nextTime: Timestamp { time(ofSample: Int64(nextNumber + 1) * Int64(Self.sampleCount)) }

  private func time(ofSample sample: Int64) -> Timestamp {
    start + .seconds(Double(sample) / 48_000 / clockRatio)
  }

  /// Makes the next packet and moves on.
  package mutating func next() -> EncodedAudioFrame {
    let number = nextNumber
    nextNumber += 1
    let sample = Int64(number) * Int64(Self.sampleCount)
    return EncodedAudioFrame(
      data: Self.bytes(number: number, count: packetSize), position: firstPosition + sample,
      sampleCount: Self.sampleCount, captureTime: time(ofSample: sample), startsTalkSpurt: number == 0,
      level: level)
  }

  /// The packet's bytes: Opus's table-of-contents byte, then the number, then its low byte over and over.
  package static func bytes(number: UInt64, count: Int) -> [UInt8] {
    var bytes: [UInt8] = [31 << 3 | 4]
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
    bytes.append(contentsOf: repeatElement(UInt8(truncatingIfNeeded: number), count: max(0, count - bytes.count)))
    return bytes
  }

  /// The number of a packet whose bytes are exactly right; nil for any other.
  package static func number(of bytes: [UInt8]) -> UInt64? {
    guard bytes.count >= 9 else { return nil }
    let number = bytes[1..<9].reduce(0) { $0 << 8 | UInt64($1) }
    return Self.bytes(number: number, count: bytes.count) == bytes ? number : nil
  }
}
