import RTCPrimitives
import RTCWire

/// The bytes of a hexadecimal dump; spaces and new lines are for the eye.
func wireBytes(_ dump: String) -> [UInt8] {
  let digits = dump.utf8.filter { $0 > 0x20 }.map { UInt8(Character(UnicodeScalar($0)).hexDigitValue!) }
  precondition(digits.count % 2 == 0, "a dump has two digits a byte")
  return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// The bytes that `body` writes into a buffer of `capacity` bytes.
func writtenBytes(capacity: Int = 1500, _ body: (inout ByteWriter) -> Void) -> [UInt8] {
  var buffer = [UInt8](repeating: 0xAA, count: capacity)
  var writer = ByteWriter(buffer.mutableSpan)
  body(&writer)
  let count = writer.offset
  return Array(buffer[..<count])
}

/// The result of `parse` for `bytes`: expectations cannot hold spans themselves.
func parsing<Value>(_ bytes: [UInt8], _ parse: (Span<UInt8>) -> Value?) -> Value? { parse(bytes.span) }

/// Hands the first packet of an RTCP datagram to `body`; nil when the datagram is malformed.
func withFirstPacket<Result>(_ datagram: [UInt8], _ body: (RTCPPacket) -> Result?) -> Result? {
  guard var compound = RTCPCompound(parsing: datagram.span), let packet = compound.next() else { return nil }
  return body(packet)
}

/// A small deterministic generator (SplitMix64), so that a failing case can be run again.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
    return z ^ z >> 31
  }
}

/// The payloads that the pieces of a frame come to, each with whether it is the last; `next` as of a frame split.
func payloads(
  of data: [UInt8], _ next: () -> PayloadPiece?
) -> [(bytes: [UInt8], isLast: Bool)] {
  var result: [(bytes: [UInt8], isLast: Bool)] = []
  while let piece = next() {
    let bytes = writtenBytes(capacity: 65_536) {
      piece.prefix.write(into: &$0)
      $0.write(data.span.extracting(piece.range))
    }
    precondition(bytes.count == piece.count)
    result.append((bytes, piece.isLast))
  }
  return result
}
