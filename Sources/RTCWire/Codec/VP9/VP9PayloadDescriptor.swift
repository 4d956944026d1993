public import RTCPrimitives

/// The number of a VP9 picture: 15 bits, wrapping (RFC 9628 §4.2).
public struct VP9PictureID: Hashable, Sendable, BitwiseCopyable {
  /// 0…32,767.
  public let value: UInt16

  /// Takes the low 15 bits of `value`.
  public init(_ value: UInt16) { self.value = value & 0x7FFF }
}

/// How far before a VP9 picture those lie that it needs: P_DIFF, at most three (RFC 9628 §4.2). Inline, so that reading
/// them allocates nothing.
public struct VP9References: RandomAccessCollection, ExpressibleByArrayLiteral, Hashable, Sendable, BitwiseCopyable {
  /// The maximum number in the format.
  public static let maximumCount = 3

  private var differences = InlineArray<3, UInt8>(repeating: 0)
  /// The number of references, 0…`maximumCount`.
  public private(set) var endIndex = 0
  /// Always 0.
  public var startIndex: Int { 0 }

  /// At most `maximumCount` differences, 0…127 each.
  public init(arrayLiteral differences: UInt8...) { for each in differences { append(each) } }

  /// The difference at `index`, 0…127.
  public subscript(index: Int) -> UInt8 {
    precondition(index < endIndex, "there is no such reference")
    return differences[index]
  }

  /// Adds a difference, 0…127; there may be `maximumCount`.
  public mutating func append(_ difference: UInt8) {
    precondition(endIndex < Self.maximumCount, "a picture needs three others at most")
    differences[endIndex] = difference
    endIndex += 1
  }

  /// Equal when they name the same pictures in the same order.
  public static func == (a: Self, b: Self) -> Bool { a.elementsEqual(b) }
  /// Hashes the differences that there are.
  public func hash(into hasher: inout Hasher) { for each in self { hasher.combine(each) } }
}

/// The VP9 payload descriptor, before the payload of each packet (RFC 9628 §4.2).
///
/// ```
///         0 1 2 3 4 5 6 7
///        +-+-+-+-+-+-+-+-+
///        |I|P|L|F|B|E|V|Z| (REQUIRED)
///        +-+-+-+-+-+-+-+-+
///   I:   |M| PICTURE ID  | (REQUIRED in flexible mode)
///        +-+-+-+-+-+-+-+-+
///   M:   | EXTENDED PID  | if M
///        +-+-+-+-+-+-+-+-+
///   L:   | TID |U| SID |D|
///        +-+-+-+-+-+-+-+-+
///        |   TL0PICIDX   | not in flexible mode
///        +-+-+-+-+-+-+-+-+                             -\
///   P,F: | P_DIFF      |N| flexible mode, 1 to 3 times  .
///        +-+-+-+-+-+-+-+-+                             -/
///   V:   | SS            |
///        | ..            |
///        +-+-+-+-+-+-+-+-+
/// ```
///
/// Picture identifiers are written in 15 bits always, and read in either length.
public struct VP9PayloadDescriptor: Hashable, Sendable {
  /// The place of a frame among layers.
  public struct Layer: Hashable, Sendable, BitwiseCopyable {
    /// TID, 0…7.
    public var temporal: UInt8
    /// U: higher temporal layers may begin here.
    public var isSwitchingUpPoint: Bool
    /// SID, 0…7.
    public var spatial: UInt8
    /// D: predicted from the spatial layer below.
    public var isInterLayerPredicted: Bool
    /// TL0PICIDX: counts base-layer pictures; not in flexible mode.
    public var baseLayerIndex: UInt8?

    /// Makes the descriptor of a stream in flexible mode with one spatial layer.
    ///
    /// - Parameters:
    ///   - temporal: 0…7.
    ///   - isSwitchingUpPoint: whether later frames of higher layers need no frame before this one.
    public init(temporal: UInt8, isSwitchingUpPoint: Bool) {
      self.init(
        temporal: temporal & 7, isSwitchingUpPoint: isSwitchingUpPoint, spatial: 0, isInterLayerPredicted: false,
        baseLayerIndex: nil)
    }

    init(temporal: UInt8, isSwitchingUpPoint: Bool, spatial: UInt8, isInterLayerPredicted: Bool, baseLayerIndex: UInt8?)
    {
      (self.temporal, self.isSwitchingUpPoint, self.spatial) = (temporal, isSwitchingUpPoint, spatial)
      (self.isInterLayerPredicted, self.baseLayerIndex) = (isInterLayerPredicted, baseLayerIndex)
    }
  }

  /// I.
  public var pictureID: VP9PictureID?
  /// P: false on key frames.
  public var isInterPredicted: Bool
  /// L.
  public private(set) var layer: Layer?
  /// F: references are said for each picture.
  public private(set) var isFlexible = false
  /// B: the packet begins a frame (of one spatial layer).
  public var startsFrame: Bool
  /// E: the packet ends a frame.
  public var endsFrame: Bool
  /// Z: no higher spatial layer is predicted from this one.
  public private(set) var isNotReference = false
  /// P_DIFF, 0…127 each, at most three; in flexible mode only.
  public private(set) var references: VP9References = []
  /// V.
  public var structure: VP9ScalabilityStructure?

  /// One layer, not in flexible mode.
  public init(pictureID: VP9PictureID?, isInterPredicted: Bool, startsFrame: Bool, endsFrame: Bool) {
    self.pictureID = pictureID
    self.isInterPredicted = isInterPredicted
    self.startsFrame = startsFrame
    self.endsFrame = endsFrame
  }

  /// One spatial layer, in flexible mode.
  ///
  /// - Parameter references: how far before it the pictures lie that it needs; none on key frames.
  public init(
    pictureID: VP9PictureID, layer: Layer, references: VP9References, startsFrame: Bool, endsFrame: Bool
  ) {
    self.init(
      pictureID: pictureID, isInterPredicted: !references.isEmpty, startsFrame: startsFrame, endsFrame: endsFrame)
    self.layer = layer
    self.references = references
    isFlexible = true
  }

  /// Reads the descriptor at the start of a payload; nil when the payload ends within or breaks a rule. The reader is
  /// left at the VP9 data.
  @_lifetime(reader: copy reader)
  public init?(parsing reader: inout ByteReader) {
    guard let first = reader.readUInt8() else { return nil }
    self.init(
      pictureID: nil, isInterPredicted: first & 0x40 != 0, startsFrame: first & 0x08 != 0, endsFrame: first & 0x04 != 0)
    isFlexible = first & 0x10 != 0
    isNotReference = first & 0x01 != 0
    if first & 0x80 != 0 {
      guard let high = reader.readUInt8() else { return nil }
      if high & 0x80 != 0 {
        guard let low = reader.readUInt8() else { return nil }
        pictureID = VP9PictureID(UInt16(high & 0x7F) << 8 | UInt16(low))
      } else {
        pictureID = VP9PictureID(UInt16(high))
      }
    }
    if first & 0x20 != 0, !parseLayer(&reader) { return nil }
    if isFlexible, isInterPredicted, !parseReferences(&reader) { return nil }
    if first & 0x02 != 0 {
      guard let said = VP9ScalabilityStructure(parsing: &reader) else { return nil }
      structure = said
    }
  }

  private mutating func parseLayer(_ reader: inout ByteReader) -> Bool {
    guard let byte = reader.readUInt8() else { return false }
    layer = Layer(
      temporal: byte >> 5, isSwitchingUpPoint: byte & 0x10 != 0, spatial: byte >> 1 & 7,
      isInterLayerPredicted: byte & 1 != 0, baseLayerIndex: nil)
    if !isFlexible {
      guard let index = reader.readUInt8() else { return false }
      layer?.baseLayerIndex = index
    }
    return true
  }

  private mutating func parseReferences(_ reader: inout ByteReader) -> Bool {
    while references.count < VP9References.maximumCount {
      guard let byte = reader.readUInt8() else { return false }
      references.append(byte >> 1)
      if byte & 1 == 0 { return true }
    }
    return false  // a fourth is announced
  }

  /// The length `write` takes.
  public var size: Int {
    1 + (pictureID == nil ? 0 : 2) + (layer == nil ? 0 : isFlexible ? 1 : 2) + references.count + (structure?.size ?? 0)
  }

  /// True on the first packet of a picture.
  public var startsPicture: Bool { startsFrame && layer?.spatial ?? 0 == 0 }
  /// True on the first packet of a key frame.
  public var startsKeyFrame: Bool { startsPicture && !isInterPredicted }

  /// Writes the descriptor, `size` bytes; the VP9 data follow.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) {
    var first: UInt8 = (pictureID == nil ? 0 : 0x80) | (isInterPredicted ? 0x40 : 0) | (layer == nil ? 0 : 0x20)
    first |= (isFlexible ? 0x10 : 0) | (startsFrame ? 0x08 : 0) | (endsFrame ? 0x04 : 0)
    writer.write(first | (structure == nil ? 0 : 0x02) | (isNotReference ? 0x01 : 0))
    if let pictureID { writer.write(0x8000 | pictureID.value) }
    if let layer {
      writer.write(
        layer.temporal << 5 | (layer.isSwitchingUpPoint ? 0x10 : 0) | layer.spatial << 1
          | (layer.isInterLayerPredicted ? 1 : 0))
      if let index = layer.baseLayerIndex { writer.write(index) }
    }
    for (index, difference) in references.enumerated() {
      writer.write(difference << 1 | (index + 1 < references.count ? 1 : 0))
    }
    structure?.write(into: &writer)
  }
}
