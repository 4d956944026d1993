import RTCPrimitives

/// JSON (RFC 8259) to be written, in one line unless verbatim parts break it. Objects keep their order.
package enum JSONValue: Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// Written with at most three decimals; what JSON cannot say (infinities, NaN) is written as null.
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([(String, JSONValue)])
  /// Written as it is, so it must be JSON already: a part of a text that `JSONTree` has read.
  case verbatim(String)

  package static func count(_ value: some BinaryInteger) -> JSONValue { .integer(Int64(clamping: value)) }
  package static func optional(_ value: Double?) -> JSONValue { value.map { .number($0) } ?? .null }
  package static func optional(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }

  package var text: String {
    var out = ""
    write(to: &out)
    return out
  }

  private func write(to out: inout String) {
    switch self {
    case .null: out += "null"
    case .bool(let value): out += value ? "true" : "false"
    case .integer(let value): out += String(value)
    case .number(let value): out += Self.text(of: value)
    case .string(let value): Self.write(value, to: &out)
    case .verbatim(let json): out += json
    case .array(let values):
      out += "["
      for (index, value) in values.enumerated() {
        if index > 0 { out += "," }
        value.write(to: &out)
      }
      out += "]"
    case .object(let members):
      out += "{"
      for (index, (name, value)) in members.enumerated() {
        if index > 0 { out += "," }
        Self.write(name, to: &out)
        out += ":"
        value.write(to: &out)
      }
      out += "}"
    }
  }

  private static func text(of value: Double) -> String {
    guard value.isFinite else { return "null" }
    // Beyond 2⁵³ thousandths there are no decimals left to round.
    guard abs(value) < 9e12 else { return "\(value)" }
    let rounded = (value * 1000).rounded() / 1000
    return rounded == rounded.rounded() ? String(Int64(rounded)) : "\(rounded)"
  }

  private static func write(_ text: String, to out: inout String) {
    out += "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\""
      case "\\": out += "\\\\"
      case "\n": out += "\\n"
      case "\r": out += "\\r"
      case "\t": out += "\\t"
      // Characters that could control a terminal or reverse a line of a log are escaped; readers get them back.
      case _ where !ForeignText.isShown(scalar):
        for unit in UTF16.encode(scalar)! {
          let hex = String(unit, radix: 16, uppercase: true)
          out += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
        }
      default: out.unicodeScalars.append(scalar)
      }
    }
    out += "\""
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
  package init(stringLiteral value: String) { self = .string(value) }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements) }
}
