import RTCPrimitives

/// The layers of a VP9 stream, on key frames: the SS data of the payload descriptor (RFC 9628 §4.2.1).
///
/// ```
///       +-+-+-+-+-+-+-+-+
///  V:   | N_S |Y|G|-|-|-|
///       +-+-+-+-+-+-+-+-+              -\
///  Y:   |     WIDTH     | (OPTIONAL)    .
///       +               +               .
///       |               | (OPTIONAL)    .
///       +-+-+-+-+-+-+-+-+               . N_S + 1 times
///       |     HEIGHT    | (OPTIONAL)    .
///       +               +               .
///       |               | (OPTIONAL)    .
///       +-+-+-+-+-+-+-+-+              -/
///  G:   |      N_G      | (OPTIONAL)
///       +-+-+-+-+-+-+-+-+                            -\
///  N_G: | TID |U| R |-|-| (OPTIONAL)                 .
///       +-+-+-+-+-+-+-+-+              -\            . N_G times
///       |    P_DIFF     | (OPTIONAL)    . R times    .
///       +-+-+-+-+-+-+-+-+              -/           -/
/// ```
public struct VP9ScalabilityStructure: Hashable, Sendable {
  /// In pixels.
  public struct Size: Hashable, Sendable, BitwiseCopyable {
    /// The width in pixels.
    public var width: UInt16
    /// The height in pixels.
    public var height: UInt16

    /// A size of `width` by `height` pixels.
    public init(width: UInt16, height: UInt16) {
      self.width = width
      self.height = height
    }
  }

  /// One picture of the pattern in which temporal layers refer to each other.
  public struct Picture: Hashable, Sendable {
    /// TID, 0…7.
    public var temporalLayer: UInt8
    /// U: higher layers may begin here.
    public var isSwitchingUpPoint: Bool
    /// P_DIFF: how far back the pictures it refers to lie; at most three.
    public var references: [UInt8]
  }

  /// N_S + 1, 1…8.
  public private(set) var spatialLayers: Int
  /// Y: the size of each spatial layer, the lowest first; none when not said.
  public private(set) var sizes: [Size] = []
  /// G: the pattern of references; nil when not said.
  public private(set) var pictureGroup: [Picture]?

  /// One layer of this size.
  public init(size: Size) {
    spatialLayers = 1
    sizes = [size]
  }

  /// Nil when the bytes end within.
  @_lifetime(reader: copy reader)
  init?(parsing reader: inout ByteReader) {
    guard let first = reader.readUInt8() else { return nil }
    spatialLayers = Int(first >> 5) + 1
    if first & 0x10 != 0 {
      for _ in 0..<spatialLayers {
        guard let width = reader.readUInt16(), let height = reader.readUInt16() else { return nil }
        sizes.append(Size(width: width, height: height))
      }
    }
    guard first & 0x08 != 0 else { return }
    guard let count = reader.readUInt8() else { return nil }
    var pictures: [Picture] = []
    for _ in 0..<count {
      guard let picture = Self.parsePicture(&reader) else { return nil }
      pictures.append(picture)
    }
    pictureGroup = pictures
  }

  private static func parsePicture(_ reader: inout ByteReader) -> Picture? {
    guard let first = reader.readUInt8() else { return nil }
    var picture = Picture(temporalLayer: first >> 5, isSwitchingUpPoint: first & 0x10 != 0, references: [])
    for _ in 0..<(first >> 2 & 3) {
      guard let difference = reader.readUInt8() else { return nil }
      picture.references.append(difference)
    }
    return picture
  }

  /// The length `write` takes.
  var size: Int {
    let group = pictureGroup.map { $0.reduce(1) { $0 + 1 + $1.references.count } } ?? 0
    return 1 + sizes.count * 4 + group
  }

  @_lifetime(writer: copy writer)
  func write(into writer: inout ByteWriter) {
    writer.write(
      UInt8(spatialLayers - 1) << 5 | (sizes.isEmpty ? 0 : 0x10) | (pictureGroup == nil ? 0 : 0x08) as UInt8)
    for size in sizes {
      writer.write(size.width)
      writer.write(size.height)
    }
    guard let pictureGroup else { return }
    writer.write(UInt8(pictureGroup.count))
    for picture in pictureGroup {
      writer.write(
        picture.temporalLayer << 5 | (picture.isSwitchingUpPoint ? 0x10 : 0) | UInt8(picture.references.count) << 2)
      for difference in picture.references { writer.write(difference) }
    }
  }
}
