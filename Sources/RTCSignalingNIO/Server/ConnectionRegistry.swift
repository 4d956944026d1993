import Logging
import NIOCore
import RTCPrimitives
import RTCSignaling

/// What the connections of one server share. Lives on the server's event loop and nowhere else.
final class ConnectionRegistry {
  let desk: RequestRouter
  let limits: ServerLimits
  let sessions: any WHEPSessions
  private let publications: (any OfferSessions)?
  let logger: Logger
  let isSecure: Bool
  let page: HTTPReply
  let viewer: HTTPReply
  /// Nil when the server has no hub.
  let hub: HubHost?

  private let eventLoop: any EventLoop
  private var connections: [ObjectIdentifier: ClientConnection] = [:]
  /// Questions put to the cast that it has not answered yet, and how many of them are offers.
  private var questions = 0
  private var waitingOffers = 0
  private var state = State.open

  private enum State {
    case open
    case draining(EventLoopPromise<Bool>)
    case drained
  }

  init(
    _ configuration: SignalingServerConfiguration, sessions: any WHEPSessions, logger: Logger, eventLoop: any EventLoop
  ) {
    desk = RequestRouter(
      listen: configuration.listen, token: configuration.token, hostNames: configuration.hostNames,
      hasHub: configuration.hub != nil, takesPublications: configuration.publications != nil,
      origins: configuration.origins)
    publications = configuration.publications
    hub = configuration.hub.map { HubHost($0, announce: configuration.whenHubChanges, eventLoop: eventLoop) }
    limits = configuration.limits
    isSecure = configuration.tls != nil
    viewer = .page(ViewerPage.html)
    page =
      switch configuration.frontPage {
      case .viewer: .page(ViewerPage.html)
      case .hub(let html): .hubPage(html)
      }
    self.sessions = sessions
    self.logger = logger
    self.eventLoop = eventLoop
    hub?.whenEmptied = { [weak self] in self?.settle() }
  }

  /// What was refused, of viewers and publications.
  var refusals: [RefusalCounts.Subject: UInt64] {
    sessions.refusals.merging(publications?.refusals ?? [:]) { $0 + $1 }
  }

  func sessions(at door: SignalingDoor) -> (any OfferSessions)? {
    switch door {
    case .whep: sessions
    case .whip: publications
    }
  }

  // MARK: Connections

  enum Admission {
    case welcome
    /// Over the limit: told so, then closed.
    case crowded
    /// So far over the limit that waiting for it to have read that is not affordable.
    case refused
  }

  func admit(_ connection: ClientConnection) -> Admission {
    guard case .open = state, connections.count < limits.connections + 64 else { return .refused }
    connections[ObjectIdentifier(connection)] = connection
    return connections.count <= limits.connections ? .welcome : .crowded
  }

  func forget(_ connection: ClientConnection) {
    connections[ObjectIdentifier(connection)] = nil
    settle()
  }

  // MARK: Questions

  /// False when as many offers wait for the cast as may.
  func beginOffer() -> Bool {
    guard waitingOffers < limits.waitingOffers else { return false }
    waitingOffers += 1
    questions += 1
    return true
  }

  func beginQuestion() { questions += 1 }

  func endQuestion(isOffer: Bool) {
    questions -= 1
    if isOffer { waitingOffers -= 1 }
    settle()
  }

  // MARK: Shutdown

  var isOpen: Bool { if case .open = state { true } else { false } }

  /// Succeeds with true when nothing is left, with false when the cast still owes answers after the grace.
  func drain() -> EventLoopFuture<Bool> {
    let promise = eventLoop.makePromise(of: Bool.self)
    state = .draining(promise)
    for connection in connections.values { connection.drain() }
    hub?.shutdown()
    eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(limits.shutdownGrace)) { self.drainByForce() }
    settle()
    return promise.futureResult
  }

  private func drainByForce() {
    for connection in connections.values { connection.abort() }
    hub?.abort()
    guard case .draining(let promise) = state else { return }
    state = .drained
    promise.succeed(questions == 0)
  }

  private func settle() {
    guard case .draining(let promise) = state, connections.isEmpty, questions == 0, hub?.isEmpty != false else {
      return
    }
    state = .drained
    promise.succeed(true)
  }
}
