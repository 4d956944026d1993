import RTCPrimitives
import RTCSignaling

/// A hub as seen by its client, over connections that break and return while time passes. The input is lines: a line
/// that begins with `{` is a message of the hub, the first letter of any other selects an event. The client requests
/// one connection at a time, no deadline repeats without end, and after its goodbye it is silent.
public func fuzzHubClient(_ bytes: Span<UInt8>) {
  guard var model = HubClientModel() else { return }
  for line in fuzzLines(bytes) { model.happen(line) }
  model.finish()
}

private struct HubClientModel {
  private enum Connection {
    case none, wanted, open
  }

  private var session: HubSession
  private var now = Timestamp.zero
  private var connection = Connection.none

  init?() {
    guard let address = HubAddress("ws://hub.example") else { return nil }
    session = HubSession(
      address: address, name: "a", token: nil, secret: String(repeating: "s", count: 32), seed: 1)
    handle(.start)
    handle(.opened)
    handle(.join(room: "r"))
  }

  mutating func happen(_ line: [UInt8]) {
    let how = line.count > 1 ? Int(line[1]) : 0
    switch line.first.map({ Character(Unicode.Scalar($0)) }) {
    case "o": if connection == .wanted { handle(.opened) }
    case "f": if connection == .wanted { handle(.failed(.badAddress("x"))) }
    case "x": if connection == .open { handle(.closed(code: how == 0 ? nil : UInt16(1_000 + how % 20))) }
    case "h": if connection == .open { handle(.heard) }
    case "t": pass(.milliseconds(Int64(how) * Int64(how)))
    case "n": handle(.networkReturned)
    case "j": handle(.join(room: "r\(how & 3)"))
    case "l": handle(.leave(room: "r\(how & 3)"))
    case "w": handle(how & 1 == 0 ? .list : .follow)
    case "b": handle(.send(.bye(call: nil), to: "b"))
    default: if connection == .open { handle(.received(line)) }
    }
  }

  private mutating func pass(_ time: TimeDelta) {
    let end = now + time
    while let deadline = session.deadline, deadline <= end {
      now = max(now, deadline)
      handle(.deadline)
      if let next = session.deadline { precondition(next > now, "the client wakes without end") }
    }
    now = end
  }

  private mutating func handle(_ input: HubSession.Input) {
    switch input {
    case .opened: connection = .open
    case .failed, .closed: connection = .none
    default: break
    }
    for action in session.handle(input, now: now) { perform(action) }
  }

  private mutating func perform(_ action: HubSession.Action) {
    switch action {
    case .connect:
      precondition(connection == .none, "two connections are asked for")
      connection = .wanted
    case .send(let text):
      precondition(connection == .open, "sent without a connection")
      precondition(text.hasPrefix("{") && text.hasSuffix("}"))
    case .ping: precondition(connection == .open)
    case .disconnect: connection = .none
    case .report(.signal(_, let data, _)):
      // A call's signal is read again as it was written.
      guard let signal = CallSignal(json: data) else { return }
      precondition(CallSignal(json: signal.json) == signal)
    case .report: break
    }
  }

  mutating func finish() {
    handle(.close)
    precondition(connection == .none && session.deadline == nil, "the client does not end")
    precondition(session.handle(.list, now: now).isEmpty, "the client speaks after its end")
  }
}
