import RTCPrimitives
import RTCSignaling

/// Messages to peers. Redis keeps each one until the hub of its receiver has delivered it.
extension ClusterMachine {
  /// A message to a peer, and its number at this hub.
  struct Post {
    var number: Int64
    var message: PresenceMessage
    var sent: Timestamp

    var bytes: Int { if case .request(_, let bytes) = message.body { bytes.count } else { 0 } }
  }

  struct Posts {
    var count: Int64 = 0
    /// The bytes of all messages that Redis has not answered yet.
    var bytes = 0
    /// Messages whose replies were lost with the connection, oldest first: Redis may have them or not.
    var unsure: [Post] = []

    /// When the oldest of them is given up.
    var due: Timestamp? { unsure.first.map { $0.sent + Posts.patience } }
    static let patience = TimeDelta.milliseconds(Int64(ClusterScript.absence))
  }

  // MARK: - To other peers

  mutating func pass(_ message: PresenceMessage, _ now: Timestamp) {
    guard case .request = message.body else { return passFault(message, now) }
    guard remotes[message.to] != nil || names[message.to]?.fence != nil else { return reportUndelivered(message) }
    // Not only when the state was read: a later message must not overtake this one.
    guard canAsk else { return actions.append(.report(.returned(message))) }
    let post = Post(number: posts.count + 1, message: message, sent: now)
    guard posts.bytes + post.bytes <= HubLimits().heldBytes else { return reportUndelivered(message) }
    (posts.count, posts.bytes) = (post.number, posts.bytes + post.bytes)
    run(post, now)
  }

  private mutating func passFault(_ message: PresenceMessage, _ now: Timestamp) {
    guard isOnline, let remote = remotes[message.to] else { return }
    actions.append(.publish(note(.other, now), channel: channel(of: remote.hub), text: HubLetter(message).text))
  }

  private mutating func run(_ post: Post, _ now: Timestamp) {
    run(.post, ["\(post.number)", post.message.to, HubLetter(post.message).text], .post(post), now)
  }

  mutating func takePosted(_ value: RESPValue, _ post: Post, _ now: Timestamp) {
    posts.bytes -= post.bytes
    switch value.elements?.first?.string {
    case "posted", "known": break
    case "unknown", "full": reportUndelivered(post.message)
    case "later": actions.append(.report(.returned(post.message)))
    default: drop(.unreadable, now)
    }
  }

  private mutating func reportUndelivered(_ message: PresenceMessage) {
    actions.append(.report(.message(PresenceMessage(from: message.to, to: message.from, .unknownPeer(message.to)))))
  }

  /// Sends the messages of a lost connection again, with their old numbers: Redis accepts each number once.
  mutating func postAgain(_ now: Timestamp) {
    let unsure = posts.unsure
    posts.unsure = []
    for post in unsure { run(post, now) }
  }

  mutating func giveUpPosts(_ now: Timestamp) {
    while let due = posts.due, due <= now {
      let post = posts.unsure.removeFirst()
      posts.bytes -= post.bytes
      reportUndelivered(post.message)
    }
  }

  // MARK: - To the peers of this hub

  /// - Parameter isHere: false: the owner of the name has no connection, and fewer messages are kept for it.
  mutating func readLetters(to name: String, isHere: Bool, _ now: Timestamp) {
    guard canAsk, let fence = names[name]?.fence else { return }
    run(.letters, [name, "\(fence)", isHere ? "1" : "0"], isHere ? .letters(name, fence) : .other, now)
  }

  mutating func confirm(_ number: Int64, _ name: String, _ now: Timestamp) {
    guard canAsk, let fence = names[name]?.fence else { return }
    run(.delivered, [name, "\(fence)", "\(number)"], .other, now)
  }

  /// Reports the letters that wait for the owner of a name: numbers and texts in turn.
  mutating func report(_ letters: RESPValue?, to name: String) {
    let parts = letters?.elements ?? []
    var read: [PresenceLetter] = []
    for index in stride(from: 0, to: parts.count - 1, by: 2) {
      guard let number = parts[index].integer, case .text(let text) = parts[index + 1], let letter = HubLetter(text)
      else { continue }
      read.append(PresenceLetter(letter.message, number: number))
    }
    actions.append(.report(.collected(name, read)))
  }

  mutating func takeLetter(_ text: [UInt8]) {
    guard let letter = HubLetter(text) else { return }
    guard let number = letter.number else { return actions.append(.report(.message(letter.message))) }
    actions.append(.report(.letter(PresenceLetter(letter.message, number: number, previous: letter.previous))))
  }
}
