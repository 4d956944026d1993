package import RTCPrimitives

/// The messages of both sides in the channel for exact pixels, version 1 of the protocol `rtcast-exact.1`: binary
/// messages, each of one of these kinds, integers in network order. The channel is reliable and ordered, and the viewer
/// relies on that order (docs/exact-pixels.md).
package enum ExactMessage {
  /// The protocol's name in the channel's DCEP message.
  package static let channelProtocol = "rtcast-exact.1"

  /// A message of the caster.
  ///
  ///     begin      1 | timestamp 32 | width 16 | height 16
  ///     void       2 | timestamp 32 | count 16 | count × (column 16 | row 16 | width 16 | height 16), in blocks
  ///     rectangle  3 | timestamp 32 | number 32 | x 16 | y 16 | width 16 | height 16 | a WebP file
  ///     snapshot   4 | timestamp 32 | count 16 | count × (column 16 | row 16 | width 16 | height 16), in blocks
  ///     cells      5 | timestamp 32 | width 16 | height 16, in pixels
  ///     keep       6 | timestamp 32 | count 16 | count × (cell 16 | slot 16 | length 16)
  ///     recall     7 | timestamp 32 | number 32 | count 16 | count × (cell 16 | slot 16 | length 16)
  ///     move       8 | timestamp 32 | number 32 | voids 16 | blocks 16 | copies 16 | patches 16
  ///                  | voids and blocks × (column 16 | row 16 | width 16 | height 16), in blocks
  ///                  | copies × (x 16 | y 16 | width 16 | height 16 | dx 16 | dy 16), in pixels
  ///                  | patches × (x 16 | y 16 | width 16 | height 16 | bytes 32) | the patches' WebP files
  ///     moves      9 | timestamp 32 | version 16 (1)
  package enum Kind: UInt8 {
    case begin = 1
    case void = 2
    case rectangle = 3
    case snapshot = 4
    case cells = 5
    case keep = 6
    case recall = 7
    case move = 8
    case moves = 9
  }

  /// Cells, row by row through the picture, and the slots of their pixels; both go up by one.
  package struct CellRun: Hashable, Sendable {
    package var cell: Int
    package var slot: Int
    package var length: Int

    package init(cell: Int, slot: Int, length: Int) { (self.cell, self.slot, self.length) = (cell, slot, length) }
  }

  /// Bytes in front of the WebP file.
  package static let rectangleHeaderSize = 17
  /// Rectangles of a `void` or `snapshot` message at most; where there are more, one holds them all.
  package static let maximumVoids = 64
  /// Rectangles of a `move` message at most, of each kind; where there are more, no such message is sent.
  package static let maximumMoveRects = 256
  /// Cells of a `recall` message at most, so that a page can say of each of them that it does not have it.
  package static let maximumRecalls = 256

  /// A picture of this size; nothing of another holds any more.
  package static func begin(_ timestamp: RTPTimestamp, _ size: PixelSize) -> [UInt8] {
    dimensions(.begin, timestamp, size)
  }

  /// These blocks have changed; together with earlier messages this covers all frames up to the timestamp.
  package static func void(_ timestamp: RTPTimestamp, _ rects: [BlockRect]) -> [UInt8] {
    blocks(.void, timestamp, rects)
  }

  /// The snapshot that the viewer named is the picture of the timestamp, but for these blocks: a rectangle of all others.
  package static func snapshot(_ timestamp: RTPTimestamp, changed rects: [BlockRect]) -> [UInt8] {
    blocks(.snapshot, timestamp, rects)
  }

  private static func dimensions(_ kind: Kind, _ timestamp: RTPTimestamp, _ size: PixelSize) -> [UInt8] {
    message(count: 9) { writer in
      writer.write(kind.rawValue)
      writer.write(timestamp.value)
      writer.write(UInt16(clamping: size.width))
      writer.write(UInt16(clamping: size.height))
    }
  }

  /// The caster can say what moved: a page that can copy it answers with `follows`.
  package static func moves(_ timestamp: RTPTimestamp) -> [UInt8] {
    message(count: 7) { writer in
      writer.write(Kind.moves.rawValue)
      writer.write(timestamp.value)
      writer.write(UInt16(1))
    }
  }

  /// A void, and rectangles whose pixels the page has elsewhere, or gets with the message.
  /// - Parameters:
  ///   - voids: these blocks have changed otherwise.
  ///   - blocks: these are exact as soon as the moves and then the patches have been drawn in them.
  package static func move(
    _ timestamp: RTPTimestamp, number: UInt32, voids: [BlockRect], blocks: [BlockRect], _ moves: [PictureMove],
    _ patches: [MovedPicture.Patch]
  ) -> [UInt8] {
    let count =
      17 + (voids.count + blocks.count) * 8 + moves.count * 12 + patches.reduce(0) { $0 + 12 + $1.webP.count }
    return message(count: count) { writer in
      writer.write(Kind.move.rawValue)
      writer.write(timestamp.value)
      writer.write(number)
      for count in [voids.count, blocks.count, moves.count, patches.count] { writer.write(UInt16(clamping: count)) }
      for rect in voids + blocks { write([rect.column, rect.row, rect.width, rect.height], into: &writer) }
      for move in moves {
        write([move.rect.x, move.rect.y, move.rect.width, move.rect.height], into: &writer)
        for value in [move.dx, move.dy] { writer.write(UInt16(bitPattern: Int16(clamping: value))) }
      }
      for patch in patches {
        write([patch.rect.x, patch.rect.y, patch.rect.width, patch.rect.height], into: &writer)
        writer.write(UInt32(clamping: patch.webP.count))
      }
      for patch in patches { writer.write(patch.webP.span) }
    }
  }

  private static func write(_ values: [Int], into writer: inout ByteWriter) {
    for value in values { writer.write(UInt16(clamping: value)) }
  }

  private static func blocks(_ kind: Kind, _ timestamp: RTPTimestamp, _ rects: [BlockRect]) -> [UInt8] {
    message(count: 7 + rects.count * 8) { writer in
      writer.write(kind.rawValue)
      writer.write(timestamp.value)
      writer.write(UInt16(clamping: rects.count))
      for rect in rects {
        for value in [rect.column, rect.row, rect.width, rect.height] { writer.write(UInt16(clamping: value)) }
      }
    }
  }

  /// Exact pixels of the picture of the timestamp, and of all later ones until they are void.
  package static func rectangle(
    _ timestamp: RTPTimestamp, number: UInt32, _ rect: PixelRect, webP: [UInt8]
  ) -> [UInt8] {
    message(count: rectangleHeaderSize + webP.count) { writer in
      writer.write(Kind.rectangle.rawValue)
      writer.write(timestamp.value)
      writer.write(number)
      for value in [rect.x, rect.y, rect.width, rect.height] { writer.write(UInt16(clamping: value)) }
      writer.write(webP.span)
    }
  }

  /// The caster can name pixels that the page keeps, in cells of this size: a page that keeps some answers with `cache`.
  package static func cells(_ timestamp: RTPTimestamp, _ size: PixelSize) -> [UInt8] {
    dimensions(.cells, timestamp, size)
  }

  /// The page keeps the pixels that these cells have now, as soon as it has drawn them, in these slots.
  package static func keep(_ timestamp: RTPTimestamp, _ runs: [CellRun]) -> [UInt8] {
    message(count: 7 + runs.count * 6) { writer in
      writer.write(Kind.keep.rawValue)
      writer.write(timestamp.value)
      write(runs, into: &writer)
    }
  }

  /// These cells are as these slots: rectangles whose pixels the page has.
  package static func recall(_ timestamp: RTPTimestamp, number: UInt32, _ runs: [CellRun]) -> [UInt8] {
    message(count: 11 + runs.count * 6) { writer in
      writer.write(Kind.recall.rawValue)
      writer.write(timestamp.value)
      writer.write(number)
      write(runs, into: &writer)
    }
  }

  private static func write(_ runs: [CellRun], into writer: inout ByteWriter) {
    writer.write(UInt16(clamping: runs.count))
    for run in runs {
      for value in [run.cell, run.slot, run.length] { writer.write(UInt16(clamping: value)) }
    }
  }

  private static func message(count: Int, _ write: (inout ByteWriter) -> Void) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    var writer = ByteWriter(span._mutatingExtracting(0..<count))
    write(&writer)
    return bytes
  }
}

/// A message of a viewer.
///
///     ready           1 | version 8 (1) | flags 8 (bit 0: the page can be seen; bit 1: a number follows) | [number 32]
///     acknowledgement 2 | number 32
///     cache           3 | slots 16
///     missing         4 | number 32 | count 16 (1…256) | count × index 16
///     follows         5
package enum ExactViewerMessage: Hashable, Sendable {
  /// The content to send: nothing while the page cannot be seen, and not the content of the snapshot with this number.
  case ready(isVisible: Bool, snapshot: UInt32? = nil)
  /// This rectangle, and those before it, have come.
  case acknowledgement(UInt32)
  /// The page keeps cells of the size that it was told, so many at once. What it kept before is discarded.
  case cache(slots: Int)
  /// An acknowledgement of a `recall` of which the page does not have these cells, counted from 0.
  case missing(UInt32, cells: [Int])
  /// The page copies what moved.
  case follows

  /// Nil for what no viewer of ours says.
  package init?(parsing bytes: Span<UInt8>) {
    var reader = ByteReader(bytes)
    switch reader.readUInt8() {
    case 1:
      guard reader.readUInt8() == 1, let flags = reader.readUInt8(), flags <= 3 else { return nil }
      var snapshot: UInt32?
      if flags & 2 != 0 {
        guard let number = reader.readUInt32() else { return nil }
        snapshot = number
      }
      self = .ready(isVisible: flags & 1 != 0, snapshot: snapshot)
    case 2:
      guard let number = reader.readUInt32() else { return nil }
      self = .acknowledgement(number)
    case 3:
      guard let slots = reader.readUInt16() else { return nil }
      self = .cache(slots: Int(slots))
    case 4:
      guard let number = reader.readUInt32(), let count = reader.readUInt16(),
        1...ExactMessage.maximumRecalls ~= Int(count)
      else { return nil }
      var cells: [Int] = []
      for _ in 0..<count {
        guard let cell = reader.readUInt16() else { return nil }
        cells.append(Int(cell))
      }
      self = .missing(number, cells: cells)
    case 5: self = .follows
    default: return nil
    }
    guard reader.isAtEnd else { return nil }
  }

  /// The message in the viewer's encoding.
  package var bytes: [UInt8] {
    switch self {
    case .ready(let isVisible, let snapshot):
      [1, 1, (isVisible ? 1 : 0) | (snapshot == nil ? 0 : 2)] + (snapshot.map(Self.bytes) ?? [])
    case .acknowledgement(let number): [2] + Self.bytes(of: number)
    case .cache(let slots): [3] + Self.bytes(of: UInt16(clamping: slots))
    case .follows: [5]
    case .missing(let number, let cells):
      [4] + Self.bytes(of: number) + ([cells.count] + cells).flatMap { Self.bytes(of: UInt16(clamping: $0)) }
    }
  }

  private static func bytes(of number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 255)] }

  private static func bytes(of number: UInt32) -> [UInt8] {
    stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}
