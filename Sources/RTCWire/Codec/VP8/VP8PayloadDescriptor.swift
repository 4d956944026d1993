public import RTCPrimitives

/// The number of a VP8 frame: 15 bits, wrapping (RFC 7741 §4.2).
public struct VP8PictureID: Hashable, Sendable, BitwiseCopyable {
  /// 0…32,767.
  public let value: UInt16

  /// Takes the low 15 bits of `value`.
  public init(_ value: UInt16) { self.value = value & 0x7FFF }

  /// The number of the frame after this one.
  public var next: VP8PictureID { VP8PictureID(value &+ 1) }
}

/// The VP8 payload descriptor, before the payload of each packet (RFC 7741 §4.2).
///
/// ```
///        0 1 2 3 4 5 6 7
///       +-+-+-+-+-+-+-+-+
///       |X|R|N|S|R| PID |
///       +-+-+-+-+-+-+-+-+
///  X:   |I|L|T|K| RSV   |
///       +-+-+-+-+-+-+-+-+
///  I:   |M| PictureID   |
///       +-+-+-+-+-+-+-+-+
///       |   PictureID   |  if M
///       +-+-+-+-+-+-+-+-+
///  L:   |   TL0PICIDX   |
///       +-+-+-+-+-+-+-+-+
///  T/K: |TID|Y| KEYIDX  |
///       +-+-+-+-+-+-+-+-+
/// ```
///
/// Picture identifiers are written in 15 bits always, and read in either length.
public struct VP8PayloadDescriptor: Hashable, Sendable, BitwiseCopyable {
  /// The place of a frame among temporal layers.
  public struct TemporalLayer: Hashable, Sendable, BitwiseCopyable {
    /// TID, 0…3.
    public let index: UInt8
    /// Y: the frame depends on the base layer only.
    public let isSync: Bool

    /// Takes the low two bits of `index`.
    public init(index: UInt8, isSync: Bool) {
      self.index = index & 3
      self.isSync = isSync
    }
  }

  /// The longest descriptor this type writes.
  public static let maximumSize = 6

  /// N: no other frame depends on this one.
  public var isNonReference: Bool
  /// S: the packet begins a partition.
  public var startsPartition: Bool
  /// PID: the partition the packet begins in, 0…7.
  public var partition: UInt8
  /// The frame's number; nil when it is not said.
  public var pictureID: VP8PictureID?
  /// TL0PICIDX: counts base-layer frames.
  public var baseLayerIndex: UInt8?
  /// TID and Y: the frame's place among temporal layers; nil when it is not said.
  public var temporalLayer: TemporalLayer?
  /// KEYIDX, 0…31: counts key frames.
  public var keyFrameIndex: UInt8?

  /// - Parameters:
  ///   - partition: 0…7; larger values lose their upper bits.
  ///   - keyFrameIndex: 0…31; larger values lose their upper bits.
  public init(
    startsPartition: Bool, partition: UInt8 = 0, isNonReference: Bool = false, pictureID: VP8PictureID? = nil,
    baseLayerIndex: UInt8? = nil, temporalLayer: TemporalLayer? = nil, keyFrameIndex: UInt8? = nil
  ) {
    self.isNonReference = isNonReference
    self.startsPartition = startsPartition
    self.partition = partition & 7
    self.pictureID = pictureID
    self.baseLayerIndex = baseLayerIndex
    self.temporalLayer = temporalLayer
    self.keyFrameIndex = keyFrameIndex.map { $0 & 0x1F }
  }

  /// Reads the descriptor at the start of a payload; nil when the payload ends within. The reader is left at the VP8 data.
  @_lifetime(reader: copy reader)
  public init?(parsing reader: inout ByteReader) {
    guard let first = reader.readUInt8() else { return nil }
    self.init(startsPartition: first & 0x10 != 0, partition: first & 7, isNonReference: first & 0x20 != 0)
    guard first & 0x80 != 0 else { return }
    guard let fields = reader.readUInt8() else { return nil }
    if fields & 0x80 != 0 {
      guard let high = reader.readUInt8() else { return nil }
      if high & 0x80 != 0 {
        guard let low = reader.readUInt8() else { return nil }
        pictureID = VP8PictureID(UInt16(high & 0x7F) << 8 | UInt16(low))
      } else {
        pictureID = VP8PictureID(UInt16(high))
      }
    }
    if fields & 0x40 != 0 {
      guard let index = reader.readUInt8() else { return nil }
      baseLayerIndex = index
    }
    if fields & 0x30 != 0 {
      guard let last = reader.readUInt8() else { return nil }
      if fields & 0x20 != 0 { temporalLayer = TemporalLayer(index: last >> 6, isSync: last & 0x20 != 0) }
      if fields & 0x10 != 0 { keyFrameIndex = last & 0x1F }
    }
  }

  /// The length `write` takes, 1…6 bytes.
  public var size: Int {
    guard isExtended else { return 1 }
    return 2 + (pictureID == nil ? 0 : 2) + (baseLayerIndex == nil ? 0 : 1) + (hasLayerByte ? 1 : 0)
  }

  /// True on the first packet of a frame.
  public var startsFrame: Bool { startsPartition && partition == 0 }

  /// Writes the descriptor, `size` bytes; the VP8 data follow.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) {
    writer.write(
      (isExtended ? 0x80 : 0) | (isNonReference ? 0x20 : 0) | (startsPartition ? 0x10 : 0) | (partition & 7) as UInt8)
    guard isExtended else { return }
    writer.write(
      (pictureID == nil ? 0 : 0x80) | (baseLayerIndex == nil ? 0 : 0x40) | (temporalLayer == nil ? 0 : 0x20)
        | (keyFrameIndex == nil ? 0 : 0x10) as UInt8)
    if let pictureID { writer.write(0x8000 | pictureID.value) }
    if let baseLayerIndex { writer.write(baseLayerIndex) }
    if hasLayerByte {
      let layer = temporalLayer.map { $0.index << 6 | ($0.isSync ? 0x20 : 0) } ?? 0
      writer.write(layer | (keyFrameIndex ?? 0) & 0x1F)
    }
  }

  private var hasLayerByte: Bool { temporalLayer != nil || keyFrameIndex != nil }
  private var isExtended: Bool { pictureID != nil || baseLayerIndex != nil || hasLayerByte }
}
