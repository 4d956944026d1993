import RTCPrimitives

extension ByteReader {
  /// Takes the number of bytes in the next byte, or the rest.
  mutating func takeBytes() -> [UInt8] {
    let count = min(Int(readUInt8() ?? 0), remaining)
    guard let bytes = read(count) else { return [] }
    return [UInt8](copying: bytes)
  }

  /// Takes bytes as text. Invalid UTF-8 is replaced.
  mutating func takeText() -> String { String(decoding: takeBytes(), as: UTF8.self) }
}

/// The input, cut at line feeds. There is at least one line.
func fuzzLines(_ bytes: Span<UInt8>) -> [[UInt8]] {
  var lines: [[UInt8]] = [[]]
  for index in bytes.indices {
    if bytes[index] == 10 { lines.append([]) } else { lines[lines.count - 1].append(bytes[index]) }
  }
  return lines
}
