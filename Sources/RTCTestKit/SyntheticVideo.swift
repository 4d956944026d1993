public import RTCMedia
public import RTCPrimitives

/// A source of frames that look like VP8 from outside (RFC 6386 §9.1) and whose bytes follow from their number, so that
/// what arrives can be compared with what left.
public struct SyntheticVideo: Sendable {
  /// Between two frames.
  public var interval: TimeDelta
  /// Bytes of a frame that is not a key frame; at least 16.
  public var frameSize: Int
  /// Bytes of a key frame; at least 32.
  public var keyFrameSize: Int
  /// The rate to keep to, as an encoder does: caps the frames' sizes, a key frame's at half a second's worth.
  public var targetBitrate: BitRate?
  /// The next frame is to be a key frame.
  public var needsKeyFrame = true
  public private(set) var nextNumber: UInt64 = 0
  /// When the next frame is due; set it to pause or to begin later.
  public var nextTime: Timestamp

  public init(
    interval: TimeDelta = .milliseconds(40), frameSize: Int = 4_000, keyFrameSize: Int = 20_000,
    from start: Timestamp = .zero
  ) {
    self.interval = interval
    self.frameSize = frameSize
    self.keyFrameSize = keyFrameSize
    nextTime = start
  }

  /// Makes the next frame and moves on.
  public mutating func next(_ now: Timestamp) -> EncodedFrame {
    let isKey = needsKeyFrame
    needsKeyFrame = false
    let number = nextNumber
    nextNumber += 1
    nextTime = max(nextTime, now) + interval
    return EncodedFrame(
      codec: .vp8, data: Self.bytes(number: number, isKeyFrame: isKey, count: size(isKeyFrame: isKey)),
      isKeyFrame: isKey, size: PixelSize(width: 640, height: 360), captureTime: now, encodedTime: now, quantizer: 20,
      rotation: .none, contentHint: .detail, number: number)
  }

  private func size(isKeyFrame: Bool) -> Int {
    let wanted = isKeyFrame ? keyFrameSize : frameSize
    guard let targetBitrate else { return wanted }
    return max(32, min(wanted, targetBitrate.bytes(in: isKeyFrame ? .milliseconds(500) : interval)))
  }

  /// The frame's bytes: VP8's frame tag, then the number, then noise from a place that follows from it.
  public static func bytes(number: UInt64, isKeyFrame: Bool, count: Int) -> [UInt8] {
    var bytes: [UInt8] =
      isKeyFrame ? [0x10, 0x02, 0x00, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0x68, 0x01] : [0x11, 0x02, 0x00]
    bytes.reserveCapacity(count)
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
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
    return (0..<65_537).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
  }()

  /// The number of a frame whose bytes are exactly what they should be, nil for any other.
  public static func number(of bytes: [UInt8], isKeyFrame: Bool) -> UInt64? {
    let start = isKeyFrame ? 10 : 3
    guard bytes.count >= start + 8 else { return nil }
    let number = bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
    return Self.bytes(number: number, isKeyFrame: isKeyFrame, count: bytes.count) == bytes ? number : nil
  }
}
