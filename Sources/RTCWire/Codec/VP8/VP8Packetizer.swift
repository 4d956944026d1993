/// Cuts a VP8 frame into RTP payloads (RFC 7741): the descriptor with a picture identifier of 15 bits before each part.
public struct VP8Packetizer: Sendable, BitwiseCopyable {
  /// S and a picture identifier of 15 bits.
  private static let descriptorSize = 4

  private let split: PacketSplit
  private let pictureID: VP8PictureID
  private var index = 0

  /// - Parameter room: the most bytes a payload may have.
  public init(frameSize: Int, pictureID: VP8PictureID, room: Int) {
    split = PacketSplit(frameSize: frameSize, maximumPayload: room - Self.descriptorSize)
    self.pictureID = pictureID
  }

  /// Packets that are still to come.
  public var remaining: Int { split.count - index }
  /// Bytes of the frame that are still to come.
  public func remainingBytes(of frameSize: Int) -> Int { max(0, frameSize - index * split.packetSize) }

  /// The next payload, nil after the last.
  public mutating func next() -> PayloadPiece? {
    guard index < split.count else { return nil }
    let descriptor = VP8PayloadDescriptor(startsPartition: index == 0, pictureID: pictureID)
    let piece = PayloadPiece(
      prefix: PayloadPrefix { descriptor.write(into: &$0) }, range: split.range(of: index),
      isLast: index == split.count - 1)
    index += 1
    return piece
  }
}
