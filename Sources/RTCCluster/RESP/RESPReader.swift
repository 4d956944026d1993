/// Reads values of Redis' protocol (RESP2 and RESP3) from a stream of bytes.
///
/// The bytes of a value, its depth and its elements are limited. A value that breaks a rule ends the stream: its remainder
/// cannot be found.
package struct RESPReader: Sendable {
  /// The limits of one value.
  package struct Limits: Sendable {
    /// Bytes that one value and its frames may take.
    package var bytes = 64 << 20
    /// Lists within lists.
    package var depth = 8
    /// Elements of one value, with those of its lists.
    package var elements = 1 << 20

    package init() {}
  }

  /// The way in which the stream breaks the protocol.
  package enum Fault: Error, Hashable, Sendable {
    case malformed
    /// A value exceeds a limit.
    case tooLarge
  }

  /// A list that is not complete.
  private struct Level {
    var values: [RESPValue] = []
    var missing: Int
    let kind: Kind
  }

  private enum Kind {
    case list, push
    /// Attributes (RESP3), which stand before a value and are not part of it.
    case attributes
  }

  private let limits: Limits
  private var bytes: [UInt8] = []
  /// The place of the next byte to read.
  private var next = 0
  /// Up to here there is no line feed.
  private var searched = 0
  private var levels: [Level] = []
  /// Bytes and elements of the value that is being read.
  private var valueBytes = 0
  private var valueElements = 0
  private var fault: Fault?

  package init(_ limits: Limits = Limits()) { self.limits = limits }

  /// Takes bytes of the stream.
  package mutating func append(_ more: some Sequence<UInt8>) {
    if next > 0, next == bytes.count || next > 65_536 {
      bytes.removeFirst(next)
      searched = max(0, searched - next)
      next = 0
    }
    bytes.append(contentsOf: more)
  }

  /// The next whole value; nil: more bytes are needed.
  package mutating func read() throws(Fault) -> RESPValue? {
    if let fault { throw fault }
    do throws(Fault) {
      while let value = try readPart() {
        if let whole = close(value) {
          (valueBytes, valueElements) = (0, 0)
          return whole
        }
      }
      guard valueBytes + bytes.count - next <= limits.bytes else { throw .tooLarge }
      return nil
    } catch {
      fault = error
      (bytes, levels, next, searched) = ([], [], 0, 0)
      throw error
    }
  }

  /// Puts a value into the list that is open. Returns a value that belongs to none.
  private mutating func close(_ value: RESPValue) -> RESPValue? {
    var value = value
    while let level = levels.last {
      if level.missing > 0 {
        levels[levels.count - 1].values.append(value)
        levels[levels.count - 1].missing -= 1
        guard level.missing == 1 else { return nil }
      }
      let full = levels.removeLast()
      switch full.kind {
      case .list: value = .list(full.values)
      case .push: value = .push(full.values)
      case .attributes: return nil
      }
    }
    return value
  }

  /// Reads a value without elements, or an empty list. The beginning of a list opens it.
  private mutating func readPart() throws(Fault) -> RESPValue? {
    while let line = try findLine() {
      let text = line.content
      guard let kind = text.first else { throw .malformed }
      let rest = text.dropFirst()
      switch kind {
      case UInt8(ascii: "$"), UInt8(ascii: "="), UInt8(ascii: "!"):
        return try readBulk(kind, try count(rest), after: line.end)
      case UInt8(ascii: "*"), UInt8(ascii: "~"), UInt8(ascii: "%"), UInt8(ascii: ">"), UInt8(ascii: "|"):
        let count = try count(rest)
        take(to: line.end)
        if let value = try open(kind, count) { return value }
      default:
        let value = try simple(kind, rest)
        take(to: line.end)
        return value
      }
    }
    return nil
  }

  /// Opens a list. Returns a list that has no elements, or null.
  private mutating func open(_ kind: UInt8, _ count: Int?) throws(Fault) -> RESPValue? {
    guard let count else { return .null }
    let isPaired = kind == UInt8(ascii: "%") || kind == UInt8(ascii: "|")
    let (missing, overflow) = count.multipliedReportingOverflow(by: isPaired ? 2 : 1)
    guard !overflow, missing <= limits.elements, levels.count < limits.depth else { throw .tooLarge }
    valueElements += missing
    guard valueElements <= limits.elements else { throw .tooLarge }
    let kind: Kind = kind == UInt8(ascii: ">") ? .push : kind == UInt8(ascii: "|") ? .attributes : .list
    guard kind != .push || levels.isEmpty else { throw .malformed }
    guard missing > 0 else {
      switch kind {
      case .list: return .list([])
      case .push: return .push([])
      case .attributes: return nil
      }
    }
    levels.append(Level(missing: missing, kind: kind))
    return nil
  }

  private func simple(_ kind: UInt8, _ rest: ArraySlice<UInt8>) throws(Fault) -> RESPValue {
    switch kind {
    case UInt8(ascii: "+"), UInt8(ascii: "("): return .text(Array(rest))
    case UInt8(ascii: "-"): return .error(String(decoding: rest, as: UTF8.self))
    case UInt8(ascii: ":"):
      guard let number = Int64(String(decoding: rest, as: UTF8.self)) else { throw .malformed }
      return .number(number)
    case UInt8(ascii: ","):
      guard let number = Double(String(decoding: rest, as: UTF8.self)) else { throw .malformed }
      return .double(number)
    case UInt8(ascii: "#"):
      guard rest.count == 1, let sign = rest.first, "tf".utf8.contains(sign) else { throw .malformed }
      return .bool(sign == UInt8(ascii: "t"))
    case UInt8(ascii: "_"):
      guard rest.isEmpty else { throw .malformed }
      return .null
    default: throw .malformed
    }
  }

  /// A string whose length is known. Nil: more bytes are needed.
  private mutating func readBulk(_ kind: UInt8, _ count: Int?, after start: Int) throws(Fault) -> RESPValue? {
    guard let count else {
      take(to: start)
      return .null
    }
    guard count <= limits.bytes else { throw .tooLarge }
    guard bytes.count - start >= count + 2 else { return nil }
    let end = start + count
    guard bytes[end] == 13, bytes[end + 1] == 10 else { throw .malformed }
    let content = bytes[start..<end]
    defer { take(to: end + 2) }
    switch kind {
    case UInt8(ascii: "!"): return .error(String(decoding: content, as: UTF8.self))
    case UInt8(ascii: "="):
      guard count >= 4, content[start + 3] == UInt8(ascii: ":") else { throw .malformed }
      return .text(Array(content.dropFirst(4)))
    default: return .text(Array(content))
    }
  }

  /// Nil: −1, which stands for null.
  private func count(_ digits: ArraySlice<UInt8>) throws(Fault) -> Int? {
    if digits.elementsEqual("-1".utf8) { return nil }
    guard (1...19).contains(digits.count), digits.allSatisfy({ (48...57).contains($0) }),
      let count = Int(String(decoding: digits, as: UTF8.self))
    else { throw .malformed }
    return count
  }

  /// A line without its end, and the place after it. Nil: more bytes are needed.
  private mutating func findLine() throws(Fault) -> (content: ArraySlice<UInt8>, end: Int)? {
    guard valueBytes <= limits.bytes else { throw .tooLarge }
    searched = max(searched, next)
    guard let feed = bytes[searched...].firstIndex(of: 10) else {
      searched = bytes.count
      return nil
    }
    guard feed > next, bytes[feed - 1] == 13 else { throw .malformed }
    // The line is searched for again if what follows it is not complete.
    searched = next
    return (bytes[next..<feed - 1], feed + 1)
  }

  private mutating func take(to end: Int) {
    valueBytes += end - next
    next = end
    searched = end
  }
}
