import RTCPrimitives

extension ByteReader {
  /// As many bytes as the next one says, or as there are.
  mutating func takeBytes() -> [UInt8] {
    let count = min(Int(readUInt8() ?? 0), remaining)
    guard let bytes = read(count) else { return [] }
    return [UInt8](copying: bytes)
  }

  /// The same as text. What is not UTF-8 is replaced.
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
