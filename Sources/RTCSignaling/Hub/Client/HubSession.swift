public import RTCPrimitives

/// The client's side of the hub, without socket, clock and random numbers: registers, keeps the connection alive,
/// reconnects with growing pauses, resumes its name and rooms, and queues messages meanwhile.
///
/// The first connection either succeeds or ends the session with the reason. After it has succeeded, the session ends
/// only at the application's request, or if the hub does not allow this client to return.
public struct HubSession: Sendable {
  /// Time-outs and limits of the client.
  public struct Options: Sendable, Hashable {
    /// For a connection to be made and registered.
    public var timeout = TimeDelta.seconds(10)
    /// Before the second attempt; doubles with each, up to the longest. The true pauses are 50 to 100 % of that, so that
    /// a thousand clients of a restarted hub do not come at once.
    public var firstPause = TimeDelta.milliseconds(500)
    /// The longest back-off between two attempts.
    public var longestPause = TimeDelta.seconds(30)
    /// Without a word from the hub, after which it is asked for a sign of life …
    public var pingInterval = TimeDelta.seconds(15)
    /// … for which it has this long.
    public var pongTimeout = TimeDelta.seconds(10)
    /// The time-out after a change of network: a connection from a lost address stays silent, and a call that the
    /// change has broken waits for the session.
    public var hurriedPongTimeout = TimeDelta.seconds(1)
    /// The maximum number of messages that wait for the connection; the oldest are dropped.
    public var queuedMessages = 256
    /// Bytes of messages kept for the time after an interruption.
    public var queuedBytes = 1_048_576

    /// The defaults.
    public init() {}
  }

  /// An input from the transport. Inputs of a connection that the session has given up must not follow.
  public enum Input: Sendable, Hashable {
    /// Begins to connect.
    case start
    /// The WebSocket connection is made.
    case opened
    /// The connection could not be made.
    case failed(HubClientError)
    /// A whole text message.
    case received([UInt8])
    /// A sign of life without a message.
    case heard
    /// The connection ended; the WebSocket status, if one was said.
    case closed(code: UInt16?)
    /// Sends a message to a peer, now or after the interruption.
    case send(HubMessage, to: String)
    /// Enters a room, again after each interruption.
    case join(room: String)
    /// Leaves a room.
    case leave(room: String)
    /// The machine's network is back, or another: a pause ends, and a connection shows at once whether it still lives.
    case networkReturned
    /// Ask who is there.
    case list
    /// Request the list of peers and its changes.
    case follow
    /// Say goodbye and end.
    case close
    /// The time that `deadline` named has come.
    case deadline
  }

  /// An action for the transport, in order.
  public enum Action: Sendable, Hashable {
    /// Opens a WebSocket.
    case connect
    /// Sends a text message.
    case send(String)
    /// Sends a WebSocket ping.
    case ping
    /// Close the connection with a goodbye; nothing of it is wanted any more.
    case disconnect
    /// Reports an event to the application.
    case report(HubClientEvent)
  }

  enum Stage {
    case fresh
    case connecting(until: Timestamp)
    case registering(until: Timestamp)
    case registered(since: Timestamp)
    case pausing(until: Timestamp)
    case ended
  }

  private let address: HubAddress
  private let token: String?
  private let secret: String
  private let options: Options
  private let isListed: Bool
  private var name: String?
  private var random: SeededGenerator
  private var stage = Stage.fresh
  /// Whether a connection has ever been registered: then it is worth coming back.
  private var wasRegistered: Bool { registrations > 0 }
  private var registrations = 0
  private var attempts = 0
  private var heard = Timestamp.zero
  private var pinged: Timestamp?
  /// For the answer to that.
  private var patience = TimeDelta.zero
  /// Rooms that the application is in, in the order it joined.
  private var rooms: [String] = []
  private var isFollowing = false
  private var queue: [String] = []
  private var queuedBytes = 0
  private var actions: [Action] = []

  /// - Parameters:
  ///   - name: nil lets the hub choose one.
  ///   - secret: 16 to 128 unguessable characters, with which the name is resumed.
  ///   - isListed: whether others see this client in the list of peers.
  ///   - seed: for the pauses.
  public init(
    address: HubAddress, name: String?, token: String?, secret: String, isListed: Bool = true,
    options: Options = Options(), seed: UInt64
  ) {
    self.isListed = isListed
    self.address = address
    self.name = name
    self.token = token
    self.secret = secret
    self.options = options
    random = SeededGenerator(seed: seed)
  }

  /// When `handle(.deadline, …)` is wanted; nil: not before something else happens.
  public var deadline: Timestamp? {
    switch stage {
    case .fresh, .ended: nil
    case .connecting(let until), .registering(let until), .pausing(let until): until
    case .registered: pinged.map { $0 + patience } ?? heard + options.pingInterval
    }
  }

  /// Whether the session has ended for good.
  public var hasEnded: Bool { if case .ended = stage { true } else { false } }

  /// Handles an input; returns the actions, in order. `now` must not decrease.
  public mutating func handle(_ input: Input, now: Timestamp) -> [Action] {
    switch input {
    case .start:
      guard case .fresh = stage else { break }
      connect(now)
    case .opened: register(now)
    case .failed(let error): lose(error, now)
    case .received(let bytes):
      sawLife(now)
      receive(bytes, now)
    case .heard: sawLife(now)
    case .closed(let code): closed(code, now)
    case .send(let message, let peer): post(message.text(to: peer))
    case .join(let room): join(room)
    case .leave(let room): leave(room)
    case .networkReturned: hurry(now)
    case .list: post(Self.listing(isFollowing: isFollowing))
    case .follow: follow()
    case .close: close()
    case .deadline: wake(now)
    }
    defer { actions = [] }
    return actions
  }

  // MARK: - The connection

  private mutating func connect(_ now: Timestamp) {
    attempts += 1
    stage = .connecting(until: now + options.timeout)
    actions.append(.connect)
  }

  private mutating func register(_ now: Timestamp) {
    guard case .connecting(let until) = stage else { return }
    stage = .registering(until: until)
    sawLife(now)
    var members: [(String, JSONValue)] = [("type", "register"), ("secret", .string(secret))]
    if let name { members.append(("id", .string(name))) }
    if let token { members.append(("token", .string(token))) }
    if !isListed { members.append(("listed", .bool(false))) }
    if wasRegistered { members.append(("returning", .bool(true))) }
    actions.append(.send(JSONValue.object(members).text))
  }

  private mutating func closed(_ code: UInt16?, _ now: Timestamp) {
    if code == 4000 { return end(.replaced) }
    lose(.connectionLost(reason: code.map { "the hub closed it (\($0))" } ?? "it broke"), now)
  }

  private mutating func lose(_ error: HubClientError, _ now: Timestamp) {
    switch stage {
    case .fresh, .ended, .pausing: return
    case .registered(let since): if now - since >= options.timeout { attempts = 0 }
    case .connecting, .registering: break
    }
    guard wasRegistered else { return end(error) }
    let doubled = options.firstPause.nanoseconds.multipliedReportingOverflow(by: 1 << Int64(min(attempts, 20)))
    let pause = min(doubled.overflow ? .max : doubled.partialValue, options.longestPause.nanoseconds)
    let chosen = TimeDelta(nanoseconds: pause / 2 + Int64.random(in: 0...max(0, pause / 2), using: &random))
    stage = .pausing(until: now + chosen)
    pinged = nil
    actions.append(.report(.disconnected(error, retryAfter: chosen)))
  }

  private mutating func wake(_ now: Timestamp) {
    guard let due = deadline, due <= now else { return }
    switch stage {
    case .fresh, .ended: return
    case .connecting, .registering:
      actions.append(.disconnect)
      lose(.timeout(address, seconds: max(1, options.timeout.milliseconds / 1000)), now)
    case .pausing: connect(now)
    case .registered:
      guard pinged != nil else { return ask(options.pongTimeout, now) }
      let isHurried = patience < options.pongTimeout
      actions.append(.disconnect)
      lose(.connectionLost(reason: "the hub has gone silent"), now)
      // The network is there: no reason to wait.
      if isHurried { hurry(now) }
    }
  }

  private mutating func hurry(_ now: Timestamp) {
    switch stage {
    case .pausing:
      attempts = 0
      connect(now)
    case .registered:
      guard pinged.map({ $0 + patience > now + options.hurriedPongTimeout }) ?? true else { return }
      ask(options.hurriedPongTimeout, now)
    case .connecting, .registering:
      // An attempt from an address that may be gone.
      guard wasRegistered else { return }
      actions.append(.disconnect)
      connect(now)
    case .fresh, .ended: return
    }
  }

  /// For a sign of life.
  private mutating func ask(_ patience: TimeDelta, _ now: Timestamp) {
    pinged = now
    self.patience = patience
    actions.append(.ping)
  }

  private mutating func sawLife(_ now: Timestamp) {
    heard = now
    pinged = nil
  }

  private mutating func close() {
    switch stage {
    case .ended: return
    case .connecting, .registering, .registered: actions.append(.disconnect)
    case .fresh, .pausing: break
    }
    stage = .ended
    actions.append(.report(.ended(nil)))
  }

  /// Ends the session for good.
  private mutating func end(_ error: HubClientError) {
    if case .ended = stage { return }
    stage = .ended
    actions.append(.disconnect)
    actions.append(.report(.ended(error)))
  }

  // MARK: - Sending

  private mutating func post(_ text: String) {
    switch stage {
    case .ended: return
    case .registered: actions.append(.send(text))
    case .fresh, .connecting, .registering, .pausing:
      queue.append(text)
      queuedBytes += text.utf8.count
      while !queue.isEmpty, queue.count > options.queuedMessages || queuedBytes > options.queuedBytes {
        queuedBytes -= queue.removeFirst().utf8.count
      }
    }
  }

  private mutating func join(_ room: String) {
    if !rooms.contains(room) { rooms.append(room) }
    // Before the registration, rooms are joined together with it.
    if case .registered = stage { actions.append(.send(Self.text("join", room))) }
  }

  private mutating func leave(_ room: String) {
    rooms.removeAll { $0 == room }
    if case .registered = stage { actions.append(.send(Self.text("leave", room))) }
  }

  private mutating func follow() {
    isFollowing = true
    // Before the registration, the request is sent together with it.
    if case .registered = stage { actions.append(.send(Self.listing(isFollowing: true))) }
  }

  private static func listing(isFollowing: Bool) -> String {
    JSONValue.object([("type", "list"), ("follow", .bool(isFollowing))]).text
  }

  private static func text(_ type: String, _ room: String) -> String {
    JSONValue.object([("type", .string(type)), ("room", .string(room))]).text
  }

  // MARK: - Receiving

  private mutating func receive(_ bytes: [UInt8], _ now: Timestamp) {
    guard let message = HubClientMessage(parsing: bytes) else { return }
    switch message {
    case .registered(let registration): registered(registration, now)
    case .event(.refused(let refusal)): refused(refusal)
    case .event(let event):
      guard case .registered = stage else { return }
      if case .peers(let room, _) = event, !rooms.contains(room) { return }
      actions.append(.report(event))
    }
  }

  private mutating func registered(_ registration: HubRegistration, _ now: Timestamp) {
    guard case .registering = stage else { return }
    stage = .registered(since: now)
    name = registration.id
    registrations += 1
    actions.append(.report(.registered(registration)))
    // Rooms that were left or joined while there was no connection, or that a restarted hub has forgotten.
    for room in registration.rooms where !rooms.contains(room) { actions.append(.send(Self.text("leave", room))) }
    for room in rooms where !registration.rooms.contains(room) { actions.append(.send(Self.text("join", room))) }
    if isFollowing { actions.append(.send(Self.listing(isFollowing: true))) }
    for text in queue { actions.append(.send(text)) }
    queue = []
    queuedBytes = 0
  }

  /// The reasons for refusing a signed link.
  private static let linkCodes: Set = [
    "link-expired", "link-too-early", "link-used-up", "link-revoked", "link-for-other",
  ]

  private mutating func refused(_ refusal: HubRefusal) {
    if let room = refusal.room, ["room-full", "bad-room"].contains(refusal.code) { rooms.removeAll { $0 == room } }
    guard case .registering = stage else {
      if case .registered = stage {
        if refusal.code == "replaced" { return end(.replaced) }
        if Self.linkCodes.contains(refusal.code) { return end(.linkRefused(refusal.message)) }
        actions.append(.report(.refused(refusal)))
      }
      return
    }
    switch refusal.code {
    case "bad-token": end(.badToken(hadToken: token != nil))
    case "taken-name": end(.nameTaken(name ?? ""))
    case let code where Self.linkCodes.contains(code): end(.linkRefused(refusal.message))
    case "bad-name": end(.badName(refusal.message))
    case "weak-secret", "malformed": end(.refused(refusal))
    default:
      // Full, or going: the hub closes, and it may be worth coming back.
      if !wasRegistered { end(.refused(refusal)) }
    }
  }
}
