import RTCPrimitives

/// Splits a TCP stream into messages; keeps at most one incomplete message.
package struct StreamDeframer: Sendable {
  private let framing: StreamFraming
  private let limit: Int
  private var rest: [UInt8] = []

  /// - Parameter limit: a longer message breaks the stream.
  package init(_ framing: StreamFraming, limit: Int = 4_096) {
    self.framing = framing
    self.limit = limit
  }

  /// Passes each complete message to `body`, which may change it in place. Empty ones are left out.
  /// - Throws: `StreamFramingError` if the framing is lost: the stream is unusable.
  package mutating func receive(
    _ bytes: Span<UInt8>, _ body: (inout MutableSpan<UInt8>) -> Void
  ) throws(StreamFramingError) {
    rest.append(bytes)
    var start = 0
    defer { rest.removeSubrange(..<start) }
    while true {
      guard let (before, message, behind) = try framing.measure(rest.span.extracting(start..<rest.count)) else {
        return
      }
      guard message <= limit else { throw StreamFramingError() }
      guard rest.count - start >= before + message + behind else { return }
      if message > 0 {
        var all = rest.mutableSpan
        var span = all._mutatingExtracting(start + before..<start + before + message)
        body(&span)
      }
      start += before + message + behind
    }
  }
}
