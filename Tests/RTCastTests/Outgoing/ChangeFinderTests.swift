import RTCMedia
import RTCPrimitives
import RTCast
import Testing

/// Damage that says more, or less, than what changed.
@Suite struct ChangeFinderTests {
  private static let size = PixelSize(width: 320, height: 160)
  private static let everything = [PixelRect(size)]

  /// A grey picture but for one pixel each in these blocks.
  private func frame(
    _ blocks: [(column: Int, row: Int)], damage: [PixelRect]?, size: PixelSize = ChangeFinderTests.size
  ) throws -> VideoFrame {
    let buffer = try #require(
      PixelBuffer.allocate(format: .bgra, size: size) { _, bytes, stride in
        for block in blocks { bytes[block.row * 16 * stride + block.column * 64] = 9 }
      })
    return VideoFrame(buffer: buffer, captureTime: .zero, damage: damage, colorSpace: .bt601Full)
  }

  /// One that has compared so many pictures that it trusts itself.
  private func settled() throws -> ChangeFinder {
    var finder = ChangeFinder()
    for _ in 0..<4 { _ = finder.take(try frame([], damage: nil), isAsked: false) }
    return finder
  }

  @Test(arguments: [nil, everything]) func `a caret in a picture that is painted anew is one block`(
    damage: [PixelRect]?
  ) throws {
    var finder = try settled()
    let (narrowed, changed, _) = finder.take(try frame([(3, 2)], damage: damage), isAsked: false)
    #expect(narrowed.damage == [PixelRect(x: 48, y: 32, width: 16, height: 16)])
    #expect(changed?.count == 1)
  }

  @Test func `a picture painted anew as it was has no damage`() throws {
    var finder = try settled()
    #expect(finder.take(try frame([], damage: Self.everything), isAsked: false).frame.damage == [])
  }

  @Test func `small damage is taken as it is`() throws {
    var finder = ChangeFinder()
    let small = [PixelRect(x: 1, y: 2, width: 20, height: 20)]
    for _ in 0..<8 {
      let (same, changed, _) = finder.take(try frame([(0, 0)], damage: small), isAsked: false)
      #expect(same.damage == small && changed == nil)
    }
  }

  @Test func `who asks is told the blocks, whatever the damage`() throws {
    var finder = ChangeFinder()
    let small = [PixelRect(x: 0, y: 0, width: 8, height: 8)]
    _ = finder.take(try frame([], damage: small), isAsked: true)
    let changed = finder.take(try frame([(0, 0), (9, 4)], damage: small), isAsked: true).changed
    #expect(changed?.count == 2)
    #expect(changed?.contains(column: 9, row: 4) == true)
  }

  @Test func `what moved is found for those who ask`() throws {
    func page(_ first: Int) throws -> VideoFrame {
      let size = PixelSize(width: 320, height: 320)
      let buffer = try #require(
        PixelBuffer.allocate(format: .bgra, size: size) { _, bytes, stride in
          for y in 0..<size.height {
            for x in 0..<size.width {
              bytes[y * stride + x * 4] = UInt8(truncatingIfNeeded: (y + first) * (y + first) * 31 + x * y)
            }
          }
        })
      return VideoFrame(buffer: buffer, captureTime: .zero, damage: nil, colorSpace: .bt601Full)
    }
    var finder = ChangeFinder()
    var old = try page(0)
    _ = finder.take(old, isAsked: true, findsMoves: true)
    // The page again, seven rows higher.
    let moved = try #require(
      PixelBuffer.allocate(format: .bgra, size: old.size) { _, bytes, stride in
        let source = old.buffer.bytes(ofPlane: 0)
        for y in 0..<old.size.height {
          for x in 0..<stride { bytes[y * stride + x] = source[(y + 7) % old.size.height * stride + x] }
        }
      })
    old = VideoFrame(buffer: moved, captureTime: .zero, damage: nil, colorSpace: .bt601Full)
    var without = finder
    #expect(without.take(old, isAsked: true).moved == nil)
    #expect(finder.take(old, isAsked: true, findsMoves: true).moved?.moves.map(\.dy) == [-7])
  }

  @Test func `who asks from now on is told what differs from the picture before, seen or not`() throws {
    var finder = ChangeFinder()
    finder.skip(try frame([(0, 0)], damage: nil))
    let changed = finder.take(try frame([(0, 0), (9, 4)], damage: nil), isAsked: true).changed
    #expect(changed?.count == 1)
  }

  /// A change that came with the whole row it is in, and whose damage is told with the next picture.
  @Test func `what is in the picture before its damage is told is not lost`() throws {
    var finder = ChangeFinder()
    let small = [PixelRect(x: 0, y: 0, width: 8, height: 8)]
    let early = [PixelRect(x: 144, y: 64, width: 16, height: 16)]
    _ = finder.take(try frame([], damage: Self.everything), isAsked: false)
    let first = finder.take(try frame([(0, 0), (9, 4)], damage: small), isAsked: false).frame
    #expect(first.damage?.contains(early[0]) == true, "found, though its damage is still to come")
    let second = finder.take(try frame([(0, 0), (9, 4)], damage: early), isAsked: false).frame
    #expect(second.damage?.contains(early[0]) == true, "at first damage counts too")
  }

  @Test func `a picture of another size, or of another kind, is all new`() throws {
    var finder = try settled()
    let larger = PixelSize(width: 336, height: 160)
    let (other, changed, _) = finder.take(try frame([], damage: nil, size: larger), isAsked: true)
    #expect(other.damage == nil && changed == nil)
    let planes = try #require(PixelBuffer.allocate(format: .i420, size: larger) { _, _, _ in })
    let planar = VideoFrame(buffer: planes, captureTime: .zero, damage: nil, colorSpace: .bt601Limited)
    #expect(finder.take(planar, isAsked: true).changed == nil)
  }

  @Test func `scattered changes are never told as more than was damaged`() throws {
    var finder = try settled()
    // A chessboard, which no few rectangles are.
    let blocks = (0..<10).flatMap { row in (0..<20).filter { ($0 + row) % 2 == 0 }.map { (column: $0, row: row) } }
    let damage = [PixelRect(x: 0, y: 0, width: 320, height: 159)]
    let told = try #require(finder.take(try frame(blocks, damage: damage), isAsked: false).frame.damage)
    #expect(told.reduce(0) { $0 + $1.width * $1.height } <= 320 * 160)
    for block in blocks {
      let pixel = PixelRect(x: block.column * 16, y: block.row * 16, width: 1, height: 1)
      #expect(told.contains { !$0.intersection(pixel).isEmpty })
    }
  }

  /// As in a terminal that scrolls: all that is painted changes.
  @Test func `where comparisons spare nothing, they pause, and are tried again`() throws {
    var finder = try settled()
    let blocks = (0..<10).flatMap { row in (0..<20).map { (column: $0, row: row) } }
    var compared = 0
    for number in 0..<130 {
      let picture = try frame(number % 2 == 0 ? blocks : [], damage: Self.everything)
      let (told, changed, _) = finder.take(picture, isAsked: false)
      compared += changed == nil ? 0 : 1
      #expect(told.damage?.contains(Self.everything[0]) == true)
    }
    #expect((4...8).contains(compared))
    let asked = finder.take(try frame([], damage: Self.everything), isAsked: true)
    #expect(asked.changed != nil, "a caller that asks is told")
  }

  @Test func `a narrow change after a vain comparison is taken as it is`() throws {
    var finder = try settled()
    let blocks = (0..<10).flatMap { row in (0..<20).map { (column: $0, row: row) } }
    for number in 0..<3 {
      _ = finder.take(try frame(number % 2 == 0 ? blocks : [], damage: Self.everything), isAsked: false)
    }
    let small = [PixelRect(x: 1, y: 2, width: 20, height: 20)]
    let (told, changed, _) = finder.take(try frame([], damage: small), isAsked: false)
    #expect(told.damage == small && changed == nil)
  }
}
