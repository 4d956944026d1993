import RTCPrimitives
import RTCSignaling

/// Clients of a hub that come, send, fall silent, leave and return while time passes; the first of them uses the native
/// dialect. The input is lines: a line that begins with `{` is a message of the present client, the first letter of any
/// other selects an event. No client gets more than its limits, and when all have left and time has passed the hub
/// holds nothing.
public func fuzzHub(_ bytes: Span<UInt8>) { fuzzHubDialect(bytes, .native) }

/// Clients of a hub, the first with the dialect of PeerJS.
public func fuzzPeerJS(_ bytes: Span<UInt8>) { fuzzHubDialect(bytes, .peerJS) }

/// Clients of a hub, the first with the dialect of SkyRTC.
public func fuzzSkyRTC(_ bytes: Span<UInt8>) { fuzzHubDialect(bytes, .skyRTC) }

private func fuzzHubDialect(_ bytes: Span<UInt8>, _ dialect: HubDialect) {
  let lines = fuzzLines(bytes)
  var model = HubModel(dialect, isClosed: lines[0].first == UInt8(ascii: "k"))
  for line in lines { model.happen(line) }
  model.finish()
}

private struct HubModel {
  private static let speakers = 6
  private static let secret = AccessToken(fuzzSecret)!
  private let isClosed: Bool
  private let dialects: [HubDialect]
  private let limits: HubLimits
  private var hub: Hub
  private var now = Timestamp.zero + .seconds(1_000)
  private let unixStart: Int64 = 1_700_000_000
  /// The connection of each client while it is connected; with the bytes on their way to it.
  private var connections: [HubConnectionID?]
  private var queued: [HubConnectionID: Int] = [:]
  private var opened: UInt64 = 0
  private var speaker = 0

  init(_ dialect: HubDialect, isClosed: Bool) {
    self.isClosed = isClosed
    dialects = (0..<Self.speakers).map { $0 < 3 ? dialect : HubDialect.allCases[$0 % 3] }
    connections = Array(repeating: nil, count: Self.speakers)
    // Small, so that inputs reach them.
    var limits = HubLimits()
    limits.connections = 5
    limits.peers = 5
    limits.rooms = 3
    limits.roomMembers = 3
    limits.roomsPerPeer = 2
    limits.followers = 2
    limits.messageBurst = 40
    limits.byteBurst = 20_000
    limits.messageBytes = 4_096
    limits.namelessMessageBytes = 1_024
    limits.faultBurst = 8
    limits.outgoingBytes = 8_192
    limits.outgoingBytesInAll = 20_000
    limits.heldPerPeer = 3
    limits.heldMessages = 5
    limits.heldBytes = 3_000
    limits.bridges = 2
    limits.callsPerBridge = 2
    self.limits = limits
    hub = Hub(HubConfiguration(limits: limits), gate: isClosed ? AccessGate(secret: Self.secret) : .open())
    for speaker in 0..<4 { open(speaker) }
  }

  private var unixTime: Int64 { unixStart + (now.nanoseconds / 1_000_000_000) }

  // MARK: - What happens

  mutating func happen(_ line: [UInt8]) {
    let how = line.count > 1 ? Int(line[1]) : 0
    switch line.first.map({ Character(Unicode.Scalar($0)) }) {
    case "s": speaker = how % Self.speakers
    case "o": open(speaker)
    case "x": close(.lost)
    case "g": close(.goodbye)
    case "d": drain(how)
    case "h": if let id = connections[speaker] { handle(.heard(id)) }
    case "u": if let id = connections[speaker] { handle(.unreadable(id, .tooLarge(limit: how))) }
    case "t": pass(.milliseconds(Int64(how) * Int64(how)))
    case "r": handle(.revoked("identifier-\(how & 3)"))
    case nil: break
    default: if let id = connections[speaker] { handle(.received(id, said(line))) }
    }
  }

  private mutating func open(_ speaker: Int) {
    guard connections[speaker] == nil else { return }
    opened += 1
    let id = HubConnectionID(opened)
    let number = UInt8(truncatingIfNeeded: opened)
    connections[speaker] = id
    queued[id] = 0
    let opening = HubOpening(
      dialect: dialects[speaker],
      query: ["id": "p\(speaker)", "token": "t\(speaker)", "key": isClosed ? fuzzSecret : "peerjs"],
      address: "192.0.2.\(speaker)", secretBytes: [UInt8](repeating: number, count: 16),
      nameBytes: [UInt8](repeating: number, count: 16))
    handle(.opened(id, opening))
  }

  private mutating func close(_ parting: HubParting) {
    guard let id = connections[speaker] else { return }
    connections[speaker] = nil
    queued[id] = nil
    handle(.closed(id, parting))
  }

  private mutating func drain(_ how: Int) {
    guard let id = connections[speaker], let waiting = queued[id] else { return }
    let left = how & 1 == 0 ? 0 : max(0, waiting - how * 16)
    queued[id] = left
    handle(.drained(id, bytes: waiting - left))
  }

  private mutating func pass(_ time: TimeDelta) {
    let end = now + time
    while let deadline = hub.deadline, deadline <= end {
      now = max(now, deadline)
      handle(.deadline)
      if let next = hub.deadline { precondition(next > now, "the hub wakes without end") }
    }
    now = end
  }

  /// A line as it is said: `$0` to `$3` stand for links that the hub's owner signed, `$S` for the secret.
  private func said(_ line: [UInt8]) -> [UInt8] {
    guard isClosed, let mark = line.firstIndex(of: UInt8(ascii: "$")), mark + 1 < line.count else { return line }
    let kind = line[mark + 1]
    var word = fuzzSecret
    if (48...51).contains(kind) {
      let link = SignedLink(
        .call, issued: unixStart, expires: kind == 49 ? unixStart + 1_060 : nil, uses: kind == 50 ? 1 : nil,
        id: "identifier-\(kind - 48)", name: kind == 51 ? "c" : nil)
      word = link.signed(with: Self.secret)
    }
    return line[..<mark] + Array(word.utf8) + line[(mark + 2)...]
  }

  // MARK: - What must hold

  private mutating func handle(_ input: HubInput) {
    for action in hub.handle(input, now: now, unixTime: unixTime) {
      switch action {
      case .send(let id, let text):
        precondition(text.hasPrefix("{") && text.hasSuffix("}"), "no object: \(text)")
        guard let waiting = queued[id] else { preconditionFailure("sent to a connection that is closed") }
        queued[id] = waiting + text.utf8.count
        // The last word to one that is closed is not counted.
        precondition(waiting <= limits.outgoingBytes, "too much is on its way to one client")
      case .close(let id, _, let reason):
        precondition(queued.removeValue(forKey: id) != nil, "a connection is closed twice")
        precondition(!reason.isEmpty)
        for index in connections.indices where connections[index] == id { connections[index] = nil }
      case .ping(let id): precondition(queued[id] != nil, "a ping to a connection that is closed")
      case .announce, .audit: break
      }
    }
    let counters = hub.counters
    precondition(counters.connections == queued.count && counters.connections <= limits.connections)
    precondition((0...limits.peers).contains(counters.peers) && (0...limits.rooms).contains(counters.rooms))
    precondition((0...limits.heldMessages).contains(counters.heldMessages))
    precondition((0...limits.heldBytes).contains(counters.heldBytes) && counters.absentPeers >= 0)
    precondition((0...limits.bridges).contains(counters.bridges))
  }

  /// All clients leave for good.
  mutating func finish() {
    for index in connections.indices {
      speaker = index
      close(index.isMultiple(of: 2) ? .lost : .goodbye)
    }
    pass(.seconds(200))
    let counters = hub.counters
    precondition(counters.connections == 0 && counters.peers == 0 && counters.absentPeers == 0, "\(counters)")
    precondition(counters.rooms == 0 && counters.bridges == 0, "\(counters)")
    precondition(counters.heldMessages == 0 && counters.heldBytes == 0 && hub.deadline == nil, "\(counters)")
  }
}
