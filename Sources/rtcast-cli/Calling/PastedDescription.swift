import RTCSignaling
import RTCast

/// A session description on its way through a terminal: as lines of SDP, or as the JSON `{"type":…,"sdp":…}` that browsers'
/// consoles print.
package enum PastedDescription {
  /// The SDP of a pasted text; nil if the text is neither SDP nor JSON.
  /// - Parameter lines: without line feeds; blanks around them are allowed.
  package static func sdp(in lines: [String]) -> String? {
    let trimmed = lines.map { line in
      var text = Substring(line)
      while text.first?.isWhitespace == true { text.removeFirst() }
      while text.last?.isWhitespace == true { text.removeLast() }
      return String(text)
    }
    if trimmed.first == "v=0" { return trimmed.map { $0 + "\r\n" }.joined() }
    guard case .object(let members)? = try? JSONTree(parsing: trimmed.joined(separator: "\n").utf8).value,
      case .string(let sdp)? = members.first(where: { $0.name == "sdp" })?.value.value, sdp.hasPrefix("v=0")
    else { return nil }
    return sdp
  }

  /// The error for a text that is neither.
  static let refusal = PublishFailure(
    kind: .protocolViolation,
    sentence:
      "The pasted text is not a session description: it must begin with v=0, or be the JSON {\"type\":…,\"sdp\":…}.")
}
