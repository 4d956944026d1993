import RTCMedia
import RTCPrimitives
import RTCast
import Testing

@Suite struct `Video of a movement that all viewers follow` {
  private var held = HeldPicture()
  private let start = Timestamp.zero + .seconds(5)

  private func picture(_ x: Int) throws -> VideoFrame {
    let buffer = try #require(
      PixelBuffer.allocate(format: .bgra, size: PixelSize(width: 64, height: 32)) { _, _, _ in })
    let damage = [PixelRect(x: x, y: 0, width: 1, height: 1)]
    return VideoFrame(buffer: buffer, captureTime: .zero + .seconds(Int64(x)), damage: damage, colorSpace: .bt601Full)
  }

  private mutating func take(_ x: Int?, _ following: HeldPicture.Following, isNeeded: Bool = false, after: Int64) throws
    -> (picture: VideoFrame?, heldUntil: Timestamp?)
  {
    held.take(try x.map(picture), following: following, isNeeded: isNeeded, now: start + .milliseconds(after))
  }

  @Test mutating func `is encoded when the movement has ended, with all that has changed`() throws {
    for step in 0..<10 {
      let (picture, until) = try take(step, .moved, after: Int64(33 * step))
      #expect(picture == nil && until == start + .milliseconds(Int64(33 * step)) + HeldPicture.patience)
    }
    #expect(try take(nil, .none, after: 500).picture == nil, "it may go on")
    let (picture, until) = try take(nil, .none, after: 597)
    #expect(picture?.captureTime == .zero + .seconds(9) && picture?.damage?.count == 10 && until == nil)
    let replaced = (held.takeReplaced(), held.takeReplaced())
    #expect(replaced == (9, 0), "they became no frame")
    #expect(try take(nil, .none, after: 700).picture == nil)
  }

  @Test mutating func `is encoded as soon as one viewer does not follow`() throws {
    _ = try take(1, .moved, after: 0)
    let (picture, until) = try take(2, .none, after: 33)
    #expect(picture?.damage?.count == 2 && until == nil)
    #expect(try take(3, .none, after: 66).picture?.damage?.count == 1)
  }

  @Test mutating func `is encoded as soon as a frame is needed`() throws {
    _ = try take(1, .moved, after: 0)
    #expect(try take(nil, .none, isNeeded: true, after: 10).picture != nil)
    #expect(try take(2, .moved, isNeeded: true, after: 33).picture != nil)
  }

  @Test mutating func `waits no longer for pictures in which nothing moves`() throws {
    #expect(try take(0, .complete, after: 0).picture != nil, "nothing is held back")
    #expect(!held.isMovement(start))
    _ = try take(1, .moved, after: 10)
    #expect(try take(2, .complete, after: 200).heldUntil == start + .milliseconds(310))
    #expect(held.isMovement(start + .milliseconds(309)) && !held.isMovement(start + .milliseconds(310)))
    #expect(try take(3, .complete, after: 310).picture?.damage?.count == 3)
  }

  @Test mutating func `is encoded every two seconds of a movement without end`() throws {
    var encoded: [Int64] = []
    for step in 0..<200 where try take(step, .moved, after: Int64(step * 33)).picture != nil {
      encoded.append(Int64(step * 33))
    }
    #expect(encoded == [2_013, 4_059, 6_105])
  }

  @Test mutating func `is forgotten with its source`() throws {
    _ = try take(1, .moved, after: 0)
    held.clear()
    #expect(try take(nil, .none, after: 400).picture == nil)
  }
}
