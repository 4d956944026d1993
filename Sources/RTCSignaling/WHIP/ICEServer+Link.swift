public import RTCPrimitives

/// Servers that an answer names in `Link` headers with `rel="ice-server"` (RFC 9725 §4.6).
extension ICEServer {
  /// Reads the values of all `Link` headers; links of other relations and broken ones are left out. At most 32.
  public static func parse(links values: [String]) -> [ICEServer] {
    var found: [ICEServer] = []
    for value in values {
      for link in separate(value[...], at: ",") where found.count < 32 {
        if let server = ICEServer(link: link) { found.append(server) }
      }
    }
    return found
  }

  /// A `Link` header's value for each way to the server.
  package var links: [String] {
    let credentials = [("username", username), ("credential", credential)].compactMap { name, value in
      value.map { "; \(name)=\(Self.quoted($0))" }
    }
    let type = credential == nil ? [] : ["; credential-type=\"password\""]
    return urls.map { "<\($0)>; rel=\"ice-server\"" + (credentials + type).joined() }
  }

  /// A quoted string (RFC 9110 §5.6.4), without characters that headers cannot contain.
  private static func quoted(_ text: String) -> String {
    var out = "\""
    for scalar in text.unicodeScalars where scalar.value >= 32 && scalar.value != 127 {
      if scalar == "\"" || scalar == "\\" { out += "\\" }
      out.unicodeScalars.append(scalar)
    }
    return out + "\""
  }

  private init?(link: Substring) {
    let link = link.trimmingBlanks()
    guard link.hasPrefix("<"), let close = link.firstIndex(of: ">") else { return nil }
    let uri = link[link.index(after: link.startIndex)..<close]
    var parameters: [String: String] = [:]
    for parameter in Self.separate(link[link.index(after: close)...], at: ";") {
      let name = parameter.prefix { $0 != "=" }
      let value = parameter.dropFirst(name.count + 1).trimmingBlanks()
      parameters[name.trimmingBlanks().lowercased()] = Self.unquoted(value)
    }
    let relations = parameters["rel"]?.lowercased().split(separator: " ") ?? []
    guard relations.contains("ice-server") else { return nil }
    guard
      // LiveKit encodes the whole URI.
      let server = try? ICEServer(
        parsing: [PercentEncoding.decode(uri) ?? String(uri)], username: parameters["username"],
        credential: parameters["credential"])
    else { return nil }
    self = server
  }

  /// Cuts at a separator that stands outside of `<…>` and quotes.
  private static func separate(_ text: Substring, at separator: Character) -> [Substring] {
    var parts: [Substring] = []
    var start = text.startIndex
    var closer: Character?
    var isEscaped = false
    for index in text.indices {
      let character = text[index]
      if isEscaped {
        isEscaped = false
      } else if let open = closer {
        if character == "\\", open == "\"" { isEscaped = true } else if character == open { closer = nil }
      } else if character == "\"" {
        closer = "\""
      } else if character == "<" {
        closer = ">"
      } else if character == separator {
        parts.append(text[start..<index])
        start = text.index(after: index)
      }
    }
    return parts + [text[start...]]
  }

  private static func unquoted(_ text: Substring) -> String {
    guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return String(text) }
    var out = ""
    var isEscaped = false
    for character in text.dropFirst().dropLast() {
      if character == "\\", !isEscaped {
        isEscaped = true
      } else {
        out.append(character)
        isEscaped = false
      }
    }
    return out
  }
}
