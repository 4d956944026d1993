import RTCPrimitives

/// Asks a proxy for a tunnel to a host, and reads its answer.
package struct HTTPTunnel {
  /// The progress of the tunnel.
  package enum Progress: Hashable {
    case waiting
    /// The tunnel is open; the bytes that have already come through it.
    case open([UInt8])
    /// In the proxy's own words.
    case refused(String)
  }

  let request: [UInt8]
  private var answer: [UInt8] = []
  /// Bytes of `answer` in which no end of the head begins: a proxy may send them one by one.
  private var searched = 0
  private static let maximumAnswer = 8_192

  package init(to host: String, port: UInt16, credentials: String?) {
    let target = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    var lines = ["CONNECT \(target) HTTP/1.1", "Host: \(target)"]
    if let credentials { lines.append("Proxy-Authorization: Basic \(Self.base64(Array(credentials.utf8)))") }
    request = Array((lines + ["", ""]).joined(separator: "\r\n").utf8)
  }

  package mutating func receive(_ bytes: Span<UInt8>) -> Progress {
    answer.append(bytes)
    guard let end = findHeaderEnd() else {
      return answer.count > Self.maximumAnswer ? .refused("It does not answer as a proxy does.") : .waiting
    }
    let head = String(decoding: answer[..<end], as: UTF8.self)
    let status = head.prefix { $0 != "\r\n" && $0 != "\n" }
    let words = status.split(separator: " ", maxSplits: 2)
    guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let code = Int(words[1]) else {
      return .refused("It does not answer as a proxy does.")
    }
    return (200..<300).contains(code) ? .open(Array(answer[end...])) : .refused("It answers: \(status.prefix(100))")
  }

  private mutating func findHeaderEnd() -> Int? {
    let mark: [UInt8] = [13, 10, 13, 10]
    while answer.count - searched >= 4 {
      if answer[searched..<searched + 4].elementsEqual(mark) { return searched + 4 }
      searched += 1
    }
    return nil
  }

  /// RFC 4648 §4.
  private static func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var out: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let part = bytes[start..<min(start + 3, bytes.count)]
      let word = part.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - part.count))
      for place in 0..<4 {
        out.append(
          place <= part.count ? alphabet[Int(word >> UInt32(18 - 6 * place) & 63)] : UInt8(ascii: "="))
      }
    }
    return String(decoding: out, as: UTF8.self)
  }
}
