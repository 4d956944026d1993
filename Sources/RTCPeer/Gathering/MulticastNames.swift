import RTCNet
import RTCPrimitives

/// Resolves the names that browsers make for themselves (`<uuid>.local`), by multicast DNS. Its port is open only while
/// a name is being resolved. Lives on the loop's thread.
final class MulticastNames {
  private struct Query {
    var question: [UInt8]
    var triesLeft: Int
    var nextAt: Timestamp
    var handlers: [(IPAddress?) -> Void]
  }

  private unowned let loop: EventLoop
  private let interfaces: () -> [UInt32]
  private var sockets: [MDNSSocket] = []
  /// By name, in small letters.
  private var queries: [String: Query] = [:]

  private static let maximumQueries = 64
  private static let tries = 3
  private static let interval = TimeDelta.milliseconds(330)

  /// - Parameter interfaces: the links to ask on.
  init(_ loop: EventLoop, interfaces: @escaping () -> [UInt32]) {
    self.loop = loop
    self.interfaces = interfaces
  }

  /// Asks for `name`, three times within a second.
  /// - Parameter onAnswer: called once; nil: there was no answer.
  func resolve(_ name: String, now: Timestamp, onAnswer: @escaping (IPAddress?) -> Void) {
    let name = name.lowercased()
    if queries[name] != nil {
      queries[name]!.handlers.append(onAnswer)
      return
    }
    guard queries.count < Self.maximumQueries, let question = MDNSMessage.question(for: name) else {
      return onAnswer(nil)
    }
    if sockets.isEmpty { openSockets() }
    queries[name] = Query(question: question, triesLeft: Self.tries, nextAt: now, handlers: [onAnswer])
  }

  var nextDeadline: Timestamp { queries.values.reduce(.distantFuture) { min($0, $1.nextAt) } }

  func deadlineReached(_ now: Timestamp) {
    for (name, query) in queries where query.nextAt <= now {
      guard query.triesLeft > 0 else {
        finish(name, nil)
        continue
      }
      queries[name]!.triesLeft -= 1
      queries[name]!.nextAt = now + Self.interval
      for socket in sockets { socket.send(query.question.span) }
    }
  }

  private func openSockets() {
    let links = interfaces()
    for isV6 in [false, true] {
      let socket = try? MDNSSocket(isV6: isV6, interfaces: links, on: loop) { [unowned self] message, _ in
        for (name, address) in MDNSMessage.addresses(in: message) { finish(name, address) }
      }
      if let socket { sockets.append(socket) }
    }
  }

  private func finish(_ name: String, _ address: IPAddress?) {
    guard let query = queries.removeValue(forKey: name) else { return }
    if queries.isEmpty { close() }
    for handler in query.handlers { handler(address) }
  }

  func close() {
    for socket in sockets { socket.close() }
    sockets = []
  }
}
