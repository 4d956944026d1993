import RTCEngine

/// The frame buffer: coded frames that wait for their decoder, in decoding order and never with a gap before one that
/// needs the others. When there are too many, all before a key frame are left out.
struct FrameBuffer: Sendable {
  /// Ten seconds of 30 frames a second.
  static let mostFrames = 300
  static let mostBytes = 32 << 20

  private var frames: [ReceivedFrame] = []
  private var bytes = 0
  /// Frames left out, in all.
  private(set) var dropped = 0
  /// Whether a key frame is needed before further frames can be used.
  private(set) var needsKeyFrame = false

  var isEmpty: Bool { frames.isEmpty }
  var first: ReceivedFrame? { frames.first }
  var hasKeyFrame: Bool { frames.contains(where: \.isKeyFrame) }

  mutating func append(_ frame: ReceivedFrame) {
    if needsKeyFrame, !frame.isKeyFrame {
      dropped += 1
      return
    }
    needsKeyFrame = false
    if frames.count >= Self.mostFrames || bytes + frame.data.count > Self.mostBytes, !makeRoom(for: frame) { return }
    frames.append(frame)
    bytes += frame.data.count
  }

  /// - Returns: false if `frame` cannot be decoded without a dropped frame.
  private mutating func makeRoom(for frame: ReceivedFrame) -> Bool {
    if !frame.isKeyFrame, dropToNewestKeyFrame() > 0, bytes + frame.data.count <= Self.mostBytes { return true }
    removeAll()
    guard !frame.isKeyFrame else { return true }
    dropped += 1
    needsKeyFrame = true
    return false
  }

  mutating func removeFirst() -> ReceivedFrame {
    let frame = frames.removeFirst()
    bytes -= frame.data.count
    return frame
  }

  /// Drops the frames before the newest key frame.
  /// - Returns: the number of dropped frames.
  mutating func dropToNewestKeyFrame() -> Int {
    guard let index = frames.lastIndex(where: \.isKeyFrame), index > 0 else { return 0 }
    for frame in frames[..<index] { bytes -= frame.data.count }
    frames.removeFirst(index)
    dropped += index
    return index
  }

  mutating func removeAll() {
    dropped += frames.count
    frames.removeAll(keepingCapacity: true)
    bytes = 0
  }
}
