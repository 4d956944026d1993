import RTCEngine
import RTCICE
import RTCPeer
import RTCPrimitives
import RTCSignaling
import Synchronization

/// The viewers of one stream: opens, follows and closes their connections. Any thread.
final class ViewerRegistry: WHEPSessions {
  /// The properties of the stream.
  struct Stream: Sendable {
    var maximumViewers: Int
    /// Makes a viewer's connection, configured as for all with these changes.
    var makeConnection: @Sendable (_ change: Change) -> PeerConnection
    /// Inspects the negotiated media, and may refuse the viewer.
    var inspect: @Sendable (PeerConnection, _ offer: String) async throws(WHEPRefusal) -> Void = { _, _ in }
    /// Whether the stream has pictures and sound, now or later.
    var content: @Sendable () -> (video: Bool, audio: Bool)
    /// The supported video codecs, for refusals.
    var codecs: @Sendable () -> String
    var isLive: @Sendable () -> Bool = { true }
    /// The ICE servers for viewers.
    var iceServers: [ICEServer] = []
    /// The features of viewers' pages.
    var page = PageFeatures()
    /// Decides about each viewer; nil: all are admitted.
    var admission: (any ViewerAdmission)?
    /// The whole picture; nil while there is none.
    var snapshot: @Sendable () async -> CastSnapshot? = { nil }
    /// Counts refusals.
    var refusals: RefusalCounts
    /// Figures for Prometheus.
    var metrics: @Sendable () async -> [CastMetric] = { [] }
  }

  typealias Change = (inout PeerConnection.Configuration) -> Void

  private struct Viewer {
    var connection: PeerConnection
    var generation = ICEGeneration()
    var isConnected = false
    /// The viewer's network; nil if the connection was made without a request.
    var network: ClientNetwork?
    /// It is not connected yet.
    var isPending = false
    /// Follows the connection's events to their end.
    var task: Task<Void, Never>?
  }

  private let stream: Stream
  private let report: @Sendable (BroadcastEvent) -> Void
  private let viewers = Mutex<[String: Viewer]>([:])
  /// Places taken by offers that wait for their answers.
  private let arriving = Mutex<[ClientNetwork: Int]>([:])
  /// The reasons why sessions that have ended had no connection, the latest last.
  private let diagnoses = Mutex<[(id: String, sentence: String)]>([])
  private static let diagnosesKept = 32
  /// The stream has ended: no viewer is admitted any more.
  private let isOver = Atomic(false)

  init(_ stream: Stream, report: @escaping @Sendable (BroadcastEvent) -> Void = { _ in }) {
    self.stream = stream
    self.report = report
  }

  /// The number of viewers, including those that are still connecting.
  var count: Int { viewers.withLock { $0.count } }

  // MARK: - WHEP

  var iceServers: [ICEServer] { stream.iceServers }

  var refusals: [RefusalCounts.Subject: UInt64] { stream.refusals.all }

  func open(stream name: String?, offer: String, remote: String) async throws(WHEPRefusal) -> WHEPAnswer {
    try await open(stream: name, offer: offer, remote: remote, place: nil)
  }

  func open(
    stream name: String?, offer: String, remote: String, place: IPAddress?
  ) async throws(WHEPRefusal) -> WHEPAnswer {
    try takePlace(name, from: remote)
    defer { leavePlace(ClientNetwork(remote)) }
    let connection = try await admit(remote, place)
    do {
      let answer = try await connection.answer(to: offer)
      let content = stream.content()
      let refusal = UnservedOffer.refusal(
        of: offer, answeredBy: answer, sendsVideo: content.video, sendsAudio: content.audio, codecs: stream.codecs())
      if let refusal { throw refusal }
      try await stream.inspect(connection, offer)
      return enter(connection, answer, ICEGeneration(offer), from: remote)
    } catch {
      throw await refuse(connection, error)
    }
  }

  func offer(stream name: String?, remote: String) async throws(WHEPRefusal) -> WHEPAnswer {
    try await offer(stream: name, remote: remote, place: nil)
  }

  func offer(stream name: String?, remote: String, place: IPAddress?) async throws(WHEPRefusal) -> WHEPAnswer {
    try takePlace(name, from: remote)
    defer { leavePlace(ClientNetwork(remote)) }
    let connection = try await admit(remote, place)
    do {
      return enter(connection, try await connection.createOffer(), ICEGeneration(), from: remote)
    } catch {
      throw await refuse(connection, error)
    }
  }

  /// Makes the connection of a viewer that has a place, once it is admitted.
  private func admit(_ remote: String, _ place: IPAddress?) async throws(WHEPRefusal) -> PeerConnection {
    if let decision = stream.admission?.decide(on: ViewerRequest(remote: remote)) {
      switch await decision.answer() {
      case true?: break
      case false?: throw .notAdmitted
      case nil: throw .admissionPending
      }
      guard !isOver.load(ordering: .acquiring) else { throw .streamNotNamed([]) }
    }
    return makeConnection {
      $0.remoteAddress = place ?? IPAddress(remote)
      $0.firstContactTimeout = PeerLimits.firstContact
    }
  }

  /// Takes a place for an offer until it is answered: a session has it then.
  private func takePlace(_ name: String?, from remote: String) throws(WHEPRefusal) {
    if let name { throw .noSuchStream(name) }
    guard !isOver.load(ordering: .acquiring) else { throw .streamNotNamed([]) }
    let network = ClientNetwork(remote)
    // Both under one lock: a viewer that is connecting is in at least one of the counts.
    let refusal = viewers.withLock { viewers in
      arriving.withLock { arriving in place(for: network, among: viewers, &arriving) }
    }
    guard let refusal else { return }
    stream.refusals.count(refusal.0)
    throw .tooManyViewers(limit: refusal.limit)
  }

  /// - Returns: why there is no place, and how many there are; nil when one was taken.
  private func place(
    for network: ClientNetwork, among viewers: [String: Viewer], _ arriving: inout [ClientNetwork: Int]
  ) -> (RefusalCounts.Subject, limit: Int)? {
    let own = viewers.values.filter { $0.network == network }
    let (coming, share) = (arriving[network] ?? 0, max(1, stream.maximumViewers / 2))
    if viewers.count + arriving.values.reduce(0, +) >= stream.maximumViewers {
      return (.session, stream.maximumViewers)
    }
    // A network leaves capacity to others, especially while its viewers are not yet connected.
    if !network.isLoopback, own.count + coming >= share { return (.session, share) }
    if own.count(where: \.isPending) + coming >= PeerLimits.unconnectedOfAddress {
      return (.halfOpenSession, PeerLimits.unconnectedOfAddress)
    }
    arriving[network] = coming + 1
    return nil
  }

  private func leavePlace(_ network: ClientNetwork) {
    arriving.withLock { arriving in
      guard let count = arriving[network] else { return }
      arriving[network] = count > 1 ? count - 1 : nil
    }
  }

  private func enter(
    _ connection: PeerConnection, _ description: String, _ generation: ICEGeneration, from remote: String
  ) -> WHEPAnswer {
    let delay = ViewerDelay(of: connection, from: remote, report)
    follow(
      connection, generation, for: ClientNetwork(remote), delay: delay,
      onFailure: { [report] in report(.viewerFailed(id: connection.id, from: remote, $0)) },
      onEnd: { [report] in report(.viewerLeft(id: connection.id, $0)) })
    return WHEPAnswer(id: connection.id, answer: description, etag: generation.etag)
  }

  func diagnosis(of id: String, checks: ViewerChecks) async -> String? {
    guard let viewer = viewers.withLock({ $0[id] }) else {
      return diagnoses.withLock { $0.first { $0.id == id }?.sentence }
    }
    guard !viewer.isConnected else { return nil }
    let counts = ConnectionDiagnosis.Checks(sent: checks.sent, answered: checks.answered, received: checks.received)
    return await viewer.connection.diagnosis(viewer: counts)?.sentence
  }

  /// Keeps the reason why a session had no connection, for its viewer to ask.
  private func keepDiagnosis(of connection: PeerConnection) async {
    guard let sentence = await connection.diagnosis()?.sentence else { return }
    diagnoses.withLock { kept in
      kept.removeAll { $0.id == connection.id }
      kept.append((connection.id, sentence))
      if kept.count > Self.diagnosesKept { kept.removeFirst() }
    }
  }

  private func refuse(_ connection: PeerConnection, _ error: any Error) async -> WHEPRefusal {
    await connection.close()
    return error as? WHEPRefusal ?? WHEPRefusal(error, codecs: stream.codecs())
  }

  func accept(id: String, answer: String) async throws(WHEPRefusal) {
    let viewer = try viewer(id)
    try await viewer.connection.take(answer: answer, viewer.generation)
    do throws(WHEPRefusal) { try await stream.inspect(viewer.connection, answer) } catch {
      await viewer.connection.close()
      throw error
    }
  }

  func patch(id: String, fragment: String, etag: String?) async throws(WHEPRefusal) -> WHEPPatchResult {
    let viewer = try viewer(id)
    return try await viewer.connection.patch(fragment, etag: etag, viewer.generation)
  }

  func etag(of id: String) async -> String? { viewers.withLock { $0[id] }?.generation.etag }

  private func viewer(_ id: String) throws(WHEPRefusal) -> Viewer {
    guard let viewer = viewers.withLock({ $0[id] }) else { throw .noSuchSession }
    return viewer
  }

  func close(id: String) async -> Bool {
    guard let viewer = viewers.withLock({ $0[id] }) else { return false }
    let connection = viewer.connection
    if !viewer.isConnected { await keepDiagnosis(of: connection) }
    await connection.close()
    // Later requests find no session, even before its end is processed.
    remove(id)
    return true
  }

  func status() async -> CastStatus {
    CastStatus(isLive: stream.isLive(), viewers: viewers.withLock { $0.values.count(where: \.isConnected) })
  }

  func snapshot() async -> CastSnapshot? { await stream.snapshot() }

  func metrics() async -> [CastMetric] { await stream.metrics() }

  // MARK: - Connections

  func makeConnection(_ change: Change = { _ in }) -> PeerConnection { stream.makeConnection(change) }

  /// Counts `connection` among the viewers and follows it to its end.
  /// - Parameters:
  ///   - network: whose offer it answers; nil for one that is made without an offer.
  ///   - delay: reports why there is no connection yet.
  ///   - onFailure: called when no connection could be made.
  ///   - onEnd: called at the end of a connection that was made.
  ///   - onEvent: is handed every event first.
  func follow(
    _ connection: PeerConnection, _ generation: ICEGeneration = ICEGeneration(), for network: ClientNetwork? = nil,
    delay: ViewerDelay? = nil,
    onFailure: @escaping @Sendable (EndReason) -> Void = { _ in },
    onEnd: @escaping @Sendable (EndReason) -> Void = { _ in },
    onEvent: @escaping @Sendable (PeerConnectionEvent) async -> Void = { _ in }
  ) {
    viewers.withLock { viewers in
      viewers[connection.id] = Viewer(
        connection: connection, generation: generation, network: network, isPending: network != nil)
    }
    let task = Task {
      // The end of the stream overtook who was on the way in.
      if isOver.load(ordering: .acquiring) { await connection.close() }
      var wasConnected = false
      var reason = EndReason.closedLocally
      for await event in connection.events {
        await onEvent(event)
        await stream.page.handle(event, of: connection)
        switch event {
        case .stateChanged(.connected):
          if !wasConnected { report(.viewerJoined(id: connection.id)) }
          wasConnected = true
          delay?.end()
          setConnected(true, connection.id)
        case .stateChanged(.disconnected): setConnected(false, connection.id)
        case .stateChanged(.ended(let why)): reason = why
        default: break
        }
      }
      if !wasConnected { await keepDiagnosis(of: connection) }
      remove(connection.id)
      if wasConnected {
        onEnd(reason)
      } else if !reason.isGoodbye {
        await delay?.tell()
        onFailure(reason)
      }
      delay?.end()
    }
    viewers.withLock { $0[connection.id]?.task = task }
  }

  private func setConnected(_ isConnected: Bool, _ id: String) {
    viewers.withLock { viewers in
      viewers[id]?.isConnected = isConnected
      if isConnected { viewers[id]?.isPending = false }
    }
  }

  private func remove(_ id: String) { viewers.withLock { viewers in _ = viewers.removeValue(forKey: id) } }

  func setBitrates(_ limits: BitrateLimits) async {
    for connection in viewers.withLock({ $0.values.map(\.connection) }) { await connection.setBitrates(limits) }
  }

  /// Says goodbye to all, and waits until they are gone.
  func closeAll() async {
    isOver.store(true, ordering: .releasing)
    let all = viewers.withLock { Array($0.values) }
    for viewer in all { await viewer.connection.close() }
    for viewer in all { await viewer.task?.value }
  }

  /// The key code of one viewer; see `PeerStatistics.keyCode`.
  func keyCode(of id: String) async -> String? {
    await viewers.withLock { $0[id]?.connection }?.statistics().keyCode
  }

  /// The statistics of the connected viewers.
  func statistics() async -> [(id: String, statistics: PeerStatistics)] {
    var result: [(String, PeerStatistics)] = []
    for viewer in viewers.withLock({ Array($0.values) }) where viewer.isConnected {
      result.append((viewer.connection.id, await viewer.connection.statistics()))
    }
    return result.sorted { $0.0 < $1.0 }
  }
}

extension EndReason {
  /// One side ended the connection because it wanted to.
  fileprivate var isGoodbye: Bool { self == .closedLocally || self == .closedRemotely }
}
