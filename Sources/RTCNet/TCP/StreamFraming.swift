import RTCPrimitives

/// How messages lie in a TCP stream.
package enum StreamFraming: Hashable, Sendable {
  /// Two bytes of length before each (RFC 4571 §2), as ICE-TCP has it (RFC 6544 §3).
  case lengthPrefixed
  /// STUN messages and ChannelData, which say their length themselves; ChannelData is padded to 4 bytes (RFC 8656 §12.5).
  case turn

  /// Writes one message, at most 65,535 bytes, at the end of `out`.
  package func append(_ message: Span<UInt8>, to out: inout [UInt8]) {
    switch self {
    case .lengthPrefixed:
      guard message.count <= UInt16.max else { return }
      out.append(UInt8(truncatingIfNeeded: message.count >> 8))
      out.append(UInt8(truncatingIfNeeded: message.count))
      out.append(message)
    case .turn:
      out.append(message)
      for _ in 0..<Self.padding(message.count) { out.append(0) }
    }
  }

  /// The length of the message that begins with `header`, and of what stands before and behind it; nil: not known from so few
  /// bytes.
  /// - Throws: `StreamFramingError` when no such message begins here.
  func measure(_ header: Span<UInt8>) throws(StreamFramingError) -> (before: Int, message: Int, behind: Int)? {
    switch self {
    case .lengthPrefixed:
      guard header.count >= 2 else { return nil }
      return (2, Int(header[0]) << 8 | Int(header[1]), 0)
    case .turn:
      guard header.count >= 4 else { return nil }
      let length = Int(header[2]) << 8 | Int(header[3])
      switch header[0] >> 6 {
      case 0: return (0, 20 + length, 0)
      case 1: return (0, 4 + length, Self.padding(length))
      default: throw StreamFramingError()
      }
    }
  }

  private static func padding(_ length: Int) -> Int { (4 - length % 4) % 4 }
}

/// The framing of the stream is lost.
package struct StreamFramingError: Error, Hashable, Sendable {}
