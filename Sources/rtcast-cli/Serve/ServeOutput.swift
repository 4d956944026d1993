import RTCPrimitives
import RTCSignaling
import RTCast

/// The output of a running hub on standard output.
struct ServeOutput: Sendable {
  private let json: Bool
  private let hidesQRCode: Bool

  init(json: Bool, hidesQRCode: Bool) {
    self.json = json
    self.hidesQRCode = hidesQRCode
  }

  /// - Parameter turn: the ways to the hub's own TURN server.
  func listening(at links: ServerLinks, turn: [ICEServerURL]) {
    if json {
      let relay = turn.isEmpty ? [] : [("turn", JSONValue.array(turn.map { .string($0.description) }))]
      OutputEvent(.listening, links.members + relay).print()
      if let exposure = links.exposure { Terminal.complain(exposure, isWarning: true) }
      return
    }
    guard Terminal.isInteractive else {
      for link in links.urls { Terminal.print(link) }
      if let fingerprint = links.fingerprint { Terminal.print("sha-256 \(fingerprint)") }
      if let exposure = links.exposure { Terminal.complain(exposure, isWarning: true) }
      return
    }
    links.show(as: "Call at", of: "this hub", qrCode: !hidesQRCode, hint: "Press Ctrl-C to stop.")
    if let first = turn.first { Terminal.print("  The TURN server of this hub is \(first).\n") }
  }

  /// - Parameter link: of the page, for people outside this network.
  func mapped(to link: String) {
    if json {
      OutputEvent(.mapped, [("url", .string(link))]).print()
    } else {
      Terminal.print("  From outside ", bold: link)
    }
  }

  func answer(_ reply: ControlReply) {
    if json { reply.event.print() } else { reply.show() }
  }

  func hubChanged(_ event: HubEvent) {
    guard json else { return }
    switch event {
    case .registered(let name, let dialect): peer(name, "joined", [("dialect", .string(dialect.rawValue))])
    case .resumed(let name): peer(name, "resumed")
    case .left(let name): peer(name, "left")
    }
  }

  func streamsChanged(_ event: StreamRelay.Event) {
    switch event {
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

  /// Reports a failure with the same sentence for programs and people.
  func failed(_ failure: CastFailure) {
    if json { OutputEvent.failed(failure).print() }
    Terminal.complain(failure.sentence)
  }
}
