import RTCPrimitives
import RTCWire

/// Fragments that wait for the rest of their messages, in the order of their numbers: of one message, or of all that are
/// told apart by their place in one sequence.
struct FragmentList {
  /// What putting in a fragment came to.
  struct Insertion {
    /// By how many bytes what is kept has grown, or shrunk.
    var growth = 0
    /// The message that is complete now.
    var message: (payloadProtocol: UInt32, bytes: [UInt8]?)?
    /// A message has just become longer than allowed; it is dropped, and its end will still be seen.
    var isOverlong = false
  }

  /// Fragments of one message that follow each other without a gap.
  private struct Piece {
    var first: Int64
    var last: Int64
    var begins: Bool
    var ends: Bool
    var stream: StreamID
    var isUnordered: Bool
    var number: UInt32
    var payloadProtocol: UInt32
    /// Nil once the message is longer than allowed.
    var bytes: [UInt8]?

    func isContinued(by next: Piece) -> Bool { isContinued(at: next.first, next.begins, next.key) }

    func isContinued(at position: Int64, _ begins: Bool, _ key: MessageKey) -> Bool {
      last + 1 == position && !ends && !begins && self.key == key
    }

    var key: MessageKey { MessageKey(stream: stream, isUnordered: isUnordered, number: number) }
    var cost: Int { FragmentList.overhead + (bytes?.count ?? 0) }
  }

  /// What keeping a piece costs beside its bytes, about.
  static let overhead = 96

  private var pieces: [Piece] = []
  var isEmpty: Bool { pieces.isEmpty }
  /// Bytes that it keeps.
  var cost: Int { pieces.reduce(0) { $0 + $1.cost } }

  /// Puts in a fragment. One whose place is taken changes nothing.
  /// - Parameters:
  ///   - position: of the fragment in the sequence.
  ///   - limit: the longest message taken.
  mutating func insert(_ data: SCTPData, _ payload: Span<UInt8>, at position: Int64, limit: Int) -> Insertion {
    var result = Insertion()
    var index = indexOfPiece(after: position)
    if index > 0, pieces[index - 1].last >= position { return result }
    if index > 0, pieces[index - 1].isContinued(at: position, data.isBeginning, MessageKey(data)) {
      index -= 1
      pieces[index].last = position
      pieces[index].ends = data.isEnd
      pieces[index].bytes?.append(payload)
      result.growth = pieces[index].bytes == nil ? 0 : payload.count
    } else {
      let piece = Piece(
        first: position, last: position, begins: data.isBeginning, ends: data.isEnd, stream: data.stream,
        isUnordered: data.isUnordered, number: data.messageNumber, payloadProtocol: data.payloadProtocol,
        bytes: [UInt8](copying: payload))
      pieces.insert(piece, at: index)
      result.growth = piece.cost
    }
    if let count = pieces[index].bytes?.count, count > limit {
      pieces[index].bytes = nil
      result.growth -= count
      result.isOverlong = true
    }
    takeMessage(around: index, limit: limit, into: &result)
    return result
  }

  /// Drops what begins at or before a place.
  /// - Returns: the bytes that this frees.
  mutating func remove(upTo position: Int64) -> Int {
    let count = indexOfPiece(after: position)
    let freed = pieces[..<count].reduce(0) { $0 + $1.cost }
    pieces.removeFirst(count)
    return freed
  }

  private func indexOfPiece(after position: Int64) -> Int {
    guard let last = pieces.last, last.first > position else { return pieces.count }
    var (low, high) = (0, pieces.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if pieces[middle].first > position { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// Takes the message out to which piece `index` belongs, if all of it is there.
  private mutating func takeMessage(around index: Int, limit: Int, into result: inout Insertion) {
    var (first, last) = (index, index)
    while !pieces[first].begins {
      guard first > 0, pieces[first - 1].isContinued(by: pieces[first]) else { return }
      first -= 1
    }
    while !pieces[last].ends {
      guard last + 1 < pieces.count, pieces[last].isContinued(by: pieces[last + 1]) else { return }
      last += 1
    }
    let payloadProtocol = pieces[first].payloadProtocol
    result.growth -= pieces[first...last].reduce(0) { $0 + $1.cost }
    result.message = (payloadProtocol, nil)
    let isWhole = pieces[first...last].allSatisfy { $0.bytes != nil }
    let size = pieces[first...last].reduce(0) { $0 + ($1.bytes?.count ?? 0) }
    if isWhole, size <= limit {
      result.message?.bytes = join(first, last, size: size)
    } else if isWhole {
      result.isOverlong = true
    }
    pieces.removeSubrange(first...last)
  }

  private mutating func join(_ first: Int, _ last: Int, size: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    swap(&bytes, &pieces[first].bytes!)
    if first == last { return bytes }
    bytes.reserveCapacity(size)
    for piece in pieces[(first + 1)...last] { bytes.append(contentsOf: piece.bytes!) }
    return bytes
  }
}
