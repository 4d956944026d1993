/// Splits a VP9 frame of one spatial layer into RTP payloads (RFC 9628): the descriptor with a picture identifier of 15
/// bits before each part, and the picture's size, if known, before the first part of a key frame. Frames of temporal
/// layers use flexible mode, in which each lists its references.
public struct VP9Packetizer: Sendable, BitwiseCopyable {
  private let split: PacketSplit
  private let pictureID: VP9PictureID
  private let kind: Kind
  private let place: Place?
  private var index = 0

  /// The kind of the frame.
  public enum Kind: Sendable, BitwiseCopyable {
    /// Needs no other; receivers can find its size in its own bytes.
    case key(VP9ScalabilityStructure.Size?)
    case predicted
  }

  /// The position of a frame in temporal layers.
  public struct Place: Sendable, BitwiseCopyable {
    /// TID, 0…7.
    public var temporal: UInt8
    /// How far before it the pictures lie that it needs; none for a key frame, one at least for others.
    public var references: VP9References

    /// Makes a position.
    public init(temporal: UInt8, references: VP9References) {
      (self.temporal, self.references) = (temporal, references)
    }
  }

  /// - Parameters:
  ///   - place: nil in a stream without layers.
  ///   - room: the most bytes a payload may have.
  public init(frameSize: Int, kind: Kind, place: Place? = nil, pictureID: VP9PictureID, room: Int) {
    let first = Self.descriptor(pictureID, kind, place, isFirst: true, isLast: true)
    split = PacketSplit(frameSize: frameSize, maximumPayload: room - first.size)
    (self.pictureID, self.kind, self.place) = (pictureID, kind, place)
  }

  /// Packets that are still to come.
  public var remaining: Int { split.count - index }
  /// Bytes of the frame that are still to come.
  public func remainingBytes(of frameSize: Int) -> Int { max(0, frameSize - index * split.packetSize) }

  /// The next payload, nil after the last.
  public mutating func next() -> PayloadPiece? {
    guard index < split.count else { return nil }
    let isLast = index == split.count - 1
    let descriptor = Self.descriptor(pictureID, kind, place, isFirst: index == 0, isLast: isLast)
    let piece = PayloadPiece(
      prefix: PayloadPrefix { descriptor.write(into: &$0) }, range: split.range(of: index), isLast: isLast)
    index += 1
    return piece
  }

  private static func descriptor(
    _ pictureID: VP9PictureID, _ kind: Kind, _ place: Place?, isFirst: Bool, isLast: Bool
  ) -> VP9PayloadDescriptor {
    var descriptor = VP9PayloadDescriptor(
      pictureID: pictureID, isInterPredicted: true, startsFrame: isFirst, endsFrame: isLast)
    if let place {
      descriptor = VP9PayloadDescriptor(
        pictureID: pictureID, layer: .init(temporal: place.temporal, isSwitchingUpPoint: true),
        references: place.references, startsFrame: isFirst, endsFrame: isLast)
    }
    guard case .key(let size) = kind else { return descriptor }
    descriptor.isInterPredicted = false
    if isFirst, let size { descriptor.structure = VP9ScalabilityStructure(size: size) }
    return descriptor
  }
}
