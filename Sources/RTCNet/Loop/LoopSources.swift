/// The sources of a loop's poller, by token. Owned by the loop's thread.
struct LoopSources {
  enum Source {
    case wake
    case socket(UDPPort.SocketSet, port: UInt16)
    case other(any LoopSource)
  }

  private var sources: [Source?] = []
  private var free: [UInt32] = []
  /// Tokens of sources that were removed while others are served: earlier results of the poller must not reach a new
  /// source.
  private var freed: [UInt32] = []

  /// - Returns: its token.
  mutating func add(_ source: Source) -> UInt32 {
    if let token = free.popLast() {
      sources[Int(token)] = source
      return token
    }
    sources.append(source)
    return UInt32(sources.count - 1)
  }

  subscript(token: UInt32) -> Source? { Int(token) < sources.count ? sources[Int(token)] : nil }

  mutating func remove(_ token: UInt32) {
    sources[Int(token)] = nil
    freed.append(token)
  }

  mutating func removeAll(where isMeant: (Source) -> Bool) {
    for token in sources.indices { if let source = sources[token], isMeant(source) { remove(UInt32(token)) } }
  }

  /// Everything that was ready has been served.
  mutating func reuseTokens() {
    guard !freed.isEmpty else { return }
    free += freed
    freed.removeAll(keepingCapacity: true)
  }
}

/// Names a source of a loop.
package struct LoopSourceToken: Hashable, Sendable {
  let number: UInt32
}
