import RTCPrimitives

/// Writes the values of a message between a plugin's process and ours, in network byte order.
struct MessageWriter {
  private(set) var bytes: [UInt8] = []

  init(kind: UInt8) { bytes.append(kind) }

  mutating func write(_ value: UInt8) { bytes.append(value) }
  mutating func write(_ value: Bool) { bytes.append(value ? 1 : 0) }
  mutating func write(_ value: UInt64) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }
  mutating func write(_ value: Int64) { write(UInt64(bitPattern: value)) }
  mutating func write(_ value: Int) { write(Int64(value)) }
  mutating func write(_ value: Double) { write(value.bitPattern) }
  mutating func write(_ text: String) {
    let utf8 = text.utf8.prefix(8192)
    write(utf8.count)
    bytes.append(contentsOf: utf8)
  }
  mutating func write(_ samples: [Float]) {
    write(samples.count)
    for sample in samples {
      let bits = sample.bitPattern
      bytes.append(UInt8(truncatingIfNeeded: bits >> 24))
      bytes.append(UInt8(truncatingIfNeeded: bits >> 16))
      bytes.append(UInt8(truncatingIfNeeded: bits >> 8))
      bytes.append(UInt8(truncatingIfNeeded: bits))
    }
  }
}

/// Reads them again; the other process is not trusted, so everything may be missing.
extension ByteReader {
  mutating func readInt() -> Int? { readUInt64().map { Int(truncatingIfNeeded: $0) } }
  mutating func readInt64() -> Int64? { readUInt64().map { Int64(bitPattern: $0) } }
  mutating func readDouble() -> Double? { readUInt64().map { Double(bitPattern: $0) } }
  mutating func readBool() -> Bool? { readUInt8().map { $0 != 0 } }

  mutating func readText() -> String? {
    guard let count = readInt(), (0...8192).contains(count), let bytes = read(count) else { return nil }
    return String(decoding: [UInt8](copying: bytes), as: UTF8.self)
  }

  mutating func readSamples() -> [Float]? {
    guard let count = readInt(), (0...16_384).contains(count) else { return nil }
    var samples: [Float] = []
    samples.reserveCapacity(count)
    for _ in 0..<count {
      guard let bits = readUInt32() else { return nil }
      let sample = Float(bitPattern: bits)
      samples.append(sample.isFinite ? sample : 0)
    }
    return samples
  }
}
