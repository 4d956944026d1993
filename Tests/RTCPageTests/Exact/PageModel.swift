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

  /// - Returns: the number to acknowledge.
  mutating func take(_ bytes: [UInt8]) -> UInt32? {
    var reader = ByteReader(bytes.span)
    let kind = reader.readUInt8()
    let timestamp = reader.readUInt32()
    if kind != 1, told == nil { return nil }
    told = timestamp
    switch kind {
    case 1:
      let (width, height) = (Int(reader.readUInt16()!), Int(reader.readUInt16()!))
      columns = (width + 15) / 16
      drawn = Array(repeating: nil, count: columns * ((height + 15) / 16))
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
      return number
    case 4:
      drawn = snapshot
      for _ in 0..<reader.readUInt16()! {
        let rect = (0..<4).map { _ in Int(reader.readUInt16()!) }
        for row in rect[1]..<rect[1] + rect[3] {
          for column in rect[0]..<rect[0] + rect[2] { drawn[row * columns + column] = nil }
        }
      }
    default: preconditionFailure("an unknown message")
    }
    return nil
  }

  /// The page was hidden, or is new.
  mutating func forget() { (drawn, told) = ([], nil) }

  /// The picture shown over the frame of this timestamp.
  func shown(upon frame: UInt32?) -> [Int?] {
    guard let frame, let told, Int32(bitPattern: frame &- told) <= 0 else { return drawn.map { _ in nil } }
    return drawn
  }
}
