package import RTCMedia
package import RTCPrimitives

/// A source of frames that look like their codec from outside and whose bytes follow from their number, so that what
/// arrives can be compared with what left.
package struct SyntheticVideo: Sendable {
  /// May change from one key frame to the next.
  package var codec = VideoCodec.vp8
  /// Changes with the next key frame.
  package var rendition = Rendition.encoded
  /// The colour space stated in the frames.
  package var colorSpace: ColorSpace?
  /// Between two frames.
  package var interval: TimeDelta
  /// Bytes of a frame that is not a key frame; at least 16.
  package var frameSize: Int
  /// Bytes of a key frame; at least 32.
  package var keyFrameSize: Int
  /// The rate to follow, as an encoder does: limits the frames' sizes, a key frame's to half a second's worth.
  package var targetBitrate: BitRate?
  /// Whether the next frame is to be a key frame.
  package var needsKeyFrame = true
  /// The number of the next frame, from 0.
  package private(set) var nextNumber: UInt64 = 0
  /// When the next frame is due; set it to pause or to begin later.
  package var nextTime: Timestamp

  /// Makes VP8 at 25 frames a second by default, with the first frame due at `start`.
  package init(
    interval: TimeDelta = .milliseconds(40), frameSize: Int = 4_000, keyFrameSize: Int = 20_000,
    from start: Timestamp = .zero
  ) {
    self.interval = interval
    self.frameSize = frameSize
    self.keyFrameSize = keyFrameSize
    nextTime = start
  }

  /// Makes the next frame and moves on.
  package mutating func next(_ now: Timestamp) -> EncodedFrame {
    let isKey = needsKeyFrame
    needsKeyFrame = false
    let number = nextNumber
    nextNumber += 1
    nextTime = max(nextTime, now) + interval
    return EncodedFrame(
      codec: codec, data: Self.bytes(number: number, isKeyFrame: isKey, count: size(isKeyFrame: isKey), codec: codec),
      isKeyFrame: isKey, size: PixelSize(width: 640, height: 360), captureTime: now, encodedTime: now, quantizer: 20,
      rotation: .none, contentHint: .detail, colorSpace: colorSpace, number: number, rendition: rendition)
  }

  private func size(isKeyFrame: Bool) -> Int {
    let wanted = isKeyFrame ? keyFrameSize : frameSize
    guard let targetBitrate else { return wanted }
    return max(64, min(wanted, targetBitrate.bytes(in: isKeyFrame ? .milliseconds(500) : interval)))
  }

  /// The frame's bytes: the codec's frame header, then the number, then noise from a position that follows from it. The
  /// number is written in sixteen digits of four bits, each in a byte and none zero, so that H.264 finds no start code
  /// there.
  package static func bytes(number: UInt64, isKeyFrame: Bool, count: Int, codec: VideoCodec = .vp8) -> [UInt8] {
    var bytes = beginning(isKeyFrame, count, codec)
    bytes.reserveCapacity(count)
    for shift in stride(from: UInt64(60), through: 0, by: -4) { bytes.append(0x40 | UInt8(number >> shift & 0x0F)) }
    var place = Int(truncatingIfNeeded: number &* 40_503 & 0x7FFF)
    while bytes.count < count {
      let end = min(noise.count, place + count - bytes.count)
      bytes.append(contentsOf: noise[place..<end])
      place = 0
    }
    return bytes
  }

  private static let noise: [UInt8] = {
    var generator = SeededGenerator(seed: 1)
    return (0..<65_537).map { _ in max(1, UInt8(truncatingIfNeeded: generator.next())) }
  }()

  private static func beginning(_ isKeyFrame: Bool, _ count: Int, _ codec: VideoCodec) -> [UInt8] {
    switch (codec, isKeyFrame) {
    case (.vp8, true): return [0x10, 0x02, 0x00, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0x68, 0x01]
    case (.vp8, false): return [0x11, 0x02, 0x00]
    case (.vp9, _): return [isKeyFrame ? 0x82 : 0x86]
    case (.h264, true):
      return [0, 0, 0, 1, 0x67, 0x42, 0xE0, 0x1F, 0x8C, 0, 0, 0, 1, 0x68, 0xCE, 0x3C, 0x80 | 1, 0, 0, 0, 1, 0x65]
    case (.h264, false): return [0, 0, 0, 1, 0x41]
    case (.av1, _):
      // The size in as few bytes as can be, which is how it comes back.
      let front: [UInt8] = (isKeyFrame ? [0x0A, 3, 0, 0, 8] : []) + [0x32]
      for length in 1...3 {
        let rest = count - front.count - length
        guard rest < 1 << (7 * length) else { continue }
        return front
          + (0..<length).map { UInt8(rest >> (7 * $0) & 0x7F) | ($0 + 1 < length ? 0x80 : 0) }
      }
      preconditionFailure("AV1: no frames of this size here")
    }
  }

  /// The number of a frame whose bytes are exactly right; nil for any other.
  package static func number(of bytes: [UInt8], isKeyFrame: Bool, codec: VideoCodec = .vp8) -> UInt64? {
    guard bytes.count >= 32 else { return nil }
    let start = beginning(isKeyFrame, bytes.count, codec).count
    guard bytes.count >= start + 16 else { return nil }
    let number = bytes[start..<start + 16].reduce(0) { $0 << 4 | UInt64($1 & 0x0F) }
    return Self.bytes(number: number, isKeyFrame: isKeyFrame, count: bytes.count, codec: codec) == bytes ? number : nil
  }
}
