package import RTCPrimitives

/// The client of a publication by WHIP (RFC 9725), or of a stream watched by WHEP: offer and answer, trickled
/// candidates, ICE restarts, renewal after the server was gone, and the end. Without sockets, clock and media.
///
/// The first offer either succeeds or ends the session with the reason. After that the session ends only at the
/// application's request, at a final goodbye of the server, or when the server refuses the token. After any other
/// failure it begins again, with growing pauses.
package struct WHIPSession: Sendable {
  /// Time-outs and limits.
  package struct Options: Sendable, Hashable {
    /// The pause before the second attempt to begin again; doubles with each, up to the longest. Real pauses are 50 to
    /// 100 % of it, so that a thousand clients of a restarted server do not return at once.
    package var firstPause = TimeDelta.milliseconds(500)
    /// The longest of these pauses.
    package var longestPause = TimeDelta.seconds(30)
    /// The longest pause between two attempts to restart ICE while the connection is still there.
    package var longestRestartPause = TimeDelta.seconds(4)
    /// The additional silence after which a server that cannot restart ICE gets a new offer.
    package var silence = TimeDelta.seconds(3)
    /// A first offer that the server is too busy for waits at most this long for the time that the server names.
    package var patience = TimeDelta.seconds(10)
    /// For the server to answer the last request.
    package var leaveTimeout = TimeDelta.seconds(3)
    /// A connection that lasted this long was good: pauses begin at the shortest again, and a goodbye after it may be a
    /// server's restart.
    package var settled = TimeDelta.seconds(10)
    /// Whether the server's goodbye is the end, as for viewers: the cast is over.
    package var endsAtGoodbye = false
    /// How long the session tries to begin again; nil: without limit.
    package var persistence: TimeDelta?

    /// The defaults.
    package init() {}
  }

  /// An input from the driver. Inputs of a connection or request that is over must not follow.
  package enum Input: Sendable, Equatable {
    /// Begins.
    case start
    /// The offer of the connection that `connect` asked for.
    case offered(String)
    /// The server has answered a request.
    case answered(Int, WHIPResponse)
    /// The request failed.
    case failed(Int, WHIPError)
    /// The connection has candidates that its offer did not have.
    case candidatesGathered
    /// The fragment or answer that was asked for.
    case described(String)
    /// The connection cannot make it.
    case undescribed
    /// How the connection's path is.
    case path(Path)
    /// Media flows.
    case connected
    /// The connection is over.
    case disconnected(Loss)
    /// The server's answer is of no use.
    case answerRefused
    /// Says goodbye and ends.
    case leave
    /// The time that `deadline` named has come.
    case deadline
  }

  /// How a connection's path is.
  package enum Path: Sendable, Hashable {
    /// Checks are answered.
    case good
    /// The connection has received nothing for some seconds.
    case silent
    /// Only an ICE restart can help.
    case lost
  }

  /// Why a connection is over.
  package enum Loss: Sendable, Hashable {
    /// The server said goodbye.
    case goodbye
    /// The connection has received nothing for too long, or was never established.
    case unreachable
    /// Anything else; a sentence.
    case broken(String)

    /// For a person.
    package var sentence: String {
      switch self {
      case .goodbye: "The server closed the connection."
      case .unreachable: "The connection to the server was lost."
      case .broken(let sentence): "The connection to the server broke: \(sentence)"
      }
    }
  }

  /// An action for the driver, in order.
  package enum Action: Sendable, Equatable {
    /// Make a connection; `.offered` follows.
    case connect
    /// Send it; `.answered` or `.failed` follows.
    case send(WHIPRequest)
    /// Cancel this request; its response is not needed.
    case cancel(Int)
    /// Use these STUN and TURN servers in addition to the configured ones.
    case use([ICEServer])
    /// Apply the server's answer.
    case accept(answer: String)
    /// Drop the offer and answer the server's; `.described` follows.
    case answer(offer: String)
    /// Say all candidates so far; `.described` follows.
    case describeCandidates
    /// Begin an ICE restart and say its fragment; `.described` follows.
    case restartICE
    /// The server has restarted too: its fragment.
    case acceptFragment(String)
    /// Close the connection; nothing of it is wanted any more.
    case disconnect
    /// Report an event to the application.
    case report(Report)
    /// The last action.
    case end(End)
  }

  /// An event for the application.
  package enum Report: Sendable, Equatable {
    /// The connection is lost, or could not be made again; the next attempt follows after the pause.
    case interrupted(Loss, retryIn: TimeDelta)
    /// The server refused to begin again; the next attempt follows after the pause.
    case refused(WHIPError, retryIn: TimeDelta)
    /// ICE has restarted: the connection continues over another path.
    case restarted
    /// Connected again after an interruption.
    case resumed
  }

  /// Why it is over.
  package enum End: Sendable, Equatable {
    /// The application ended the session.
    case left
    /// The server takes no offer.
    case refused(WHIPError)
    /// The server's answer is of no use.
    case answerRefused
    /// The server said goodbye and means it.
    case goodbye
    /// The server took the offer, but no connection was made.
    case unconnected(Loss)
  }

  enum Phase {
    case fresh
    /// A connection is being made; its offer is awaited.
    case connecting
    case offering(WHIPExchange, offer: String, request: Int)
    case open(WHIPResource)
    /// The old session is deleted before the next offer: many servers take one publisher at a time.
    case replacing(deletion: Int, until: Timestamp)
    case pausing(until: Timestamp)
    /// The last request is out.
    case leaving(request: Int, WHIPResource?, End, until: Timestamp)
    case ended
  }

  /// The requests of the open session.
  struct Amendments {
    /// Whether there are candidates that the server has not received.
    var hasCandidates = false
    var wantsRestart = false
    /// The description requested from the connection.
    var describing: WHIPResource.Patch?
    var underway: (id: Int, patch: WHIPResource.Patch, body: String)?
    /// Attempts in a row that the server was too busy for, or that did not reach it.
    var failures = 0
    /// No request is sent before.
    var pauseEnds: Timestamp?
    /// Unless the path is good until then, the session is replaced.
    var silenceEnds: Timestamp?
  }

  let exchange: WHIPExchange
  let options: Options
  var random: SeededGenerator
  var phase = Phase.fresh
  var amendments = Amendments()
  var path = Path.good
  var requests = 0
  var servers: [ICEServer] = []
  /// The question for servers that goes beside the offer.
  var question: Int?
  var asksForServers = true
  var wasConnected = false
  var connectedSince: Timestamp?
  /// Since when, and why, there is no connection.
  var lost: (since: Timestamp, Loss)?
  var attempts = 0
  var goodbyes = 0
  var saidGoodbye = false
  var actions: [Action] = []

  /// - Parameter seed: for the pauses.
  /// - Throws: `WHIPError.badURL` or `badToken` for an invalid argument.
  package init(
    endpoint: String, token: String?, options: Options = Options(), seed: UInt64
  ) throws(WHIPError) {
    exchange = try WHIPExchange(endpoint: endpoint, token: token)
    self.options = options
    random = SeededGenerator(seed: seed)
  }

  /// When `handle(.deadline, …)` is wanted; nil: not before something else happens.
  package var deadline: Timestamp? {
    switch phase {
    case .fresh, .connecting, .offering, .ended: nil
    case .open: [amendments.pauseEnds, amendments.silenceEnds].compactMap { $0 }.min()
    case .replacing(_, let until), .pausing(let until), .leaving(_, _, _, let until): until
    }
  }

  /// Handles an input; returns the actions, in order. `now` must not decrease.
  package mutating func handle(_ input: Input, now: Timestamp) -> [Action] {
    switch input {
    case .start: if case .fresh = phase { connect() }
    case .offered(let sdp): if case .connecting = phase { post(sdp, exchange) }
    case .answered(let id, let response): answered(id, response, now)
    case .failed(let id, let error): failed(id, error, now)
    case .candidatesGathered: amendments.hasCandidates = true
    case .described(let fragment): described(fragment)
    case .undescribed: undescribed(now)
    case .path(let path): pathChanged(path, now)
    case .connected: connected(now)
    case .disconnected(let loss): disconnected(loss, now)
    case .answerRefused: leave(.answerRefused, now)
    case .leave: leave(.left, now)
    case .deadline: deadlineReached(now)
    }
    amend(now)
    defer { actions = [] }
    return actions
  }

  // MARK: - Offer and answer

  mutating func connect() {
    phase = .connecting
    amendments = Amendments()
    path = .good
    actions.append(.connect)
    guard asksForServers else { return }
    // A server that never answers is not asked by one more request for each attempt.
    if let question { actions.append(.cancel(question)) }
    let id = nextRequest()
    question = id
    actions.append(.send(WHIPRequest(id: id, .options, exchange.target, authorization: exchange.authorization)))
  }

  mutating func post(_ offer: String, _ exchange: WHIPExchange) {
    let id = nextRequest()
    phase = .offering(exchange, offer: offer, request: id)
    actions.append(
      .send(
        WHIPRequest(
          id: id, .post, exchange.target, authorization: exchange.authorization, contentType: "application/sdp",
          body: offer)))
  }

  mutating func answered(_ id: Int, _ response: WHIPResponse, _ now: Timestamp) {
    if id == question {
      question = nil
      let found = response.status < 300 ? ICEServer.parse(links: response.values("link")) : []
      // A server that names no servers here is not asked again.
      asksForServers = !found.isEmpty
      return use(found)
    }
    switch phase {
    case .offering(let exchange, let offer, id): offerAnswered(exchange, offer, response, now)
    case .open(let resource) where amendments.underway?.id == id: patchAnswered(resource, response, now)
    case .replacing(id, _): beginAnew(now)
    case .leaving(id, let resource, let end, let until): lastAnswered(resource, response, end, until: until)
    default: break
    }
  }

  mutating func offerAnswered(
    _ exchange: WHIPExchange, _ offer: String, _ response: WHIPResponse, _ now: Timestamp
  ) {
    var exchange = exchange
    do throws(WHIPError) {
      switch try exchange.receive(response) {
      case .follow: post(offer, exchange)
      case .published(let publication):
        phase = .open(WHIPResource(publication, exchange.credentials))
        use(publication.iceServers)
        actions.append(.accept(answer: publication.answer))
      case .countered(let publication):
        phase = .open(WHIPResource(publication, exchange.credentials))
        use(publication.iceServers)
        amendments.describing = .answer
        actions.append(.answer(offer: publication.answer))
      }
    } catch {
      refused(error, retryAfter: response.retryAfter, now)
    }
  }

  mutating func use(_ found: [ICEServer]) {
    let new = found.filter { !servers.contains($0) }
    guard !new.isEmpty else { return }
    // The servers named last have the newest credentials.
    servers = Array((new + servers).prefix(32))
    actions.append(.use(servers))
  }

  /// The server refuses the offer, for now or for good.
  mutating func refused(_ error: WHIPError, retryAfter: Int?, _ now: Timestamp) {
    let wait = retryAfter.map { TimeDelta.seconds(Int64(min($0, 3_600))) }
    if !wasConnected {
      guard error.isBusy, let wait, wait <= options.patience, attempts < 3 else { return end(.refused(error)) }
    } else if case .unauthorized = error {
      return end(.refused(error))
    } else if saidGoodbye, error.isFinal {
      return end(.goodbye)
    } else if let lost, let persistence = options.persistence, now - lost.since >= persistence {
      return end(.unconnected(lost.1))
    }
    actions.append(.disconnect)
    let pause = max(nextPause(), wait ?? .zero)
    phase = .pausing(until: now + pause)
    actions.append(.report(.refused(error, retryIn: pause)))
  }

  mutating func failed(_ id: Int, _ error: WHIPError, _ now: Timestamp) {
    switch phase {
    case _ where id == question: question = nil
    case .offering(_, _, id): refused(error, retryAfter: nil, now)
    case .open where amendments.underway?.id == id:
      if amendments.underway?.patch == .answer { return leave(.refused(error), now) }
      amendments.underway = nil
      pauseAmendments(nil, now)
    case .replacing(id, _): beginAnew(now)
    case .leaving(id, _, let end, _): self.end(end)
    default: break
    }
  }

  mutating func nextRequest() -> Int {
    requests += 1
    return requests
  }
}
