import RTCPrimitives
import RTCSignaling

/// A hub, a clock that moves only when told, and what each client has been sent.
struct HubBench {
  var hub: Hub
  var now = Timestamp.zero
  private(set) var inbox: [Int: [String]] = [:]
  private(set) var closings: [Int: UInt16] = [:]
  private(set) var pings: [Int] = []
  private(set) var events: [HubEvent] = []
  private(set) var audited: [AuditEvent] = []
  /// Unix time at `now` zero.
  static let start: Int64 = 1_700_000_000
  /// Both clocks then.
  static let time = AccessTime(unix: start, monotonic: .zero)
  /// Clients that take nothing off their connection.
  var stuck: Set<Int> = []

  init(
    gate: AccessGate = .open(), presence: any Presence = LocalPresence(), iceServers: [ICEServer] = [],
    turn: TURNService? = nil,
    _ change: (inout HubLimits) -> Void = { _ in }
  ) {
    var limits = HubLimits()
    change(&limits)
    hub = Hub(HubConfiguration(limits: limits, iceServers: iceServers, turn: turn), gate: gate, presence: presence)
  }

  mutating func handle(_ input: HubInput) {
    for action in hub.handle(input, now: now, unixTime: Self.start + Int64((now - Timestamp.zero).seconds)) {
      switch action {
      case .send(let id, let text):
        let client = Int(id.rawValue)
        inbox[client, default: []].append(text)
        if !stuck.contains(client) { _ = hub.handle(.drained(id, bytes: text.utf8.count), now: now) }
      case .ping(let id): pings.append(Int(id.rawValue))
      case .close(let id, let code, _): closings[Int(id.rawValue)] = code
      case .announce(let happening): events.append(happening)
      case .audit(let event): audited.append(event)
      }
    }
  }

  mutating func open(
    _ client: Int, _ dialect: HubDialect = .native, query: [String: String] = [:], from address: String = "192.0.2.1"
  ) {
    let number = UInt8(truncatingIfNeeded: client)
    handle(
      .opened(
        id(client),
        HubOpening(
          dialect: dialect, query: query, address: address, secretBytes: Array(repeating: number, count: 16),
          nameBytes: Array(repeating: number, count: 16))))
  }

  mutating func say(_ client: Int, _ json: String) { handle(.received(id(client), Array(json.utf8))) }

  /// Opens and registers, and forgets what the hub said to it.
  mutating func enter(_ client: Int, as name: String) {
    open(client)
    say(client, #"{"type":"register","id":"\#(name)"}"#)
    _ = take(client)
  }

  mutating func close(_ client: Int, _ parting: HubParting = .goodbye) { handle(.closed(id(client), parting)) }

  /// The messages to a client since the last call.
  mutating func take(_ client: Int) -> [String] { inbox.removeValue(forKey: client) ?? [] }

  /// Lets time pass, waking the hub whenever it wants to be.
  mutating func pass(_ time: TimeDelta) {
    let end = now + time
    while let due = hub.deadline, due <= end {
      now = max(now, due)
      handle(.deadline)
    }
    now = end
  }

  func id(_ client: Int) -> HubConnectionID { HubConnectionID(UInt64(client)) }
}

/// The code of an error message of the native dialect.
func errorCode(_ text: String?) -> String? {
  guard let text, text.hasPrefix(#"{"type":"error","code":""#) else { return nil }
  return String(text.dropFirst(24).prefix { $0 != "\"" })
}
