/// A message between two peers about a call: the data of a hub's `signal` message. The page, `rtcast` and the library use
/// the same messages.
///
/// | `type` | |
/// |---|---|
/// | `call` | rings; `media`?: which kinds, `room`?: the room of both, where calls do not ring |
/// | `accept` | the caller's first offer may follow |
/// | `reject` | `reason`: `rejected`, `busy` or `unsupported` |
/// | `description` | `description` {`type`, `sdp`}, `streams`? {identifier: `camera` or `screen`}. Callers of older protocols send the offer right after the ring |
/// | `streams` | `streams`, as above: their content changed without a description |
/// | `mute` | `kind`: `audio` or `video`, `muted` |
/// | `end` | hangs up |
///
/// Every message has `call`, a random text that the caller chose. Unknown types and members are ignored.
package struct CallSignal: Sendable, Hashable {
  /// The type of a message and its values.
  package enum Body: Sendable, Hashable {
    /// Wants a call.
    case ring(media: [String: Bool] = [:], room: String? = nil)
    /// Takes the call.
    case accept
    /// `rejected`, `busy` or `unsupported`; more may come to be.
    case reject(reason: String)
    /// `offer` or `answer`, and the SDP.
    case description(kind: String, sdp: String)
    /// The content of `streams` has changed, without a description.
    case streams
    /// `audio` or `video`.
    case mute(kind: String, isMuted: Bool)
    /// Ends the call.
    case end
  }

  /// How the identifiers of our own calls begin. They go to PeerJS clients as connection ids, and there a random one could
  /// begin with `dc_`, as the ids of data connections do.
  package static let identifierPrefix = "rc_"

  /// The identifier that the caller chose for the call; random.
  package var call: String
  /// The type and its values.
  package var body: Body
  /// The content of the sender's streams (`camera` or `screen`), by stream identifier; with a description or alone.
  package var streams: [String: String] = [:]

  package init(call: String, _ body: Body, streams: [String: String] = [:]) {
    self.call = call
    self.body = body
    self.streams = streams
  }

  /// Parses a message; nil if it is malformed or of an unknown type.
  package init?(json: String) {
    guard let message = try? HubMessageReader(parsing: Array(json.utf8)) else { return nil }
    self.init(message)
  }

  init?(_ message: HubMessageReader) {
    guard let call = try? message.text("call"), let type = try? message.text("type") else { return nil }
    switch type {
    case "call":
      let room = (try? message.optionalText("room")) ?? nil
      self.init(call: call, .ring(media: Self.media(try? message.object("media")), room: room))
    case "accept": self.init(call: call, .accept)
    case "reject":
      self.init(call: call, .reject(reason: ((try? message.optionalText("reason")) ?? nil) ?? "rejected"))
    case "description":
      guard let inner = try? message.object("description"), let kind = try? inner.text("type"),
        let sdp = try? inner.text("sdp", longest: .max)
      else { return nil }
      self.init(call: call, .description(kind: kind, sdp: sdp), streams: Self.streams(try? message.object("streams")))
    case "streams":
      guard let streams = try? message.object("streams") else { return nil }
      self.init(call: call, .streams, streams: Self.streams(streams))
    case "mute":
      guard let kind = try? message.text("kind"), case .bool(let isMuted) = message.value("muted")?.value else {
        return nil
      }
      self.init(call: call, .mute(kind: kind, isMuted: isMuted))
    case "end": self.init(call: call, .end)
    default: return nil
    }
  }

  private static func streams(_ members: HubMessageReader?) -> [String: String] {
    var kinds: [String: String] = [:]
    for member in members?.members.prefix(mostStreams) ?? [] {
      if case .string(let kind) = member.value.value { kinds[member.name] = kind }
    }
    return kinds
  }

  private static func media(_ members: HubMessageReader?) -> [String: Bool] {
    var kinds: [String: Bool] = [:]
    for member in members?.members ?? [] {
      if case .bool(let isWanted) = member.value.value { kinds[member.name] = isWanted }
    }
    return kinds
  }

  /// More than any call has.
  private static let mostStreams = 64

  private var streamsJSON: JSONValue {
    .object(streams.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) })
  }

  /// One JSON object.
  package var json: String {
    var members: [(String, JSONValue)] = [("call", .string(call))]
    switch body {
    case .ring(let media, let room):
      members.append(("type", "call"))
      let kinds = media.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.bool($0.value)) }
      members.append(("media", .object(kinds)))
      if let room { members.append(("room", .string(room))) }
    case .accept: members.append(("type", "accept"))
    case .reject(let reason): members += [("type", "reject"), ("reason", .string(reason))]
    case .description(let kind, let sdp):
      members += [
        ("type", "description"), ("description", .object([("type", .string(kind)), ("sdp", .string(sdp))])),
      ]
      if !streams.isEmpty { members.append(("streams", streamsJSON)) }
    case .streams: members += [("type", "streams"), ("streams", streamsJSON)]
    case .mute(let kind, let isMuted):
      members += [("type", "mute"), ("kind", .string(kind)), ("muted", .bool(isMuted))]
    case .end: members.append(("type", "end"))
    }
    return JSONValue.object(members).text
  }
}
