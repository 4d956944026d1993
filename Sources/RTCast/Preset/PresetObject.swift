import RTCSignaling

/// One object of a preset, whose keys are known.
struct PresetObject {
  /// The position in the file: empty for the whole, `video`, `iceServers[0]` …
  private let path: String
  private let file: String
  private let line: Int
  private var members: [String: JSONTree] = [:]

  /// Refuses anything but an object with some of `keys`.
  init(_ tree: JSONTree, path: String, file: String, keys: [String]) throws(PresetError) {
    self.path = path
    self.file = file
    line = tree.line
    guard case .object(let members) = tree.value else {
      throw refusal(nil, line: tree.line, "must be an object { … }, not \(tree.kind)")
    }
    for (name, value) in members {
      guard keys.contains(name) else {
        let near = name.nearest(of: keys).map { "is \($0) meant? The" } ?? "the"
        throw refusal(
          name, line: value.line,
          "is unknown; \(near) keys\(path.isEmpty ? "" : " of \(path)") are \(keys.joined(separator: ", "))")
      }
      self.members[name] = value
    }
  }

  /// - Parameters:
  ///   - key: the key at fault.
  ///   - problem: what is allowed.
  func refusal(_ key: String, _ problem: String) -> PresetError {
    refusal(key, line: members[key]?.line ?? line, problem)
  }

  private func refusal(_ key: String?, line: Int, _ problem: String) -> PresetError {
    let whole = key.map { path.isEmpty ? $0 : "\(path).\($0)" } ?? path
    // User input may be long or contain control characters.
    let shown = String(
      String.UnicodeScalarView(whole.unicodeScalars.prefix(100).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : $0 }))
    let subject = shown.isEmpty ? "the whole" : shown
    let end = problem.hasSuffix(".") || problem.hasSuffix("?") ? "" : "."
    return PresetError(kind: .malformed, sentence: "In the \(file), line \(line): \(subject) \(problem)\(end)")
  }

  func text(_ key: String, upTo longest: Int) throws(PresetError) -> String? {
    guard let tree = members[key] else { return nil }
    return try text(tree, key, longest)
  }

  private func text(_ tree: JSONTree, _ key: String, _ longest: Int) throws(PresetError) -> String {
    guard case .string(let text) = tree.value else {
      throw refusal(key, "must be a text in quotation marks, not \(tree.kind)")
    }
    guard (1...longest).contains(text.unicodeScalars.count),
      text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
    else { throw refusal(key, "must be a text of 1 to \(longest) characters, without line breaks") }
    return text
  }

  func has(_ key: String) -> Bool { members[key] != nil }

  func isText(_ key: String) -> Bool { if case .string? = members[key]?.value { true } else { false } }

  /// The texts of a list, or the one text that stands in its place; empty when the key is missing.
  func texts(_ key: String, upTo most: Int) throws(PresetError) -> [String] {
    if isText(key) { return try text(key, upTo: 500).map { [$0] } ?? [] }
    return try list(key, upTo: most).enumerated().map { element throws(PresetError) in
      try text(element.element, "\(key)[\(element.offset)]", 500)
    }
  }

  func number(_ key: String, _ range: ClosedRange<Double>, unit: String) throws(PresetError) -> Double? {
    guard let tree = members[key] else { return nil }
    let allowed =
      "must be a number from \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound))\(unit.isEmpty ? "" : " \(unit)")"
    guard case .number(let value) = tree.value else { throw refusal(key, "\(allowed), not \(tree.kind)") }
    guard range.contains(value) else { throw refusal(key, "\(allowed), not \(Self.text(value))") }
    return value
  }

  func fraction(_ key: String) throws(PresetError) -> Double? { try number(key, 0...1, unit: "") }

  func whole(_ key: String, _ range: ClosedRange<Int64>, unit: String) throws(PresetError) -> Int64? {
    let bounds = Double(range.lowerBound)...Double(range.upperBound)
    guard let value = try number(key, bounds, unit: unit) else { return nil }
    guard value == value.rounded() else { throw refusal(key, "must be a whole number of \(unit), not \(value)") }
    return Int64(value)
  }

  func choice<T>(_ key: String, _ all: [T], name: (T) -> String) throws(PresetError) -> T? {
    guard let text = try text(key, upTo: 500) else { return nil }
    guard let found = all.first(where: { name($0).lowercased() == text.lowercased() }) else {
      throw refusal(key, "must be one of \(all.map(name).joined(separator: ", ")), not \"\(text)\"")
    }
    return found
  }

  func object(_ key: String, keys: [String]) throws(PresetError) -> PresetObject? {
    guard let tree = members[key] else { return nil }
    return try PresetObject(tree, path: path.isEmpty ? key : "\(path).\(key)", file: file, keys: keys)
  }

  /// Empty when the key is missing.
  func objects(_ key: String, upTo most: Int, keys: [String]) throws(PresetError) -> [PresetObject] {
    try list(key, upTo: most).enumerated().map { element throws(PresetError) in
      try PresetObject(element.element, path: "\(key)[\(element.offset)]", file: file, keys: keys)
    }
  }

  private func list(_ key: String, upTo most: Int) throws(PresetError) -> [JSONTree] {
    guard let tree = members[key] else { return [] }
    guard case .array(let values) = tree.value else { throw refusal(key, "must be a list [ … ], not \(tree.kind)") }
    guard values.count <= most else { throw refusal(key, "may have \(most) entries, not \(values.count)") }
    return values
  }

  /// Without a needless `.0`.
  private static func text(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : "\(value)"
  }
}
