import RTCCluster
import RTCSignaling

/// The messages of a history that have been sent.
struct HistoryLetters {
  struct Message {
    /// The hub of the sender.
    var hub: String
    var sender: String
    var receiver: String
    /// The hub at which the receiver was.
    var place: String?
    /// Whether its sender may never learn that it was not delivered.
    var mayBeSilent = false
  }

  var count = 0
  var messages: [Int: Message] = [:]
  /// Messages that were neither delivered nor refused.
  var open: Set<Int> = []
  /// Delivered messages of which Redis knows it.
  var confirmed: Set<Int> = []
  private(set) var delivered = 0
  /// Messages that were delivered at another hub than the one at which the receiver was first.
  private(set) var rescued = 0

  mutating func allowSilence(_ concerns: (Message) -> Bool) {
    for number in open where messages[number].map(concerns) ?? false { messages[number]?.mayBeSilent = true }
  }

  /// Redis has lost its data.
  mutating func forget() {
    (open, confirmed) = ([], [])
  }

  mutating func noteDelivery(_ number: Int, at hub: String) {
    open.remove(number)
    delivered += 1
    if let place = messages[number]?.place, place != hub { rescued += 1 }
  }
}

/// The messages of one hub of a history.
struct HubLetters {
  /// The time in which a hub serves a name.
  struct Stay {
    var order = DeliveryOrder()
    var isAway = false
    /// Messages that were delivered, with their numbers in Redis.
    var delivered: [(message: Int, number: Int64)] = []
  }

  var stays: [String: Stay] = [:]
  /// Messages that came back from the presence.
  var returned: [PresenceMessage] = []
  var followUps: [ClusterMachine.Input] = []
  /// The command that Redis executes.
  var running: ClusterMachine.Action?
}

extension ClusterHistory {
  func stepLetters(_ event: Int, _ name: String, _ index: Int) throws {
    let hub = hubs[index]
    if event < 145 {
      for _ in 0..<Int.random(in: 1...3, using: &random) { try sendOne(index) }
      return
    }
    if event < 149 { return try sendAndMove(index) }
    guard let stay = hub.letters.stays[name] else { return }
    hub.letters.stays[name]?.isAway.toggle()
    if stay.isAway { hub.letters.stays[name]?.order.isCollecting = hub.machine.isOnline }
    try input(stay.isAway ? .collect(name) : .away(name), index)
  }

  private func sendOne(_ index: Int) throws {
    let hub = hubs[index]
    let senders = hub.served.keys.filter { !hub.deserted.contains($0) }.sorted()
    let away = hub.letters.stays.filter(\.value.isAway).keys
    guard let sender = senders.randomElement(using: &random),
      let name = (Array(away) + hub.others.keys).filter({ $0 != sender }).sorted().randomElement(using: &random)
    else { return }
    try send(from: sender, to: name, index)
  }

  /// A peer's hub hangs, or its connection breaks, messages are sent to it, and it comes to another hub.
  private func sendAndMove(_ index: Int) throws {
    let hub = hubs[index]
    let target = (index + 1) % hubs.count
    let names = hub.served.keys.filter { !hub.deserted.contains($0) }.sorted()
    guard let name = names.randomElement(using: &random), let secret = hub.served[name] else { return }
    if Bool.random(using: &random) {
      hub.isCutOff = true
    } else if hub.letters.stays[name]?.isAway == false {
      hub.letters.stays[name]?.isAway = true
      try input(.away(name), index)
    }
    for _ in 0..<3 {
      for other in hubs.indices {
        guard let sender = hubs[other].served.keys.sorted().first(where: { $0 != name }) else { continue }
        try send(from: sender, to: name, other)
      }
    }
    guard hubs[target].served[name] == nil else { return }
    try claim(.name(name), secret, target)
    if Bool.random(using: &random) { try flush() }
  }

  private func send(from sender: String, to name: String, _ index: Int) throws {
    let hub = hubs[index]
    guard hub.others[name] != nil || hub.letters.stays[name]?.isAway == true else { return }
    letters.count += 1
    let place = hubs.first { $0.served[name] != nil && !$0.deserted.contains(name) }
    letters.messages[letters.count] = HistoryLetters.Message(
      hub: hub.machine.hub, sender: sender, receiver: name, place: place?.machine.hub)
    letters.open.insert(letters.count)
    let message = PresenceMessage(from: sender, to: name, .request(.native, Array("\(letters.count)".utf8)))
    // As the hub does: a message does not overtake one that has come back.
    if hub.letters.returned.contains(where: { $0.to == name }) { return hub.letters.returned.append(message) }
    try input(.pass(message), index)
  }

  func noteLetters(_ event: PresenceEvent, _ hub: SimulatedHub) {
    switch event {
    case .returned(let message): hub.letters.returned.append(message)
    case .connected(true):
      hub.letters.followUps += hub.letters.returned.map { .pass($0) }
      hub.letters.returned = []
    case .connected(false):
      for name in hub.letters.stays.keys { hub.letters.stays[name]?.order.isCollecting = false }
    case .message(let fault):
      guard case .unknownPeer(let name) = fault.body else { break }
      letters.open = letters.open.filter {
        letters.messages[$0]?.sender != fault.to || letters.messages[$0]?.receiver != name
      }
    case .letter(let letter):
      let name = letter.message.to
      guard let stay = hub.letters.stays[name], !stay.isAway else { break }
      switch hub.letters.stays[name]?.order.take(letter) {
      case .deliver?:
        deliver(letter, hub)
        hub.letters.followUps.append(.delivered(name, letter.number))
      case .collect?:
        hub.letters.stays[name]?.order.isCollecting = hub.machine.isOnline
        hub.letters.followUps.append(.collect(name))
      case .ignore?, nil: break
      }
    case .collected(let name, let all):
      hub.letters.stays[name]?.order.isCollecting = false
      guard let stay = hub.letters.stays[name], !stay.isAway else { break }
      for letter in all where hub.letters.stays[name]?.order.takeCollected(letter) == true { deliver(letter, hub) }
      if let last = all.last { hub.letters.followUps.append(.delivered(name, last.number)) }
    default: break
    }
  }

  private func deliver(_ letter: PresenceLetter, _ hub: SimulatedHub) {
    guard case .request(_, let bytes) = letter.message.body, let message = Int(String(decoding: bytes, as: UTF8.self))
    else { return expect(false, "a message has changed on the way") }
    let (name, sender) = (letter.message.to, letters.messages[message]?.hub)
    // The client has left, and the hub has not noticed it.
    if hub.deserted.contains(name) {
      letters.messages[message]?.mayBeSilent = true
      return
    }
    let before = hub.letters.stays[name]?.delivered.filter { letters.messages[$0.message]?.hub == sender } ?? []
    expect(before.allSatisfy { $0.message < message }, "message \(message) to \(name) comes late or twice")
    expect(!letters.confirmed.contains(message), "message \(message) to \(name) comes again")
    hub.letters.stays[name]?.delivered.append((message, letter.number))
    letters.noteDelivery(message, at: hub.machine.hub)
  }

  func followUp(_ index: Int) throws {
    let hub = hubs[index]
    while !hub.letters.followUps.isEmpty { try input(hub.letters.followUps.removeFirst(), index) }
  }

  /// Redis has executed a command of a hub.
  func noteExecution(_ reply: RESPValue, _ hub: SimulatedHub) {
    guard case .run(_, .delivered, let arguments)? = hub.letters.running,
      reply.elements?.first?.string == "removed", let last = Int64(arguments[3])
    else { return }
    for (message, number) in hub.letters.stays[arguments[1]]?.delivered ?? [] where number <= last {
      letters.confirmed.insert(message)
    }
  }

  /// A hub does not serve a name any more. A notice to its owner may miss it.
  func endStay(of name: String, _ hub: SimulatedHub) {
    hub.letters.stays[name] = nil
    letters.allowSilence { $0.sender == name && $0.hub == hub.machine.hub }
  }

  /// A hub ends.
  func forgetLetters(of hub: SimulatedHub) {
    hub.letters = HubLetters()
    letters.open = letters.open.filter { letters.messages[$0]?.hub != hub.machine.hub }
  }

  /// After everything has healed, each message has been delivered or refused, and Redis keeps none.
  func endLetters() throws {
    for number in letters.open.sorted() where letters.messages[number]?.mayBeSilent == false {
      expect(false, "message \(number) is lost: \(letters.messages[number].map { "\($0)" } ?? "")")
    }
    expect(try redis.call("ZCARD", "{t}:posted").integer == 0, "letters are left over")
    expect(try redis.call("HLEN", "{t}:letters").integer == 0, "texts of letters are left over")
    expect(try redis.call("GET", "{t}:heldbytes").integer ?? 0 == 0, "the bytes of letters are counted wrong")
    expect(try redis.call("SCARD", "{t}:held").integer == 0, "numbers of letters are left over")
    expect(try redis.call("HLEN", "{t}:mailbytes").integer == 0, "the bytes of letters to a peer are counted wrong")
    expect(try redis.call("KEYS", "{t}:mail:*").elements?.isEmpty == true, "lists of letters are left over")
    for (index, hub) in hubs.enumerated() {
      expect(hub.letters.returned.isEmpty, "h\(index) has messages that came back")
      guard let sender = hub.served.keys.sorted().first else { continue }
      for name in hub.others.keys.sorted() {
        let before = letters.delivered
        try send(from: sender, to: name, index)
        try flush()
        let isHere = hubs.contains { $0.letters.stays[name]?.isAway == false && !$0.deserted.contains(name) }
        expect(letters.delivered == before + (isHere ? 1 : 0), "\(name) gets no messages of h\(index)")
      }
    }
  }
}
