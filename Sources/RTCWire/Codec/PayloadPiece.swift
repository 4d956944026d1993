public import RTCPrimitives

/// The bytes before a packet's part of the frame: payload descriptors, fragment headers, small units before a large
/// one. Inline, so that a packet needs no allocation.
public struct PayloadPrefix: Sendable, BitwiseCopyable {
  /// The most bytes a prefix can hold.
  public static let capacity = 31

  private var bytes = InlineArray<31, UInt8>(repeating: 0)
  private var length: UInt8 = 0

  /// An empty prefix.
  public init() {}

  /// Takes what `write` writes, at most `capacity` bytes.
  init(_ write: (inout ByteWriter) -> Void) {
    var span = bytes.mutableSpan
    var writer = ByteWriter(span._mutatingExtracting(0..<Self.capacity))
    write(&writer)
    length = UInt8(writer.offset)
  }

  /// The prefix's length in bytes, 0…`capacity`.
  public var count: Int { Int(length) }

  /// The byte at `index`, below `count`.
  public subscript(index: Int) -> UInt8 {
    get { bytes[index] }
    set { bytes[index] = newValue }
  }

  /// Appends a byte; there must be room.
  mutating func append(_ byte: UInt8) {
    bytes[count] = byte
    length += 1
  }

  /// Writes the prefix, `count` bytes.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) { writer.write(bytes.span.extracting(0..<count)) }
}

/// The payload of one RTP packet of a frame: a few bytes of its own, then a range of the frame's bytes.
public struct PayloadPiece: Sendable {
  /// The bytes before those of the frame.
  public var prefix: PayloadPrefix
  /// Into the frame's bytes; may be empty when the prefix holds all there is.
  public var range: Range<Int>
  /// The frame ends with this packet, which gets the marker bit.
  public var isLast: Bool

  /// A payload of `prefix` and the frame's bytes in `range`.
  public init(prefix: PayloadPrefix, range: Range<Int>, isLast: Bool) {
    self.prefix = prefix
    self.range = range
    self.isLast = isLast
  }

  /// Bytes of payload.
  public var count: Int { prefix.count + range.count }
}

extension [UInt8] {
  package mutating func append(_ prefix: PayloadPrefix) {
    for index in 0..<prefix.count { append(prefix[index]) }
  }
}
