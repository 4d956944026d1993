import RTCDTLS
package import RTCPrimitives
package import RTCSignaling

/// The state that a hub shares with others by Redis: its own names and their fencing tokens, and a copy of the others'.
///
/// Sans-IO. The link to Redis runs scripts in the order of the actions, on one connection, and gives back replies and
/// messages of channels in the order in which they come.
///
/// Three rules keep a name from being held twice:
/// - A hub serves a name once a script has granted it, and stops when it learns of a greater token. The owner of a name may
///   be granted it at another hub at any time: it has left the first one.
/// - Redis keeps the names of a silent hub for their owners for `ClusterScript.reservation`. A hub that has not reached Redis
///   for that long gives up its names.
/// - When Redis has lost its data, no name is granted to anybody new for `ClusterScript.grace`, in which hubs state theirs.
package struct ClusterMachine: Sendable {
  package enum Input: Sendable {
    /// The link is ready: it is signed in, and listens to the channels.
    case connected
    case disconnected
    /// The place of the server of the next connection, if another server can take its place.
    case primary(String)
    case claim(PresenceClaim)
    case release(PresenceClaim.Subject)
    case pass(PresenceMessage)
    /// The owner of a name is connected again, and wants the letters that wait.
    case collect(String)
    /// The owner of a name has lost its connection.
    case away(String)
    /// The letters to the owner of a name are delivered, up to this number.
    case delivered(String, Int64)
    /// Count one use of a link with a limited number of uses; the answer carries the number.
    case use(UInt64, SignedLink, client: String?)
    case giveBack(LinkUse)
    /// A link was revoked at this hub.
    case revoke(String, expires: Int64?)
    /// Links that this hub knows as used or revoked.
    case addLinks(LinkLedger)
    /// A client with this IP address has shown a wrong credential.
    case wrongTry(String)
    /// The URL at which clients reach this hub.
    case address(String)
    /// A stream is about to be published at this hub; the answer carries the number.
    case publish(UInt64, String)
    case unpublish(String)
    case reply(UInt64, RESPValue)
    /// A message of a channel.
    case published(channel: String, [UInt8])
    case deadline
    /// The hub ends.
    case stop
  }

  package enum Action: Sendable {
    /// Run a script, and give its reply back with this number.
    case run(UInt64, ClusterScript, [String])
    case publish(UInt64, channel: String, text: String)
    case report(PresenceEvent)
    /// A use of a link is answered.
    case used(UInt64, LinkUseAnswer)
    /// A publication is answered.
    case published(UInt64, PresenceAnswer)
    /// All streams of the other hubs, and the addresses of their hubs; an empty address is that of this hub.
    case streams([String: String])
    /// The connection is of no use. The machine has taken it for lost.
    case disconnect(ClusterFault)
    /// The hub has signed off.
    case stopped
  }

  /// A name of this hub.
  struct Own {
    enum Phase {
      /// The script runs.
      case claiming(PresenceClaim)
      /// Redis has lost its data not long ago. The script runs again then.
      case waiting(PresenceClaim, until: Timestamp)
      /// The client has gone; the next one has claimed the name, maybe.
      case withdrawn(next: PresenceClaim?)
      case held(Int64)
    }

    var hash: String
    var isListed: Bool
    var dialect: HubDialect
    var phase: Phase
    /// The use of a link that the claim to the name counts.
    var use: LinkUse?
    /// Rooms in which it has a place.
    var rooms: [String] = []
    var entering: [String: PresenceClaim.ID] = [:]

    /// The fencing token of a name that is held.
    var fence: Int64? { if case .held(let fence) = phase { fence } else { nil } }
  }

  enum Ask {
    case beat
    case state
    case claim(String)
    /// The name, and its token here.
    case keep(String, Int64)
    case enter(String, room: String, PresenceClaim.ID)
    case post(Post)
    /// The name, and its token here.
    case letters(String, Int64)
    case use(PendingUse)
    case giveBack(LinkUse)
    case links
    /// The stream, and the number of the question.
    case publish(String, UInt64)
    case streams
    case leave
    /// The reply changes nothing.
    case other
  }

  enum Phase {
    case offline
    /// The state is being read.
    case joining
    /// The number of the last change that is in the copy.
    case online(Int64)
    case stopping, stopped
  }

  package static let beatInterval = TimeDelta.seconds(Int64(1))
  /// A connection on which a reply does not come for so long is given up.
  package static let patience = TimeDelta.seconds(Int64(5))

  /// The number of this run of the hub.
  package let hub: String
  let prefix: String
  let roomMembers: Int
  var phase = Phase.offline
  var names: [String: Own] = [:]
  var remotes: [String: NameRecord] = [:]
  var asks: [UInt64: (ask: Ask, sent: Timestamp)] = [:]
  var lastAsk: UInt64 = 0
  var epoch: String?
  /// The place of the server, until the first sign of life of a connection carries it; nil: no other server can take its
  /// place.
  var primary: String?
  var nextBeat = Timestamp.zero
  /// When the state is read again because it was not whole.
  var rereadDue: Timestamp?
  /// When the last sign of life was sent that Redis has confirmed; nil: none yet.
  var confirmed: Timestamp?
  var posts = Posts()
  var links = Links()
  var streams = Streams()
  var actions: [Action] = []
  /// How often the state was read again because messages were missed.
  package internal(set) var rereads = 0

  /// - Parameters:
  ///   - hub: unlike all others.
  ///   - prefix: of all keys and channels, with braces.
  package init(hub: String, prefix: String, roomMembers: Int) {
    (self.hub, self.prefix, self.roomMembers) = (hub, prefix, roomMembers)
  }

  /// The channels to listen to.
  package var channels: [String] { [changesChannel, wrongTriesChannel, channel(of: hub)] }
  var changesChannel: String { prefix + ":changes" }
  var wrongTriesChannel: String { prefix + ":wrong" }
  func channel(of hub: String) -> String { prefix + ":to:" + hub }

  package var isOnline: Bool { if case .online = phase { true } else { false } }

  /// The names that this hub may serve, with the hashes of their owners' secrets and their tokens.
  package var held: [String: (hash: String, fence: Int64)] {
    names.compactMapValues { own in own.fence.map { (own.hash, $0) } }
  }

  /// When `handle(.deadline, …)` is wanted.
  package var deadline: Timestamp? {
    switch phase {
    case .stopped: return nil
    case .offline:
      let isHolding = names.values.contains { $0.fence != nil }
      return [isHolding ? confirmed.map { $0 + Self.reservation } : nil, posts.due].compactMap(\.self).min()
    case .joining, .online, .stopping:
      let waits = names.values.compactMap { if case .waiting(_, let until) = $0.phase { until } else { nil } }.min()
      let uses = links.waiting.map(\.until).min()
      return [waits, uses, publicationDue, rereadDue].compactMap(\.self).reduce(nextBeat, min)
    }
  }

  static let reservation = TimeDelta.milliseconds(Int64(ClusterScript.reservation))

  package mutating func handle(_ input: Input, now: Timestamp) -> [Action] {
    giveUp(now)
    giveUpPosts(now)
    switch input {
    case .connected: join(now)
    case .disconnected: disconnected(now)
    case .primary(let place): primary = place
    case .claim(let claim): take(claim, now)
    case .release(.name(let name)): release(name, now)
    case .release(.room(let room, let name)): release(room, of: name, now)
    case .pass(let message): pass(message, now)
    case .collect(let name): readLetters(to: name, isHere: true, now)
    case .away(let name): readLetters(to: name, isHere: false, now)
    case .delivered(let name, let number): confirm(number, name, now)
    case .use(let number, let link, let client): use(link, client, number, now)
    case .giveBack(let use): giveBack(use, now)
    case .revoke(let link, let expires): revoke(link, expires: expires, now)
    case .addLinks(let ledger): add(ledger, now)
    case .wrongTry(let address): tellWrongTry(address, now)
    case .address(let address): setAddress(address, now)
    case .publish(let question, let name): publish(name, question, now)
    case .unpublish(let name): unpublish(name, now)
    case .reply(let id, let value): take(value, to: id, now)
    case .published(let channel, let text): take(text, from: channel, now)
    case .deadline: wake(now)
    case .stop: stop(now)
    }
    defer { actions = [] }
    return actions
  }

  // MARK: - The connection

  private mutating func join(_ now: Timestamp) {
    guard case .offline = phase else { return }
    phase = .joining
    beat(now)
    giveBackOwed(now)
    postAgain(now)
    restate(now)
  }

  /// States the names of this hub, and reads those of the others.
  mutating func restate(_ now: Timestamp) {
    phase = .joining
    rereadDue = nil
    stateLinks(now)
    for name in names.keys.sorted() { keep(name, now) }
    run(.state, [], .state, now)
    stateStreams(now)
  }

  mutating func keep(_ name: String, _ now: Timestamp) {
    guard let own = names[name], let fence = own.fence else { return }
    let rooms = JSONValue.array(own.rooms.map { .string($0) }).text
    run(
      .keep, [name, own.hash, own.isListed ? "1" : "0", own.dialect.rawValue, "\(fence)", rooms], .keep(name, fence),
      now)
  }

  /// Gives up the connection.
  mutating func drop(_ fault: ClusterFault, _ now: Timestamp) {
    switch phase {
    case .offline, .stopped: return
    case .joining, .online, .stopping: break
    }
    actions.append(.disconnect(fault))
    disconnected(now)
  }

  private mutating func disconnected(_ now: Timestamp) {
    switch phase {
    case .offline, .stopped: return
    case .stopping:
      phase = .stopped
      actions.append(.stopped)
      return
    case .joining, .online: break
    }
    phase = .offline
    actions.append(.report(.connected(false)))
    let lost = asks.sorted { $0.key < $1.key }.map(\.value.ask)
    asks = [:]
    for ask in lost {
      switch ask {
      case .post(let post): posts.unsure.append(post)
      case .use(let use): abandon(use)
      case .giveBack(let use): links.owed.append(use)
      default: break
      }
    }
    abandonWaitingUses()
    abandonPublications()
    for (name, own) in names.sorted(by: { $0.key < $1.key }) {
      for (_, id) in own.entering.sorted(by: { $0.key < $1.key }) { answer(id, .unavailable) }
      names[name]?.entering = [:]
      if own.fence == nil, let use = own.use { links.owed.append(use) }
      switch own.phase {
      case .claiming(let claim), .waiting(let claim, _), .withdrawn(.some(let claim)):
        names[name] = nil
        answer(claim.id, .unavailable)
      case .withdrawn(nil): names[name] = nil
      case .held: break
      }
    }
  }

  private mutating func beat(_ now: Timestamp) {
    nextBeat = now + Self.beatInterval
    run(.beat, primary.map { [$0] } ?? [], .beat, now)
    // Hubs may name one server in different ways. The next beats must not take turns.
    primary = nil
  }

  private mutating func wake(_ now: Timestamp) {
    switch phase {
    case .offline, .stopped: return
    case .joining, .online, .stopping: break
    }
    if let oldest = asks.min(by: { $0.key < $1.key })?.value.sent, now - oldest >= Self.patience {
      return drop(.silent, now)
    }
    for (name, own) in names.sorted(by: { $0.key < $1.key }) {
      guard case .waiting(let claim, let until) = own.phase, until <= now else { continue }
      begin(claim, name, now)
    }
    useAgain(now)
    publishAgain(now)
    if case .stopping = phase { return nextBeat = now + Self.beatInterval }
    if nextBeat <= now { beat(now) }
    if let due = rereadDue, due <= now, isOnline {
      rereadDue = nil
      restate(now)
    }
  }

  /// Gives up all names if Redis may have given them to others.
  private mutating func giveUp(_ now: Timestamp) {
    guard let confirmed, now - confirmed >= Self.reservation else { return }
    for (name, own) in names.sorted(by: { $0.key < $1.key }) where own.fence != nil {
      names[name] = nil
      actions.append(.report(.lost(name)))
    }
  }

  private mutating func stop(_ now: Timestamp) {
    switch phase {
    case .offline, .stopped:
      phase = .stopped
      actions.append(.stopped)
    case .stopping: return
    case .joining, .online:
      phase = .stopping
      run(.leave, [], .leave, now)
    }
  }

  // MARK: - Asking

  mutating func run(_ script: ClusterScript, _ arguments: [String], _ ask: Ask, _ now: Timestamp) {
    actions.append(.run(note(ask, now), script, [hub] + arguments))
  }

  mutating func note(_ ask: Ask, _ now: Timestamp) -> UInt64 {
    lastAsk += 1
    asks[lastAsk] = (ask, now)
    return lastAsk
  }

  mutating func answer(_ id: PresenceClaim.ID, _ answer: PresenceAnswer) {
    actions.append(.report(.answered(id, answer)))
  }
}

/// The reason why Redis cannot be used.
package enum ClusterFault: Error, Hashable, Sendable {
  /// No reply for `ClusterMachine.patience`.
  case silent
  /// Redis has answered with an error.
  case refused(String)
  /// The other hubs keep what they share in this format.
  case otherFormat(String)
  /// A reply that no script gives.
  case unreadable
}
