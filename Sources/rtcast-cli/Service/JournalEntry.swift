import Logging
import RTCPrimitives

/// An entry of systemd's journal (systemd.journal-fields(7)), as bytes of its native protocol.
package struct JournalEntry: Sendable {
  private var fields: [(name: String, value: String)]

  /// - Parameters:
  ///   - message: a sentence without line breaks.
  ///   - details: become fields of their own: `VIEWER`, `STREAM`, `PEER`, `REASON` …
  package init(_ message: String, priority: Int, details: [(key: String, value: String)] = []) {
    fields = [("MESSAGE", message), ("PRIORITY", "\(priority)"), ("SYSLOG_IDENTIFIER", "rtcast")]
    for (key, value) in details {
      guard let name = Self.fieldName(key), !fields.contains(where: { $0.name == name }) else { continue }
      fields.append((name, value))
    }
  }

  /// A name that the journal allows: upper case letters, digits and underscores, no underscore or digit first. Nil for
  /// other texts.
  private static func fieldName(_ key: String) -> String? {
    let name = key.uppercased()
    guard (1...64).contains(name.utf8.count), let first = name.utf8.first, (65...90).contains(first),
      name.utf8.allSatisfy({ (65...90).contains($0) || (48...57).contains($0) || $0 == 95 })
    else { return nil }
    return name
  }

  /// A datagram for the journal's socket. Values with line breaks have their length in front, so that they make no
  /// other field.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for (name, value) in fields {
      bytes += name.utf8
      let text = Array(value.utf8)
      if text.contains(UInt8(ascii: "\n")) {
        bytes.append(UInt8(ascii: "\n"))
        bytes += (0..<8).map { UInt8(truncatingIfNeeded: text.count >> (8 * $0)) }
      } else {
        bytes.append(UInt8(ascii: "="))
      }
      bytes += text
      bytes.append(UInt8(ascii: "\n"))
    }
    return bytes
  }

  /// The priority of a level, as syslog numbers them (sd-daemon(3)).
  static func priority(of level: Logger.Level) -> Int {
    switch level {
    case .critical: 2
    case .error: 3
    case .warning: 4
    case .notice: 5
    case .info: 6
    case .debug, .trace: 7
    }
  }
}
