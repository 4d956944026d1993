import RTCSignaling

/// A name as Redis has it: the record of the scripts, and the change `at`.
struct NameRecord {
  var name: String
  var hub: String
  /// The fencing token.
  var fence: Int64
  /// The hash of the owner's secret.
  var hash: String
  var peer: RemotePeer

  /// Nil if a member is missing.
  init?(_ fields: JSONFields, name: String?) {
    guard let name = name ?? fields.text("n"), let hub = fields.text("h"), let fence = fields.number("f"),
      let hash = fields.text("s")
    else { return nil }
    (self.name, self.hub, self.fence, self.hash) = (name, hub, fence, hash)
    peer = RemotePeer(
      name, dialect: fields.text("d").flatMap(HubDialect.init(rawValue:)) ?? .native, isListed: fields.flag("l"),
      rooms: fields.texts("r"), isAbsent: fields.flag("a"))
  }
}

/// A change that a script has published to all hubs.
struct ClusterChange {
  enum Kind {
    case placed(NameRecord)
    case gone(String, fence: Int64)
    case entered(String, room: String, fence: Int64)
    case left(String, room: String, fence: Int64)
    case hubLost(String)
    /// A link was revoked: its identifier, and the Unix time of its end.
    case revoked(String, expires: Int64?)
    /// A stream was published at a hub with that address.
    case published(String, hub: String, address: String)
    case unpublished(String, hub: String)
  }

  /// One more than that of the change before.
  var sequence: Int64
  var kind: Kind

  /// Nil if it cannot be read.
  init?(_ text: [UInt8]) {
    guard let fields = JSONFields(text), let sequence = fields.number("q"), let kind = fields.text("k") else {
      return nil
    }
    self.sequence = sequence
    let (name, room, fence) = (fields.text("n"), fields.text("o"), fields.number("f"))
    switch (kind, name, room, fence) {
    case ("at", _, _, _):
      guard let record = NameRecord(fields, name: nil) else { return nil }
      self.kind = .placed(record)
    case ("gone", let name?, _, let fence?): self.kind = .gone(name, fence: fence)
    case ("in", let name?, let room?, let fence?): self.kind = .entered(name, room: room, fence: fence)
    case ("out", let name?, let room?, let fence?): self.kind = .left(name, room: room, fence: fence)
    case ("stream", let name?, _, _):
      guard let hub = fields.text("h"), let address = fields.text("a") else { return nil }
      self.kind = .published(name, hub: hub, address: address)
    case ("unstream", let name?, _, _):
      guard let hub = fields.text("h") else { return nil }
      self.kind = .unpublished(name, hub: hub)
    case ("hub-lost", _, _, _):
      guard let hub = fields.text("h") else { return nil }
      self.kind = .hubLost(hub)
    case ("revoked", let link?, _, _): self.kind = .revoked(link, expires: fields.number("x"))
    default: return nil
    }
  }
}

/// A message from one hub to another, as its text.
struct HubLetter {
  var message: PresenceMessage
  /// The number of a message to a peer, and that of the message before it that was not delivered then.
  var number: Int64?
  var previous: Int64

  init(_ message: PresenceMessage) {
    (self.message, number, previous) = (message, nil, 0)
  }

  /// Nil if it cannot be read.
  init?(_ text: [UInt8]) {
    guard let fields = JSONFields(text), let from = fields.text("from"), let to = fields.text("to"),
      let body = fields.text("b")
    else { return nil }
    let read: PresenceMessage.Body
    switch fields.text("k") {
    case "request":
      guard let dialect = fields.text("d").flatMap(HubDialect.init(rawValue:)) else { return nil }
      read = .request(dialect, Array(body.utf8))
    case "unknown": read = .unknownPeer(body)
    case "incompatible": read = .incompatible(body)
    default: return nil
    }
    message = PresenceMessage(from: from, to: to, read)
    (number, previous) = (fields.number("n"), fields.number("p") ?? 0)
  }

  /// The text without numbers.
  var text: String {
    var members: [(String, JSONValue)] = [("from", .string(message.from)), ("to", .string(message.to))]
    switch message.body {
    case .request(let dialect, let bytes):
      members += [
        ("k", "request"), ("d", .string(dialect.rawValue)), ("b", .string(String(decoding: bytes, as: UTF8.self))),
      ]
    case .unknownPeer(let name): members += [("k", "unknown"), ("b", .string(name))]
    case .incompatible(let name): members += [("k", "incompatible"), ("b", .string(name))]
    }
    return JSONValue.object(members).text
  }
}
