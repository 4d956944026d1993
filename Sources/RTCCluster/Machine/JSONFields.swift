import RTCSignaling

/// The members of a JSON object that another hub, or a script, has written.
struct JSONFields {
  private let members: [(name: String, value: JSONTree)]

  /// Nil if the text is not an object.
  init?(_ text: [UInt8]) {
    guard let tree = try? JSONTree(parsing: text), case .object(let members) = tree.value else { return nil }
    self.members = members
  }

  func text(_ name: String) -> String? { if case .string(let text)? = value(name) { text } else { nil } }
  func flag(_ name: String) -> Bool { if case .bool(true)? = value(name) { true } else { false } }

  /// A whole number, or a text that is one.
  func number(_ name: String) -> Int64? {
    switch value(name) {
    case .number(let number): Int64(exactly: number)
    case .string(let text): Int64(text)
    default: nil
    }
  }

  /// The texts of a list.
  func texts(_ name: String) -> [String] {
    guard case .array(let values)? = value(name) else { return [] }
    return values.compactMap { if case .string(let text) = $0.value { text } else { nil } }
  }

  private func value(_ name: String) -> JSONTree.Value? {
    members.first { $0.name == name }?.value.value
  }
}
