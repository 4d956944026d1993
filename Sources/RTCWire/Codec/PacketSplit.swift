/// The split of a frame into packets: as few as possible, all of one size except the last, which may be shorter. With
/// equal sizes, the kernel sends a run of them as one segmented datagram (UDP GSO); with balanced sizes, the last
/// packet is not tiny.
public struct PacketSplit: Hashable, Sendable, BitwiseCopyable {
  /// The number of packets; 0 for an empty frame.
  public let count: Int
  /// The size of every packet but the last.
  public let packetSize: Int
  private let frameSize: Int

  /// - Parameters:
  ///   - frameSize: bytes to be cut, not negative.
  ///   - maximumPayload: the most a packet may carry, at least 1.
  public init(frameSize: Int, maximumPayload: Int) {
    precondition(frameSize >= 0 && maximumPayload >= 1, "PacketSplit: sizes must be positive")
    self.frameSize = frameSize
    count = (frameSize + maximumPayload - 1) / maximumPayload
    packetSize = count == 0 ? 0 : (frameSize + count - 1) / count
  }

  /// The bytes of the frame that packet `index`, below `count`, carries; never empty.
  public func range(of index: Int) -> Range<Int> {
    precondition(index >= 0 && index < count, "PacketSplit: no such packet")
    let start = index * packetSize
    return start..<min(start + packetSize, frameSize)
  }
}
