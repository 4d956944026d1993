import NIOCore
import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO

/// Gives the machine its connection to Redis and its clock, and connects again whenever the connection is lost. Lives on
/// one event loop and nowhere else.
final class ClusterLink: RedisConnection.Owner {
  private let address: RedisAddress
  private let prefix: String
  private let eventLoop: any EventLoop
  private let onNotice: @Sendable (ClusterNotice) -> Void
  private var machine: ClusterMachine
  private var connection: RedisConnection?
  /// Finds the primary; nil: Redis has a fixed address.
  private var search: SentinelSearch?
  private var query: SentinelConnection?
  /// Finds the node of a Redis Cluster that has the keys.
  private var nodes: NodeSearch
  /// The server to which the link connects, or was connected last.
  private var server: RedisAddress
  private let timer: DeadlineTimer
  private var retry: Scheduled<Void>?
  private var attempts = 0
  /// Whether the operator knows that the connection is lost.
  private var isReportedLost = false
  /// Takes the outcome of the first attempt.
  private var whenDecided: ((RedisFailure?) -> Void)?
  private var whenStopped: [() -> Void] = []
  /// Take the answers to uses of links, by the numbers of the questions.
  private var uses: [UInt64: (LinkUseAnswer) -> Void] = [:]
  /// Take the answers to publications, by the numbers of the questions.
  private var publications: [UInt64: (PresenceAnswer) -> Void] = [:]
  private var lastQuestion: UInt64 = 0
  /// The streams of the other hubs.
  private var streams: [String: String] = [:]
  private var reportStreams: (([String: String]) -> Void)?
  private var hasStopped = false
  /// News that came before the hub.
  private var early: [PresenceEvent] = []
  private var report: ((PresenceEvent) -> Void)?

  /// The pauses between two attempts double up to the longest.
  static let firstPause: Int64 = 100, longestPause: Int64 = 1_000

  init(
    _ address: RedisAddress, _ machine: ClusterMachine, prefix: String, eventLoop: any EventLoop,
    onNotice: @escaping @Sendable (ClusterNotice) -> Void
  ) {
    (self.address, self.machine, self.prefix, self.eventLoop) = (address, machine, prefix, eventLoop)
    self.onNotice = onNotice
    (search, server) = (address.sentinels.map(SentinelSearch.init), address)
    nodes = NodeSearch(address.place)
    timer = DeadlineTimer(eventLoop: eventLoop)
  }

  /// Connects. `whenDecided` is called once: nil when the state was read, or the failure of the first attempt.
  func start(_ whenDecided: @escaping (RedisFailure?) -> Void) {
    self.whenDecided = whenDecided
    connect()
  }

  func listen(_ report: @escaping (PresenceEvent) -> Void) {
    self.report = report
    for event in early { report(event) }
    early = []
  }

  /// Signs the hub off. `done` is called when Redis has confirmed it, or cannot be reached.
  func stop(_ done: @escaping () -> Void) {
    guard !hasStopped else { return done() }
    whenStopped.append(done)
    handle(.stop)
  }

  func use(_ link: SignedLink, client: String?, _ answered: @escaping (LinkUseAnswer) -> Void) {
    lastQuestion += 1
    uses[lastQuestion] = answered
    handle(.use(lastQuestion, link, client: client))
  }

  func publish(_ stream: String, _ answered: @escaping (PresenceAnswer) -> Void) {
    lastQuestion += 1
    publications[lastQuestion] = answered
    handle(.publish(lastQuestion, stream))
  }

  func followStreams(_ report: @escaping ([String: String]) -> Void) {
    reportStreams = report
    report(streams)
  }

  func handle(_ input: ClusterMachine.Input) {
    for action in machine.handle(input, now: DeadlineTimer.now) { perform(action) }
    connection?.flush()
    timer.set(machine.deadline) { [weak self] in self?.handle(.deadline) }
  }

  private func perform(_ action: ClusterMachine.Action) {
    switch action {
    case .run(let id, let script, let arguments): connection?.run(id, script, arguments)
    case .publish(let id, let channel, let text): connection?.publish(id, channel, text)
    case .report(let event):
      if case .connected(true) = event { connected() }
      if let report { report(event) } else { early.append(event) }
    case .used(let number, let answer): uses.removeValue(forKey: number)?(answer)
    case .published(let number, let answer): publications.removeValue(forKey: number)?(answer)
    case .streams(let streams):
      self.streams = streams
      reportStreams?(streams)
    case .disconnect(let fault):
      let old = connection
      connection = nil
      old?.close()
      lost(RedisFailure(fault))
    case .stopped:
      hasStopped = true
      retry?.cancel()
      timer.set(nil) {}
      connection?.close()
      connection = nil
      query?.close()
      query = nil
      for done in whenStopped { done() }
      whenStopped = []
      for answered in uses.values { answered(.unavailable) }
      uses = [:]
      for answered in publications.values { answered(.unavailable) }
      publications = [:]
    }
  }

  // MARK: - Connections

  private func connect() {
    guard !hasStopped else { return }
    attempts += 1
    guard let step = search?.begin() else { return open(address.at(nodes.begin())) }
    take(step)
  }

  private func take(_ step: SentinelSearch.Step?) {
    switch step {
    case .ask(let place)?:
      query = SentinelConnection(address.at(place), search?.question ?? [], eventLoop) { [weak self] answer in
        guard let self else { return }
        switch answer {
        case .success(let reply): take(search?.take(reply))
        case .failure(let failure): take(search?.take(failure))
        }
      }
      query?.ask()
    case .found(let place)?: open(address.at(place))
    case .failed(let failure)?: lost(failure)
    case nil: break
    }
  }

  private func open(_ server: RedisAddress) {
    self.server = server
    let new = RedisConnection(
      server, prefix: prefix, channels: machine.channels, owner: self, eventLoop: eventLoop)
    connection = new
    new.connect()
  }

  private func connected() {
    attempts = 0
    search?.prove()
    nodes.prove()
    if isReportedLost { onNotice(.connected(server)) }
    isReportedLost = false
    whenDecided?(nil)
    whenDecided = nil
  }

  /// Follows a node that names another one; false: that one has not the keys either.
  private func follow(_ failure: RedisFailure) -> Bool {
    guard !hasStopped, case .otherNode(let text) = failure, let place = nodes.follow(text, from: server.place) else {
      return false
    }
    open(address.at(place))
    return true
  }

  private func lost(_ failure: RedisFailure) {
    if follow(failure) { return }
    if let decide = whenDecided {
      whenDecided = nil
      return decide(search == nil ? failure : failure.found(at: server.place))
    }
    guard !hasStopped else { return }
    if !isReportedLost { onNotice(.lost(failure, server)) }
    isReportedLost = true
    let doubled = Self.firstPause << Int64(min(max(attempts, 0), 8))
    let pause = Int64.random(in: min(doubled, Self.longestPause) / 2...min(doubled, Self.longestPause))
    retry = eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(pause)) { [weak self] in self?.connect() }
  }

  func opened(_ connection: RedisConnection) {
    guard connection === self.connection else { return }
    // Another server may take its place, and lack the last changes.
    if search != nil || connection.isInCluster { handle(.primary("\(server.place)")) }
    handle(.connected)
  }

  func received(_ value: RESPValue, to id: UInt64, _ connection: RedisConnection) {
    if connection === self.connection { handle(.reply(id, value)) }
  }

  func published(_ text: [UInt8], on channel: String, _ connection: RedisConnection) {
    if connection === self.connection { handle(.published(channel: channel, text)) }
  }

  func ended(_ failure: RedisFailure, _ connection: RedisConnection) {
    guard connection === self.connection else { return }
    self.connection = nil
    handle(.disconnected)
    lost(failure)
  }
}

/// News about the connection to Redis, for the operator.
package enum ClusterNotice: Sendable, Hashable, CustomStringConvertible {
  case lost(RedisFailure, RedisAddress)
  case connected(RedisAddress)

  package var description: String {
    switch self {
    case .lost(let failure, let address):
      failure.sentence(address)
        + " The hub runs on without it: calls and casts continue and names stay, but it grants no new names, and refuses "
        + "links with a limited number of uses. It connects again by itself."
    case .connected(let address): "Redis at \(address.place) is back. The hub grants names again."
    }
  }
}
