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
  /// Called with each link that another hub has revoked, and the Unix time of its end.
  var whenRevoked: (String, Int64?) -> Void = { _, _ in }
  /// Called with the address of each client that has shown a wrong credential to another hub.
  var whenWrong: (String) -> Void = { _ in }
  /// Called with each decision about access.
  var audit: (AuditEvent) -> Void = { _ in }

  private var hub: Hub
  private var connections: [HubConnectionID: HubConnection] = [:]
  private var nextID: UInt64 = 0
  private let timer: DeadlineTimer

  private let announce: @Sendable (HubEvent) -> Void

  init(
    _ configuration: HubConfiguration, gate: AccessGate, presence: any Presence,
    announce: @escaping @Sendable (HubEvent) -> Void, eventLoop: any EventLoop
  ) {
    self.announce = announce
    hub = Hub(configuration, gate: gate, presence: presence)
    limits = configuration.limits
    self.eventLoop = eventLoop
    timer = DeadlineTimer(eventLoop: eventLoop)
    let host = NIOLoopBound(WeakHost(self), eventLoop: eventLoop)
    presence.start { event in eventLoop.execute { host.value.host?.take(event) } }
  }

  /// The presence may outlive the hub.
  private struct WeakHost {
    weak var host: HubHost?
    init(_ host: HubHost) { self.host = host }
  }

  var counters: HubCounters { hub.counters }
  var isEmpty: Bool { connections.isEmpty }

  /// Adds a connection; returns its identifier in the hub.
  func admit(_ connection: HubConnection) -> HubConnectionID {
    nextID += 1
    let id = HubConnectionID(nextID)
    connections[id] = connection
    return id
  }

  func opened(_ id: HubConnectionID, _ dialect: HubDialect, _ query: [String: String], from address: String) {
    handle(
      .opened(
        id,
        HubOpening(
          dialect: dialect, query: query, address: address, secretBytes: Self.randomBytes(16),
          nameBytes: Self.randomBytes(16))))
  }

  func gone(_ id: HubConnectionID, _ parting: HubParting) {
    guard connections.removeValue(forKey: id) != nil else { return }
    handle(.closed(id, parting))
    if connections.isEmpty { whenEmptied() }
  }

  private func take(_ event: PresenceEvent) {
    switch event {
    case .revoked(let link, let expires): whenRevoked(link, expires)
    case .wrongTry(let address): whenWrong(address)
    default: handle(.presence(event))
    }
  }

  func handle(_ input: HubInput) {
    for action in hub.handle(input, now: DeadlineTimer.now, unixTime: AccessTime.now.unix) {
      switch action {
      case .send(let id, let text): connections[id]?.send(text)
      case .ping(let id): connections[id]?.ping()
      case .close(let id, let code, let reason): connections[id]?.close(code: code, reason: reason)
      case .announce(let event): announce(event)
      case .audit(let event): audit(event)
      }
    }
    timer.set(hub.deadline) { [weak self] in self?.handle(.deadline) }
  }

  func shutdown() { handle(.shutdown) }

  func abort() {
    for connection in connections.values { connection.abort() }
  }

  func peerNames(showing token: String, from address: String) -> [String]? {
    hub.peerNames(showing: token, from: address, now: .now)
  }

  static func freshName() -> String { HubOpening.name(from: randomBytes(16)) }

  private static func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}

extension AccessTime {
  /// By the wall clock, and by the event loops' own.
  static var now: AccessTime { AccessTime(unix: Int64(time(nil)), monotonic: DeadlineTimer.now) }
}

extension Channel {
  /// The client's IP address without the IPv6 clothes that a dual-stack socket puts on IPv4; empty when it is not known. A client
  /// of a Unix socket is a program of this machine.
  var clientAddress: String {
    if remoteAddress?.protocol == .unix { return unixClientAddress }
    let text = remoteAddress?.ipAddress ?? ""
    return text.hasPrefix("::ffff:") && text.contains(".") ? String(text.dropFirst(7)) : text
  }
}

/// The address of clients of a Unix socket: this machine's.
let unixClientAddress = "127.0.0.1"
