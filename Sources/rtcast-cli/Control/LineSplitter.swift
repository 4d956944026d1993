/// Cuts bytes into lines, however they come in pieces. Memory stays bounded: a line that is too long is told of once,
/// where it ends, and let go.
package struct LineSplitter: Sendable {
  package enum Line: Hashable, Sendable {
    case text([UInt8])
    case tooLong
  }

  /// In bytes, line feed left out.
  package static let longestLine = 64 * 1_024

  private var line: [UInt8] = []
  private var isTooLong = false

  package init() {}

  /// The lines that `bytes` complete, blank ones left out. A carriage return before the line feed belongs to neither.
  package mutating func take(_ bytes: some Sequence<UInt8>) -> [Line] {
    var lines: [Line] = []
    for byte in bytes {
      if byte == 0x0A {
        if let line = end() { lines.append(line) }
      } else if line.count < Self.longestLine {
        line.append(byte)
      } else {
        isTooLong = true
      }
    }
    return lines
  }

  /// What stands after the last line feed, at the end of the input; nil when that is nothing.
  package mutating func end() -> Line? {
    defer {
      line.removeAll(keepingCapacity: true)
      isTooLong = false
    }
    if isTooLong { return .tooLong }
    if line.last == 0x0D { line.removeLast() }
    return line.allSatisfy { $0 == 0x20 || $0 == 0x09 } ? nil : .text(line)
  }
}
