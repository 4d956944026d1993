import Glibc
import NIOCore
import RTCPrimitives
import RTCSignaling

/// Gives the hub its connections, its clock and its random numbers. Lives on the server's event loop and nowhere else.
final class HubHost {
  let eventLoop: any EventLoop
  let limits: HubLimits
  /// Called whenever the last connection has gone.
  var whenEmptied: () -> Void = {}

  private var hub: Hub
  private var connections: [HubConnectionID: HubConnection] = [:]
  private var nextID: UInt64 = 0
  private let timer: DeadlineTimer

  private let announce: @Sendable (HubNews) -> Void

  init(
    _ configuration: HubConfiguration, announce: @escaping @Sendable (HubNews) -> Void, eventLoop: any EventLoop
  ) {
    self.announce = announce
    hub = Hub(configuration)
    limits = configuration.limits
    self.eventLoop = eventLoop
    timer = DeadlineTimer(eventLoop: eventLoop)
  }

  var counters: HubCounters { hub.counters }
  var isEmpty: Bool { connections.isEmpty }

  /// A connection is there; returns what the hub knows it by.
  func admit(_ connection: HubConnection) -> HubConnectionID {
    nextID += 1
    let id = HubConnectionID(nextID)
    connections[id] = connection
    return id
  }

  func opened(_ id: HubConnectionID, _ dialect: HubDialect, _ query: [String: String]) {
    handle(
      .opened(
        id,
        HubOpening(
          dialect: dialect, query: query, secretBytes: Self.randomBytes(16), nameBytes: Self.randomBytes(16))))
  }

  func gone(_ id: HubConnectionID, _ parting: HubParting) {
    guard connections.removeValue(forKey: id) != nil else { return }
    handle(.closed(id, parting))
    if connections.isEmpty { whenEmptied() }
  }

  func handle(_ input: HubInput) {
    for action in hub.handle(input, now: DeadlineTimer.now, unixTime: Int64(time(nil))) {
      switch action {
      case .send(let id, let text): connections[id]?.send(text)
      case .ping(let id): connections[id]?.ping()
      case .close(let id, let code, let reason): connections[id]?.close(code: code, reason: reason)
      case .announce(let news): announce(news)
      }
    }
    timer.set(hub.deadline) { [weak self] in self?.handle(.deadline) }
  }

  func shutdown() { handle(.shutdown) }

  func abort() {
    for connection in connections.values { connection.abort() }
  }

  func peerNames(showing token: String) -> [String]? { hub.peerNames(showing: token) }

  static func freshName() -> String { HubOpening.name(from: randomBytes(16)) }

  private static func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}
