import RTCPage
import RTCPrimitives

/// A model of the page's handling of messages, by the rules of docs/exact-pixels.md; `exact.js` is the real one.
struct PageModel {
  /// The pixels of each block, as a number that the test gave them; nil: not drawn.
  private(set) var drawn: [Int?] = []
  private(set) var columns = 0
  private var told: UInt32?
  private(set) var received: [UInt32] = []
  /// The whole picture that it got beside the channel, and named when it was ready.
  var snapshot: [Int] = []
  /// The number of cells that it keeps; nil: it does not know of cells.
  var slots: Int?
  /// Whether it copies what moved.
  var follows = false
  /// Blocks that were drawn of what moved.
  private(set) var copied = 0
  /// The page keeps all but one of so many cells; 0: all.
  var losesOneOf = 0
  private var kept: [Int: [Int?]] = [:]
  private var keeps = 0
  /// The number of cells that were recalled, and of those that it did not have.
  private(set) var recalled = 0
  private(set) var missed = 0
  /// Bytes of all messages.
  private(set) var bytes = 0

  /// - Returns: the answer.
  mutating func take(_ bytes: [UInt8]) -> ExactViewerMessage? {
    self.bytes += bytes.count
    var reader = ByteReader(bytes.span)
    let kind = reader.readUInt8()
    let timestamp = reader.readUInt32()
    if kind == 9 { return follows ? .follows : nil }
    if kind != 1, kind != 5, told == nil {
      return kind == 7 || kind == 8 ? reader.readUInt32().map { .acknowledgement($0) } : nil
    }
    if kind != 5 { told = timestamp }
    switch kind {
    case 1:
      let (width, height) = (Int(reader.readUInt16()!), Int(reader.readUInt16()!))
      columns = (width + 15) / 16
      drawn = Array(repeating: nil, count: columns * ((height + 15) / 16))
      kept = [:]
    case 2:
      for _ in 0..<reader.readUInt16()! {
        let rect = (0..<4).map { _ in Int(reader.readUInt16()!) }
        for row in rect[1]..<rect[1] + rect[3] {
          for column in rect[0]..<rect[0] + rect[2] { drawn[row * columns + column] = nil }
        }
      }
    case 3:
      let number = reader.readUInt32()!
      let rect = (0..<4).map { _ in Int(reader.readUInt16()!) }
      // In the place of a WebP file: two bytes a block.
      for row in rect[1] / 16..<(rect[1] + rect[3] + 15) / 16 {
        for column in rect[0] / 16..<(rect[0] + rect[2] + 15) / 16 {
          drawn[row * columns + column] = Int(reader.readUInt16()!)
        }
      }
      precondition(reader.isAtEnd)
      received.append(number)
      return .acknowledgement(number)
    case 4:
      drawn = snapshot
      for _ in 0..<reader.readUInt16()! {
        let rect = (0..<4).map { _ in Int(reader.readUInt16()!) }
        for row in rect[1]..<rect[1] + rect[3] {
          for column in rect[0]..<rect[0] + rect[2] { drawn[row * columns + column] = nil }
        }
      }
    case 5:
      precondition(bytes[5...] == [0, 128, 0, 64])
      return slots.map { .cache(slots: $0) }
    case 6:
      for (cell, slot) in cells(&reader) {
        precondition(slot < slots ?? 0)
        keeps += 1
        let pixels = blocks(of: cell).map { drawn[$0] }
        kept[slot] = losesOneOf > 0 && keeps % losesOneOf == 0 || pixels.contains(nil) ? nil : pixels
      }
    case 7:
      let number = reader.readUInt32()!
      var missing: [Int] = []
      for (index, (cell, slot)) in cells(&reader).enumerated() {
        recalled += 1
        guard let pixels = kept[slot] else {
          missing.append(index)
          continue
        }
        for (block, content) in zip(blocks(of: cell), pixels) { drawn[block] = content }
      }
      missed += missing.count
      return missing.isEmpty ? .acknowledgement(number) : .missing(number, cells: missing)
    case 8: return .acknowledgement(move(&reader))
    default: preconditionFailure("an unknown message")
    }
    return nil
  }

  /// Whole blocks have moved by whole blocks. In the place of a patch's WebP file: two bytes a block.
  private mutating func move(_ reader: inout ByteReader) -> UInt32 {
    func values(_ count: Int) -> [Int] { (0..<count).map { _ in Int(reader.readUInt16()!) } }
    let number = reader.readUInt32()!
    let counts = values(4)
    let voids = (0..<counts[0]).map { _ in values(4) }
    let blocks = (0..<counts[1]).map { _ in values(4) }
    let copies = (0..<counts[2]).map { _ in
      values(4).map { $0 / 16 } + values(2).map { Int(Int16(truncatingIfNeeded: $0)) / 16 }
    }
    let patches = (0..<counts[3]).map { _ in
      let rect = values(4)
      precondition(reader.readUInt32() != nil)
      return [rect[0] / 16, rect[1] / 16, (rect[2] + 15) / 16, (rect[3] + 15) / 16]
    }
    func each(_ rect: [Int], _ body: (_ column: Int, _ row: Int) -> Void) {
      for row in rect[1]..<rect[1] + rect[3] { for column in rect[0]..<rect[0] + rect[2] { body(column, row) } }
    }
    var made = drawn
    for copy in copies {
      each(copy) { column, row in
        guard column < columns, row < drawn.count / columns else { return }
        made[row * columns + column] = drawn[(row - copy[5]) * columns + column - copy[4]]
      }
    }
    for patch in patches {
      each(patch) { column, row in made[row * columns + column] = Int(reader.readUInt16()!) }
    }
    precondition(reader.isAtEnd)
    for rect in voids { each(rect) { drawn[$1 * columns + $0] = nil } }
    for rect in blocks {
      each(rect) { column, row in
        drawn[row * columns + column] = made[row * columns + column]
        copied += 1
      }
    }
    return number
  }

  private func cells(_ reader: inout ByteReader) -> [(cell: Int, slot: Int)] {
    (0..<reader.readUInt16()!).flatMap { _ in
      let run = (0..<3).map { _ in Int(reader.readUInt16()!) }
      return (0..<run[2]).map { (run[0] + $0, run[1] + $0) }
    }
  }

  /// The blocks of a cell of 128 × 64 pixels.
  private func blocks(of cell: Int) -> [Int] {
    let perRow = (columns + 7) / 8
    let (column, row) = (cell % perRow * 8, cell / perRow * 4)
    return (row..<min(row + 4, drawn.count / columns)).flatMap { row in
      (column..<min(column + 8, columns)).map { row * columns + $0 }
    }
  }

  /// The browser has taken the memory back.
  mutating func discard() { kept = [:] }

  /// The page was hidden, or is new.
  mutating func forget() { (drawn, told, kept) = ([], nil, [:]) }

  /// The picture shown over the frame of this timestamp.
  func shown(upon frame: UInt32?) -> [Int?] {
    guard let frame, let told, Int32(bitPattern: frame &- told) <= 0 else { return drawn.map { _ in nil } }
    return drawn
  }
}
