package import RTCPrimitives

/// Multicast DNS (RFC 6762) as far as host names need it: a question for the addresses of one name, and the addresses in an
/// answer. Names are compared without regard to ASCII case.
package enum MDNSMessage {
  /// 5353 (RFC 6762 §3).
  package static let port: UInt16 = 5_353
  /// 224.0.0.251.
  package static let groupV4 = IPAddress.v4(0xE000_00FB)
  /// ff02::fb, on the link of this interface.
  package static func groupV6(interface: UInt32) -> IPAddress {
    .v6(high: 0xFF02_0000_0000_0000, low: 0xFB, scope: interface)
  }

  private enum RecordType {
    static let a: UInt16 = 1
    static let aaaa: UInt16 = 28
  }
  private static let internet: UInt16 = 1
  /// In the class of an answer: it replaces others (RFC 6762 §10.2). In a question: a unicast answer is wanted (§5.4).
  private static let topBit: UInt16 = 0x8000
  /// No answer that concerns us has more records; names in it jump at most so often.
  private static let maximumRecords = 64
  private static let maximumJumps = 16

  /// A question for the IPv4 and the IPv6 addresses of `name`; nil when it is no host name.
  package static func question(for name: String) -> [UInt8]? {
    guard let encoded = encode(name) else { return nil }
    // No number, no flags, two questions.
    var out: [UInt8] = [0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0]
    for type in [RecordType.a, RecordType.aaaa] {
      out += encoded
      out += [UInt8(type >> 8), UInt8(type & 0xFF), 0, UInt8(internet)]
    }
    return out
  }

  /// The addresses of names in an answer.
  /// - Returns: names in lower case with addresses, in the order of the answer; empty for a question, and for a
  ///   malformed message.
  package static func addresses(in message: Span<UInt8>) -> [(name: String, address: IPAddress)] {
    guard message.count >= 12, message[2] & 0x80 != 0, message[3] & 0x0F == 0 else { return [] }
    guard
      number(message, at: 4) + number(message, at: 6) + number(message, at: 8) + number(message, at: 10)
        <= maximumRecords
    else { return [] }
    var place = 12
    for _ in 0..<number(message, at: 4) {
      guard let (_, end) = decodeName(message, at: place), end + 4 <= message.count else { return [] }
      place = end + 4
    }
    var found: [(String, IPAddress)] = []
    for _ in 0..<number(message, at: 6) + number(message, at: 8) + number(message, at: 10) {
      guard let (name, end) = decodeName(message, at: place), end + 10 <= message.count else { return found }
      let length = number(message, at: end + 8)
      guard end + 10 + length <= message.count else { return found }
      if UInt16(number(message, at: end + 2)) & ~topBit == internet,
        let address = address(UInt16(number(message, at: end)), message.extracting(end + 10..<end + 10 + length))
      {
        found.append((name, address))
      }
      place = end + 10 + length
    }
    return found
  }

  private static func number(_ message: Span<UInt8>, at place: Int) -> Int {
    Int(message[place]) << 8 | Int(message[place + 1])
  }

  private static func address(_ type: UInt16, _ data: Span<UInt8>) -> IPAddress? {
    var words: (high: UInt64, low: UInt64) = (0, 0)
    for index in data.indices {
      words = (words.high << 8 | words.low >> 56, words.low << 8 | UInt64(data[index]))
    }
    switch (type, data.count) {
    case (RecordType.a, 4): return .v4(UInt32(words.low))
    case (RecordType.aaaa, 16): return .v6(high: words.high, low: words.low, scope: 0)
    default: return nil
    }
  }

  /// Labels of 1…63 bytes, 255 in all (RFC 1035 §2.3.4).
  private static func encode(_ name: String) -> [UInt8]? {
    let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard labels.allSatisfy({ (1...63).contains($0.count) }) else { return nil }
    var encoded: [UInt8] = []
    for label in labels { encoded += [UInt8(label.count)] + label }
    encoded.append(0)
    return encoded.count <= 255 ? encoded : nil
  }

  /// A name in small letters, and the place behind it. Pointers lead backwards only (RFC 1035 §4.1.4).
  private static func decodeName(_ message: Span<UInt8>, at start: Int) -> (String, end: Int)? {
    var text: [UInt8] = []
    var (place, end, jumps) = (start, Int?.none, 0)
    while place < message.count {
      let length = Int(message[place])
      switch length >> 6 {
      case 0 where length == 0: return (String(decoding: text, as: UTF8.self), end ?? place + 1)
      case 0:
        guard place + 1 + length < message.count, text.count + length < 255 else { return nil }
        if !text.isEmpty { text.append(UInt8(ascii: ".")) }
        for byte in place + 1...place + length {
          let letter = message[byte]
          text.append((0x41...0x5A).contains(letter) ? letter | 0x20 : letter)
        }
        place += 1 + length
      case 3:
        guard place + 1 < message.count, jumps < maximumJumps else { return nil }
        end = end ?? place + 2
        jumps += 1
        place = (length & 0x3F) << 8 | Int(message[place + 1])
      default: return nil
      }
    }
    return nil
  }
}
