import RTCPrimitives

/// Reads the members of a message's object; errors name the member and the problem.
struct HubMessageReader {
  /// Bytes of a call's identifier, a reason, a token or a secret.
  static let longestWord = 256

  private let bytes: [UInt8]
  let members: [(name: String, value: JSONTree)]

  init(parsing bytes: [UInt8]) throws(HubFault) {
    let tree: JSONTree
    do throws(JSONError) { tree = try JSONTree(parsing: bytes) } catch { throw .malformed(error.problem) }
    try self.init(tree, of: bytes, name: "the message")
  }

  private init(_ tree: JSONTree, of bytes: [UInt8], name: String) throws(HubFault) {
    guard case .object(let members) = tree.value else { throw .malformed("\(name) is not an object") }
    self.bytes = bytes
    self.members = members
  }

  /// The value unless it is absent or null.
  func value(_ name: String) -> JSONTree? {
    guard let tree = members.first(where: { $0.name == name })?.value else { return nil }
    if case .null = tree.value { return nil }
    return tree
  }

  func has(_ name: String) -> Bool { members.contains { $0.name == name } }

  func optionalText(_ name: String, longest: Int = longestWord) throws(HubFault) -> String? {
    guard let tree = value(name) else { return nil }
    guard case .string(let text) = tree.value else { throw .malformed("\"\(name)\" is not a text") }
    guard text.utf8.count <= longest else { throw .malformed("\"\(name)\" is longer than \(longest) bytes") }
    return text
  }

  func text(_ name: String, longest: Int = longestWord) throws(HubFault) -> String {
    guard let text = try optionalText(name, longest: longest) else { throw .malformed("\"\(name)\" is missing") }
    return text
  }

  /// Nil when it is absent.
  func optionalFlag(_ name: String) throws(HubFault) -> Bool? {
    guard let tree = value(name) else { return nil }
    guard case .bool(let flag) = tree.value else { throw .malformed("\"\(name)\" is neither true nor false") }
    return flag
  }

  /// A whole number in the range of `UInt16`.
  func optionalNumber(_ name: String) throws(HubFault) -> Int? {
    guard let tree = value(name) else { return nil }
    guard case .number(let number) = tree.value, let value = UInt16(exactly: number) else {
      throw .malformed("\"\(name)\" is not a small whole number")
    }
    return Int(value)
  }

  func object(_ name: String) throws(HubFault) -> HubMessageReader {
    guard let tree = value(name) else { throw .malformed("\"\(name)\" is missing") }
    return try HubMessageReader(tree, of: bytes, name: "\"\(name)\"")
  }

  /// The texts of a list; other elements are left out.
  func texts(_ name: String) -> [String] {
    guard case .array(let values) = value(name)?.value else { return [] }
    return values.compactMap { if case .string(let text) = $0.value { text } else { nil } }
  }

  /// The objects of a list; other elements are left out.
  func objects(_ name: String) -> [HubMessageReader] {
    guard case .array(let values) = value(name)?.value else { return [] }
    return values.compactMap { try? HubMessageReader($0, of: bytes, name: name) }
  }

  /// The value as it was written.
  func verbatim(_ name: String) -> String? {
    members.first { $0.name == name }.map { verbatim($0.value) }
  }

  func verbatim(_ tree: JSONTree) -> String { String(decoding: bytes[tree.range], as: UTF8.self) }

  /// A call signal of the native dialect, a session description, or data.
  func signal(_ name: String) throws(HubFault) -> HubRelay.Body {
    if let inner = try? object(name), let signal = CallSignal(inner), let json = verbatim(name) {
      return .call(signal, json: json)
    }
    return try descriptionOrData(name)
  }

  /// A session description if the value is one, else data.
  func descriptionOrData(_ name: String) throws(HubFault) -> HubRelay.Body {
    guard let json = verbatim(name) else { throw .malformed("\"\(name)\" is missing") }
    guard let inner = try? object(name), let kind = try? inner.text("type"), inner.value("sdp") != nil,
      Self.kinds.contains(kind)
    else { return .data(json: json) }
    return .description(kind: kind, json: json)
  }

  private static let kinds: Set = ["offer", "answer", "pranswer", "rollback"]

  /// A candidate in the shape of `RTCIceCandidateInit`, a bare candidate line, or null after the last.
  func candidate(_ name: String) throws(HubFault) -> HubRelay.Body {
    guard let json = verbatim(name) else { throw .malformed("\"\(name)\" is missing") }
    switch value(name)?.value {
    case nil: return .candidate(nil, json: json)
    case .string(let text): return .candidate(ICECandidateInit(candidate: text), json: json)
    case .object:
      let inner = try object(name)
      guard let text = try inner.optionalText("candidate", longest: 4096) else { return .candidate(nil, json: json) }
      let candidate = ICECandidateInit(
        candidate: text, sdpMid: try inner.optionalText("sdpMid"),
        sdpMLineIndex: try inner.optionalNumber("sdpMLineIndex"),
        usernameFragment: try inner.optionalText("usernameFragment"))
      return .candidate(candidate, json: json)
    default: throw .malformed("\"\(name)\" is neither an object nor a text")
    }
  }
}
