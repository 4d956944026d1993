import RTCEngine
import RTCNet
import RTCPeer
import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO

/// Performs the actions of a `WHIPSession`: requests, connections one after the other, and deadlines.
actor WHIPDriver {
  /// The callbacks of the publisher or viewer.
  struct Owner: Sendable {
    /// STUN and TURN servers that were configured for these connections.
    var iceServers: [ICEServer] = []
    /// Makes a connection that may use these servers.
    var makeConnection: @Sendable ([ICEServer]) -> PeerConnection
    /// Follows a connection to its end, and passes its events to `hear`.
    var follow: @Sendable (PeerConnection, WHIPDriver) async -> Void
    var report: @Sendable (WHIPSession.Report) -> Void
    /// Called once, unless `begin` throws.
    var whenEnded: @Sendable (Ending) -> Void
    /// Checks the result of the server's answer; returns an error if it is unusable although it could be applied.
    var objection: @Sendable (PeerConnection) async -> (any Error)? = { _ in nil }
  }

  /// Why it is over.
  enum Ending: Sendable {
    /// The application ended it.
    case left
    /// The connection ended and none takes its place.
    case disconnected(EndReason)
    /// The server refused to begin again: `WHIPError`, or the connection's error for its answer.
    case failed(any Error)
  }

  private let owner: Owner
  private let client: WHIPClient
  private var session: WHIPSession
  private var connection: PeerConnection?
  /// The configured ICE servers, and those that the server named.
  private var servers: [ICEServer]
  private var requests: [Int: Task<Void, Never>] = [:]
  private var timer: Task<Void, Never>?
  /// Actions to perform, in order and one at a time, as some wait for the connection.
  private var waiting: [WHIPSession.Action] = []
  private var isWorking = false
  private var stage = Stage.fresh
  private var leavers: [CheckedContinuation<Void, Never>] = []
  /// Why the last connection ended.
  private var lastEnd = EndReason.closedRemotely
  /// Why the server's answer was of no use.
  private var answerFault: (any Error)?

  private enum Stage {
    case fresh
    case beginning(CheckedContinuation<(any Error)?, Never>)
    case begun
    case ended
  }

  /// - Throws: `WHIPError.badURL` or `badToken` for an invalid argument.
  init(
    _ endpoint: String, token: String?, options: WHIPSession.Options = WHIPSession.Options(), owner: Owner
  ) throws(WHIPError) {
    session = try WHIPSession(
      endpoint: endpoint, token: token, options: options, seed: UInt64.random(in: .min ... .max))
    client = WHIPClient()
    self.owner = owner
    servers = owner.iceServers
  }

  /// Returns when the server's first answer is applied, or when its counter-offer, answered by us, has led to a
  /// connection. Call it once.
  /// - Throws: `WHIPError`, or the connection's error for the answer.
  func begin() async throws {
    let fault = await withCheckedContinuation { continuation in
      stage = .beginning(continuation)
      Task { self.handle(.start) }
    }
    if let fault { throw fault }
  }

  /// Says goodbye to the server and ends; returns when that is done, or has taken too long.
  func leave() async {
    if case .ended = stage { return }
    await withCheckedContinuation { continuation in
      leavers.append(continuation)
      handle(.leave)
    }
  }

  /// An event of a connection that was made.
  func hear(_ event: PeerConnectionEvent, of source: PeerConnection) {
    guard source === connection else { return }
    switch event {
    case .localCandidate: handle(.candidatesGathered)
    case .connectivityChanged(.good): handle(.path(.good))
    case .connectivityChanged(.silent): handle(.path(.silent))
    case .connectivityChanged(.lost): handle(.path(.lost))
    case .stateChanged(.connected):
      hasBegun(nil)
      handle(.connected)
    case .stateChanged(.ended(.closedLocally)): handle(.leave)
    case .stateChanged(.ended(let reason)):
      lastEnd = reason
      handle(.disconnected(WHIPSession.Loss(reason)))
    default: break
    }
  }

  // MARK: - The session

  private func handle(_ input: WHIPSession.Input) {
    waiting += session.handle(input, now: MonotonicClock.now())
    setTimer()
    guard !isWorking, !waiting.isEmpty else { return }
    isWorking = true
    Task { await self.work() }
  }

  private func setTimer() {
    timer?.cancel()
    timer = nil
    guard let deadline = session.deadline else { return }
    timer = Task {
      let wait = max(0, (deadline - MonotonicClock.now()).nanoseconds)
      guard (try? await Task.sleep(nanoseconds: UInt64(wait))) != nil else { return }
      self.handle(.deadline)
    }
  }

  private func work() async {
    while !waiting.isEmpty { await perform(waiting.removeFirst()) }
    isWorking = false
  }

  private func perform(_ action: WHIPSession.Action) async {
    switch action {
    case .connect: await connect()
    case .send(let request): send(request)
    case .cancel(let id): requests.removeValue(forKey: id)?.cancel()
    case .use(let told):
      servers = owner.iceServers + told
      await connection?.setICEServers(servers)
    case .accept(let answer): await accept(answer)
    case .answer(let offer): await describe { try await $0.answer(instead: offer) }
    case .describeCandidates: await describe { try await $0.localFragment() }
    case .restartICE: await describe { try await $0.restartFragment() }
    // If a fragment cannot be applied, the path stays lost and another restart follows.
    case .acceptFragment(let fragment): try? await connection?.accept(fragment: fragment)
    case .disconnect:
      let old = connection
      connection = nil
      await old?.close()
    case .report(let report): owner.report(report)
    case .end(let end): await finish(end)
    }
  }

  private func connect() async {
    let new = owner.makeConnection(servers)
    connection = new
    await owner.follow(new, self)
    do { handle(.offered(try await new.createOffer())) } catch { handle(.disconnected(.broken("\(error)"))) }
  }

  private func send(_ request: WHIPRequest) {
    requests[request.id] = Task {
      do throws(WHIPError) {
        let response = try await client.send(request)
        answered(request, .answered(request.id, response))
      } catch {
        answered(request, .failed(request.id, error))
      }
    }
  }

  private func answered(_ request: WHIPRequest, _ input: WHIPSession.Input) {
    // A cancelled request is ignored.
    guard requests.removeValue(forKey: request.id) != nil else { return }
    handle(input)
  }

  private func accept(_ answer: String) async {
    guard let connection else { return }
    do {
      try await connection.accept(answer: answer)
      if let objection = await owner.objection(connection) { throw objection }
      hasBegun(nil)
    } catch {
      answerFault = error
      handle(.answerRefused)
    }
  }

  /// Passes the connection's description to the session.
  private func describe(_ body: (PeerConnection) async throws -> String) async {
    guard let connection else { return }
    do {
      handle(.described(try await body(connection)))
    } catch {
      answerFault = error
      handle(.undescribed)
    }
  }

  private func hasBegun(_ fault: (any Error)?) {
    guard case .beginning(let beginner) = stage else { return }
    stage = fault == nil ? .begun : .ended
    beginner.resume(returning: fault)
  }

  private func finish(_ end: WHIPSession.End) async {
    for request in requests.values { request.cancel() }
    requests = [:]
    await client.shutdown()
    let ending = ending(end)
    switch (stage, ending) {
    case (.beginning, .failed(let error)): hasBegun(error)
    case (.beginning, .disconnected(let reason)):
      hasBegun(WHIPError.brokenAnswer("no connection came of it: \(reason.sentence)"))
    case (.beginning, .left): hasBegun(CancellationError())
    default: owner.whenEnded(ending)
    }
    stage = .ended
    for leaver in leavers { leaver.resume() }
    leavers = []
  }

  private func ending(_ end: WHIPSession.End) -> Ending {
    switch end {
    case .left: .left
    case .refused(let error): .failed(error)
    case .answerRefused: .failed(answerFault ?? WHIPError.brokenAnswer("it cannot be applied"))
    case .goodbye, .unconnected: .disconnected(lastEnd)
    }
  }
}

extension PeerConnection {
  /// Drops our offer for the remote peer's, and answers that.
  fileprivate func answer(instead offer: String) throws -> String {
    try rollback()
    return try answer(to: offer)
  }
}

extension WHIPSession.Loss {
  fileprivate init(_ reason: EndReason) {
    switch reason {
    case .closedRemotely: self = .goodbye
    case .unreachable, .timedOut: self = .unreachable
    default: self = .broken(reason.sentence)
    }
  }
}
