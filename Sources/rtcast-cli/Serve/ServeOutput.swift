import RTCSignaling
import RTCast

/// What is told on standard output while the hub runs.
struct ServeOutput: Sendable {
  private let json: Bool
  private let hidesQRCode: Bool

  init(json: Bool, hidesQRCode: Bool) {
    self.json = json
    self.hidesQRCode = hidesQRCode
  }

  /// - Parameters:
  ///   - links: for browsers, the best one for another machine first.
  ///   - isOpen: whether everybody who can reach the server may use it.
  func listening(at links: [String], local: String, fingerprint: String?, isOpen: Bool) {
    if json {
      var event: [(String, JSONValue)] = [
        ("url", .string(local)), ("urls", .array(links.map { .string($0) })),
      ]
      if let fingerprint { event.append(("fingerprint", .string(fingerprint))) }
      return OutputEvent(.listening, event).print()
    }
    guard Terminal.isInteractive else {
      for link in links { Terminal.print(link) }
      if let fingerprint { Terminal.print("sha-256 \(fingerprint)") }
      return
    }
    let size = Terminal.size
    if !hidesQRCode, let first = links.first, let code = QRCode(first), code.columns <= size.columns,
      code.lines.count + links.count + 6 <= size.rows
    {
      Terminal.print("")
      for line in code.lines { Terminal.print("  " + line) }
    }
    Terminal.print("")
    for (index, link) in links.enumerated() {
      Terminal.print("  \(index == 0 ? "Call at" : "     or") \u{1B}[1m\(link)\u{1B}[0m")
    }
    if let fingerprint { Terminal.print("  Certificate (SHA-256) \(fingerprint)") }
    if isOpen {
      Terminal.print("  Anyone who can reach this machine can use the hub; a token (--token-file) restricts it.")
    }
    Terminal.print("  Press Ctrl-C to stop.\n")
  }

  func hubChanged(_ news: HubNews) {
    guard json else { return }
    switch news {
    case .registered(let name, let dialect): peer(name, "joined", [("dialect", .string(dialect.rawValue))])
    case .resumed(let name): peer(name, "resumed")
    case .left(let name): peer(name, "left")
    }
  }

  func streamsChanged(_ news: StreamRelay.News) {
    switch news {
    case .published(let name): stream(name, "published")
    case .ended(let name): stream(name, "ended")
    case .undecodable(let name, let viewers, let format):
      stream(name, "undecodable", [("viewers", .count(Int64(viewers))), ("format", .string(format))])
    }
  }

  private func stream(_ name: String, _ state: String, _ more: [(String, JSONValue)] = []) {
    guard json else { return }
    OutputEvent(.stream, [("id", .string(name)), ("state", .string(state))] + more).print()
  }

  private func peer(_ name: String, _ state: String, _ more: [(String, JSONValue)] = []) {
    OutputEvent(.peer, [("id", .string(name)), ("state", .string(state))] + more).print()
  }

  func ended(_ ending: CastEnding) {
    if json { OutputEvent.ended(ending.word).print() }
  }

  /// The same sentence for a program and for a person.
  func failed(_ failure: CastFailure) {
    if json { OutputEvent.failed(failure).print() }
    Terminal.complain(failure.sentence)
  }
}
