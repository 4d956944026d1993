package import RTCPrimitives

/// Writes the values of a message between processes, in network byte order.
package struct MessageWriter {
  package private(set) var bytes: [UInt8] = []

  /// - Parameter capacity: bytes that there is room for at once; a picture's description needs no more than the default.
  package init(kind: UInt8, capacity: Int = 128) {
    bytes.reserveCapacity(capacity)
    bytes.append(kind)
  }

  package mutating func write(_ value: UInt8) { bytes.append(value) }
  package mutating func write(_ value: Bool) { bytes.append(value ? 1 : 0) }
  package mutating func write(_ value: UInt64) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }
  package mutating func write(_ value: Int64) { write(UInt64(bitPattern: value)) }
  package mutating func write(_ value: Int) { write(Int64(value)) }
  package mutating func write(_ value: Double) { write(value.bitPattern) }
  package mutating func write(_ values: [UInt8]) {
    write(values.count)
    bytes.append(contentsOf: values)
  }
  package mutating func write(_ text: String) {
    let utf8 = text.utf8.prefix(8192)
    write(utf8.count)
    bytes.append(contentsOf: utf8)
  }
  package mutating func write(_ samples: [Float]) {
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
  package mutating func readInt() -> Int? { readUInt64().map { Int(truncatingIfNeeded: $0) } }
  package mutating func readInt64() -> Int64? { readUInt64().map { Int64(bitPattern: $0) } }
  package mutating func readDouble() -> Double? { readUInt64().map { Double(bitPattern: $0) } }
  package mutating func readBool() -> Bool? { readUInt8().map { $0 != 0 } }

  package mutating func readText() -> String? {
    guard let count = readInt(), (0...8192).contains(count), let bytes = read(count) else { return nil }
    return String(decoding: [UInt8](copying: bytes), as: UTF8.self)
  }

  package mutating func readSamples() -> [Float]? {
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
