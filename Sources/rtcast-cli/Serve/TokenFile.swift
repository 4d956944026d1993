import RTCSignaling

/// The tokens of single peers: in each line a name and its token; `#` begins a comment.
enum TokenFile {
  static func read(_ path: String) throws(CastFailure) -> [String: AccessToken] {
    let bytes = try WholeFile.readSecret(path, limit: 4 << 20, what: "The file of tokens")
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CastFailure(.noInput, "The file of tokens \(path) is not UTF-8 text.")
    }
    var tokens: [String: AccessToken] = [:]
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let words = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      guard words.count == 2, let token = AccessToken(String(words[1])) else {
        throw CastFailure(.noInput, "Line \(index + 1) of \(path) is not a name and a token.")
      }
      guard tokens.updateValue(token, forKey: String(first)) == nil else {
        throw CastFailure(.noInput, "Line \(index + 1) of \(path) names \(first) for the second time.")
      }
    }
    return tokens
  }
}
