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
    let wanted = name.lowercased()
    for part in text.utf8.split(separator: UInt8(ascii: ";")) {
      let pair = Substring(part).utf8.drop(while: { $0 == 0x20 })
      guard let equals = pair.firstIndex(of: UInt8(ascii: "=")), Substring(pair[..<equals]).lowercased() == wanted
      else { continue }
      var value = Substring(pair[pair.index(after: equals)...])
      while value.utf8.last == 0x20 { value = value.dropLast() }
      return String(value)
    }
    return nil
  }

  /// The parameter as a number that fits in 32 bits.
  public func number(_ name: String) -> Int? { self[name].flatMap { $0[...].decimal(UInt32.self) }.map(Int.init) }
}
