import RTCPrimitives
import RTCSignaling

/// A session, a connection that does as it is told, and a server, in virtual time.
struct WHIPBench {
  var session: WHIPSession
  var now = Timestamp.zero
  /// Answers a request; nil: never.
  var server: (WHIPRequest) -> WHIPResponse?
  private(set) var requests: [WHIPRequest] = []
  private(set) var actions: [WHIPSession.Action] = []
  private(set) var connections = 0
  private var fragments = 0

  init(
    _ options: WHIPSession.Options = WHIPSession.Options(), _ server: @escaping (WHIPRequest) -> WHIPResponse?
  ) throws {
    session = try WHIPSession(endpoint: "https://sfu.example/whip", token: "sesame", options: options, seed: 1)
    self.server = server
  }

  init(_ double: MediaServerDouble) throws { try self.init { double.answer($0) } }

  /// The requests but those for servers, as methods.
  var methods: [String] { requests.map(\.method).filter { $0 != .options }.map(\.rawValue) }
  var reports: [WHIPSession.Report] { actions.compactMap { if case .report(let report) = $0 { report } else { nil } } }
  var end: WHIPSession.End? { actions.lazy.compactMap { if case .end(let end) = $0 { end } else { nil } }.first }
  var servers: [ICEServer] {
    actions.compactMap { if case .use(let servers) = $0 { servers } else { nil } }.last ?? []
  }
  var fragmentsAccepted: [String] {
    actions.compactMap { if case .acceptFragment(let fragment) = $0 { fragment } else { nil } }
  }

  /// Gives the session an input and does what comes of it, answers included.
  mutating func give(_ inputs: WHIPSession.Input...) {
    var waiting = inputs
    while !waiting.isEmpty {
      for action in session.handle(waiting.removeFirst(), now: now) {
        actions.append(action)
        switch action {
        case .connect:
          connections += 1
          waiting.append(.offered("v=0\r\ns=offer \(connections)\r\n"))
        case .send(let request):
          requests.append(request)
          if let answer = server(request) { waiting.append(.answered(request.id, answer)) }
        case .describeCandidates: waiting.append(.described(fragment("candidates")))
        case .restartICE: waiting.append(.described(fragment("restart")))
        case .answer: waiting.append(.described("v=0\r\ns=our answer\r\n"))
        case .cancel, .use, .accept, .acceptFragment, .disconnect, .report, .end: break
        }
      }
    }
  }

  private mutating func fragment(_ kind: String) -> String {
    fragments += 1
    return "\(kind) \(fragments)"
  }

  /// Lets time pass, with all deadlines in it.
  mutating func wait(_ time: TimeDelta) {
    let end = now + time
    while let deadline = session.deadline, deadline <= end {
      now = max(now, deadline)
      give(.deadline)
    }
    now = end
  }

  /// From the start to media.
  mutating func publish() { give(.start, .connected) }
}
