import RTCPrimitives

/// Takes a TCP stream apart into messages; holds no more than the one that is not whole.
package struct StreamDeframer: Sendable {
  private let framing: StreamFraming
  private let limit: Int
  private var rest: [UInt8] = []

  /// - Parameter limit: a longer message breaks the stream.
  package init(_ framing: StreamFraming, limit: Int = 4_096) {
    self.framing = framing
    self.limit = limit
  }

  /// Hands each message that is whole to `body`, which may change it in place. Empty ones are left out.
  /// - Throws: `StreamFramingError` when the stream cannot be told apart from here on: it is of no more use.
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
