/// Cuts an H.264 frame in the byte stream format into RTP payloads (RFC 6184, packetization mode 1): a small NAL unit as
/// it is, a large one in fragments of one size (FU-A).
public struct H264Packetizer: Sendable {
  private let room: Int
  private var stream: H264ByteStream
  /// The unit that is being sent, nil after the last.
  private var unit: Range<Int>?
  private var following: Range<Int>?
  /// How the unit is cut, its first byte aside; one packet without a fragment header when it fits.
  private var fragments = PacketSplit(frameSize: 0, maximumPayload: 1)
  private var index = 0

  /// - Parameter room: the most bytes a payload may have.
  public init(_ data: Span<UInt8>, room: Int) {
    self.room = room
    stream = H264ByteStream(data)
    following = stream.nextUnit(in: data)
    begin(data)
  }

  /// True when there is nothing (more) to send: at once, where there is no NAL unit.
  public var isAtEnd: Bool { unit == nil }
  /// Bytes of the frame that are still to come.
  public func remainingBytes(of frameSize: Int) -> Int {
    unit.map { frameSize - $0.lowerBound - (index == 0 ? 0 : 1 + index * fragments.packetSize) } ?? 0
  }

  /// The next payload, nil after the last. To be called with the same bytes always.
  public mutating func next(in data: Span<UInt8>) -> PayloadPiece? {
    guard let unit else { return nil }
    guard unit.count > room else {
      begin(data)
      return PayloadPiece(prefix: PayloadPrefix(), range: unit, isLast: isAtEnd)
    }
    let part = fragments.range(of: index)
    let endsUnit = index == fragments.count - 1
    let header = data[unit.lowerBound]
    let fragment = H264FragmentationUnit(
      unit: H264NALUnitHeader(nalRefIDC: header >> 5, kind: H264NALUnitHeader.Kind(rawValue: header)),
      startsUnit: index == 0, endsUnit: endsUnit)
    let start = unit.lowerBound + 1
    if endsUnit { begin(data) } else { index += 1 }
    return PayloadPiece(
      prefix: PayloadPrefix { fragment.write(into: &$0) }, range: start + part.lowerBound..<start + part.upperBound,
      isLast: isAtEnd)
  }

  /// Moves on to the next unit.
  private mutating func begin(_ data: Span<UInt8>) {
    unit = following
    index = 0
    guard let unit else { return }
    following = stream.nextUnit(in: data)
    if unit.count > room {
      fragments = PacketSplit(frameSize: unit.count - 1, maximumPayload: room - H264FragmentationUnit.size)
    }
  }
}
