/// A value of Redis' protocol, RESP2 or RESP3, as far as a hub needs it.
package enum RESPValue: Sendable, Equatable {
  /// A simple or bulk string, a verbatim string without its format, or a big number.
  case text([UInt8])
  case number(Int64)
  case double(Double)
  case bool(Bool)
  case null
  /// An error: its code in capital letters, a blank, and a sentence.
  case error(String)
  /// A list or set, or the keys and values of a map in turn.
  case list([RESPValue])
  /// Data that no command asked for, such as a message of a channel.
  case push([RESPValue])

  /// The text of a string that is UTF-8.
  package var string: String? {
    if case .text(let bytes) = self { String(validating: bytes, as: UTF8.self) } else { nil }
  }

  /// A whole number, or a string that is one.
  package var integer: Int64? {
    switch self {
    case .number(let number): number
    case .text: string.flatMap { Int64($0) }
    default: nil
    }
  }

  /// The elements of a list.
  package var elements: [RESPValue]? { if case .list(let elements) = self { elements } else { nil } }
}
