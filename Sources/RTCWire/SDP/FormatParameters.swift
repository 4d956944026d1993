/// The value of an `a=fmtp` line: `name=value` pairs between semicolons for most formats, free text for a few.
public struct FormatParameters: Hashable, Sendable {
  /// The value as written, without the payload type.
  public var text: String

  /// Takes the value of an `a=fmtp` line without the payload type.
  public init(_ text: String = "") { self.text = text }

  /// True when there are no parameters.
  public var isEmpty: Bool { text.isEmpty }

  /// The value of the first parameter of that name, without regard to case.
  public subscript(name: String) -> String? {
    // One pass that allocates nothing: descriptions of strangers have many of these.
    let (bytes, wanted) = (text.utf8Span.span, name.utf8Span.span)
    var start = 0
    while start < bytes.count {
      var end = start
      while end < bytes.count, bytes[end] != UInt8(ascii: ";") { end += 1 }
      while start < end, bytes[start] == 0x20 { start += 1 }
      let equals = start + wanted.count
      if equals < end, bytes[equals] == UInt8(ascii: "="),
        bytes.extracting(start..<equals).isEqualIgnoringCase(wanted)
      {
        while end > equals + 1, bytes[end - 1] == 0x20 { end -= 1 }
        return String(text.utf8Slice(equals + 1..<end))
      }
      start = end + 1
    }
    return nil
  }

  /// The parameter as a number that fits in 32 bits.
  public func number(_ name: String) -> Int? { self[name].flatMap { $0[...].decimal(UInt32.self) }.map(Int.init) }
}

extension Span<UInt8> {
  /// Compares ASCII letters without regard to case; other bytes must be equal.
  func isEqualIgnoringCase(_ other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    for index in indices where self[index] != other[index] {
      guard self[index].asciiLowercase == other[index].asciiLowercase else { return false }
    }
    return true
  }
}

extension UInt8 {
  private static let upperCase = UInt8(ascii: "A")...UInt8(ascii: "Z")

  fileprivate var asciiLowercase: UInt8 { Self.upperCase.contains(self) ? self | 0x20 : self }
}
