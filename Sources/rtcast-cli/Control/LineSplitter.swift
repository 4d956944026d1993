/// Splits a stream of bytes into lines. Memory is bounded: a line that is too long is reported once, at its end, and
/// discarded.
package struct LineSplitter: Sendable {
  package struct Line: Hashable, Sendable {
    /// From 1; blank lines count.
    package var number: Int
    /// The line without line feed and carriage return; nil: too long.
    package var bytes: [UInt8]?
  }

  /// Lines that have ended, blank ones among them.
  package private(set) var count = 0

  private let longestLine: Int
  private var line: [UInt8] = []
  private var isTooLong = false

  /// - Parameter longestLine: in bytes, line feed left out.
  package init(longestLine: Int) { self.longestLine = longestLine }

  /// The lines that `bytes` complete, blank ones left out.
  package mutating func take(_ bytes: some Sequence<UInt8>) -> [Line] {
    var lines: [Line] = []
    for byte in bytes {
      if byte == 0x0A {
        if let line = endLine() { lines.append(line) }
      } else if line.count < longestLine {
        line.append(byte)
      } else {
        isTooLong = true
      }
    }
    return lines
  }

  /// The text after the last line feed, at the end of the input; nil if it is empty or blank.
  package mutating func end() -> Line? { line.isEmpty ? nil : endLine() }

  private mutating func endLine() -> Line? {
    defer {
      line.removeAll(keepingCapacity: true)
      isTooLong = false
    }
    count += 1
    if isTooLong { return Line(number: count, bytes: nil) }
    if line.last == 0x0D { line.removeLast() }
    return line.allSatisfy { $0 == 0x20 || $0 == 0x09 } ? nil : Line(number: count, bytes: line)
  }
}
