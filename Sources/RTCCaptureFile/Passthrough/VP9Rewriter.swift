public import RTCPrimitives
internal import RTCWire

/// Rewrites the VP9 packets of a file for RTP: one shown picture in each packet, with the hidden frames it needs before
/// it in one superframe (VP9 bitstream specification, annex B).
public struct VP9Rewriter: Sendable {
  /// One shown picture, with the hidden frames it needs.
  public struct Picture: Hashable, Sendable {
    /// A frame, or a superframe when hidden frames are included (VP9 bitstream specification, annex B).
    public var data: [UInt8]
    /// Whether the picture begins with a key frame.
    public var isKeyFrame: Bool
    /// The size of the key frame; nil for other frames.
    public var size: PixelSize?
    /// The profile of the first frame, 0…3.
    public var profile: Int
  }

  /// The result of adding a packet.
  public enum Outcome: Hashable, Sendable {
    case picture(Picture)
    /// The packet shows nothing, and is sent together with the next picture that is shown.
    case hidden
    case malformed
  }

  private var hidden: [[UInt8]] = []
  private static let mostFrames = 8

  /// A rewriter that holds no hidden frames yet.
  public init() {}

  /// Forgets hidden frames that wait for their picture.
  public mutating func reset() { hidden = [] }

  /// Takes the file's next packet, in decoding order; after `malformed`, pictures may be undecodable until the next key
  /// frame.
  public mutating func rewrite(_ packet: Span<UInt8>) -> Outcome {
    let frames = Self.frames(in: packet)
    guard let first = frames.first, let header = VP9FrameHeader(parsing: packet.extracting(first)) else {
      return .malformed
    }
    if header.isKeyFrame { hidden = [] }
    guard Self.showsAny(of: frames, in: packet) else {
      for range in frames { hidden.append([UInt8](copying: packet.extracting(range))) }
      guard hidden.count < Self.mostFrames else {
        hidden = []
        return .malformed
      }
      return .hidden
    }
    guard !hidden.isEmpty else { return Self.picture([UInt8](copying: packet), first: header) }
    var all = hidden
    for range in frames { all.append([UInt8](copying: packet.extracting(range))) }
    hidden = []
    let leader = all[0]
    guard all.count <= Self.mostFrames, let leading = VP9FrameHeader(parsing: leader.span) else { return .malformed }
    return Self.picture(Self.superframe(all), first: leading)
  }

  private static func picture(_ data: [UInt8], first: VP9FrameHeader) -> Outcome {
    .picture(Picture(data: data, isKeyFrame: first.isKeyFrame, size: first.size, profile: first.profile))
  }

  private static func showsAny(of frames: [Range<Int>], in packet: Span<UInt8>) -> Bool {
    for range in frames {
      let header = VP9FrameHeader(parsing: packet.extracting(range))
      if let header, header.isShown { return true }
    }
    return false
  }

  /// The ranges of a superframe's frames; the whole packet when it is a single frame; none when the index is wrong.
  private static func frames(in packet: Span<UInt8>) -> [Range<Int>] {
    guard packet.count > 0 else { return [] }
    let marker = packet[packet.count - 1]
    guard marker & 0xE0 == 0xC0 else { return [0..<packet.count] }
    let count = Int(marker & 7) + 1
    let sizeBytes = Int(marker >> 3 & 3) + 1
    let indexStart = packet.count - 2 - sizeBytes * count
    guard indexStart >= 0, packet[indexStart] == marker else { return [0..<packet.count] }
    var ranges: [Range<Int>] = []
    var start = 0
    for frame in 0..<count {
      var size = 0
      for byte in (0..<sizeBytes).reversed() {
        size = size << 8 | Int(packet[indexStart + 1 + frame * sizeBytes + byte])
      }
      guard size <= indexStart - start else { return [] }
      if size > 0 { ranges.append(start..<start + size) }
      start += size
    }
    return ranges
  }

  private static func superframe(_ frames: [[UInt8]]) -> [UInt8] {
    let largest = frames.map(\.count).max() ?? 0
    let sizeBytes = max(1, (largest.bitWidth - largest.leadingZeroBitCount + 7) / 8)
    let marker = UInt8(0xC0 | (sizeBytes - 1) << 3 | (frames.count - 1))
    var data: [UInt8] = []
    for frame in frames { data += frame }
    data.append(marker)
    for frame in frames {
      for byte in 0..<sizeBytes { data.append(UInt8(truncatingIfNeeded: frame.count >> (8 * byte))) }
    }
    data.append(marker)
    return data
  }
}
