import RTCCaptureFile
import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCSignaling
import RTCast

/// The output of a call on standard output.
struct CallOutput: Sendable {
  let isJSON: Bool
  /// Characters of a chat message that are shown; the rest is in `--json`.
  private static let longestChat = 2_000

  func registered(as name: String, at hub: HubAddress) {
    say(.registered, [("id", .string(name)), ("server", .string(hub.description))]) {
      "Registered as \(name.printable) at \(hub)."
    }
  }

  /// - Parameters:
  ///   - keys: the code of both sides' keys, if the call is connected.
  ///   - isFailure: the program ends with a sentence that says it, so it is not printed here.
  func state(_ state: CallState, room: String? = nil, keys: String? = nil, isFailure: Bool = false) {
    guard let party = state.party, let word = state.word else { return }
    var members: [(String, JSONValue)] = [
      ("id", .string(party.peer)), ("state", .string(word)), ("call", .string(party.call)),
    ]
    if let role = state.role { members.append(("direction", role == .caller ? "out" : "in")) }
    if let room { members.append(("room", .string(room))) }
    if case .ended(_, let end) = state { members.append(("reason", .string(end.word))) }
    if let keys { members.append(("keys", .string(keys))) }
    if !isJSON, Terminal.isInteractive, room == nil { Terminal.showLive(Self.liveLine(for: state)) }
    say(.peer, members) { isFailure ? nil : Self.sentence(for: state).map { $0 + Self.sentence(of: keys) } }
  }

  private static func sentence(of keys: String?) -> String {
    keys.map { " Keys \($0): the same on both sides, unless somebody is in between." } ?? ""
  }

  /// The line that stays below the output while the state lasts.
  private static func liveLine(for state: CallState) -> String {
    guard case .reconnecting(let party, _) = state else { return "" }
    return String("○ reconnecting with \(party.peer.printable)".prefix(Terminal.size.columns - 1))
  }

  private static func sentence(for state: CallState) -> String? {
    switch state {
    case .ringing(let party, .caller): "Calling \(party.peer.printable) …"
    case .ringing(let party, .callee): "\(party.peer.printable) is calling."
    case .connected(let party, _): "Connected with \(party.peer.printable)."
    case .reconnecting(let party, _): "The connection to \(party.peer.printable) is interrupted; reconnecting …"
    case .ended(let party, let end): end.sentence(about: party.peer.printable)
    case .idle, .connecting: nil
    }
  }

  func presence(_ peer: String, room: String, isThere: Bool) {
    say(.peer, [("id", .string(peer)), ("state", isThere ? "joined" : "left"), ("room", .string(room))]) {
      "\(peer.printable) \(isThere ? "joined" : "left") the room."
    }
  }

  /// - Parameter state: `added`, `changed` or `removed`.
  func track(of peer: String, kind: String, _ state: String, content: RemoteVideoTrack.Content? = nil) {
    var members: [(String, JSONValue)] = [
      ("id", .string(peer)), ("kind", .string(kind)), ("state", .string(state)),
    ]
    if let content { members.append(("content", .string(content.rawValue))) }
    say(.track, members)
  }

  func muted(_ peer: String, kind: String, _ isMuted: Bool) {
    say(.muted, [("id", .string(peer)), ("kind", .string(kind)), ("muted", .bool(isMuted))])
  }

  /// A line of the chat.
  func message(_ text: String, from peer: String) {
    say(.message, [("id", .string(peer)), ("text", .string(text))]) {
      "\(peer.printable): \(text.foreignText(limit: Self.longestChat))"
    }
  }

  /// Lines can be said now.
  func chatOpened(with peer: String) { say(.chat, [("id", .string(peer)), ("state", "open")]) }

  func answer(_ reply: ControlReply) {
    if isJSON { reply.event.print() } else { reply.show() }
  }

  func statistics(_ call: CallStatistics) {
    say(.stats, Self.figures(of: call))
  }

  /// The fields of a `stats` event.
  static func figures(of call: CallStatistics) -> [(String, JSONValue)] {
    let connection = call.connection
    return [
      ("id", .string(call.peer)), ("rtt_ms", .optional(connection.roundTripTime?.inMilliseconds)),
      ("target_bps", .count(connection.targetBitrate.bitsPerSecond)), ("loss", .number(connection.loss)),
      ("network", connection.network.map(StatisticsReport.event) ?? .null),
      ("first_picture_ms", .optional(call.firstPictureDelay?.inMilliseconds)),
      ("streams", .array(connection.streams.map(Self.stream))),
    ]
  }

  private static func stream(_ stream: StreamStatistics) -> JSONValue {
    var members: [(String, JSONValue)] = [("kind", .string(stream.kind == .video ? "video" : "audio"))]
    if let video = stream.video {
      members += [
        ("frames_sent", .count(Int64(video.framesSent))), ("packets_sent", .count(Int64(video.packetsSent))),
        ("nack", .count(Int64(video.nackCount))), ("pli", .count(Int64(video.pliCount))),
      ]
    }
    if let audio = stream.audio { members.append(("packets_sent", .count(Int64(audio.packetsSent)))) }
    if let reception = stream.reception {
      members += [
        ("packets_received", .count(reception.packetsReceived)), ("packets_lost", .count(reception.packetsLost)),
        ("frames_received", .count(reception.framesReceived)),
      ]
    }
    return .object(members)
  }

  func signaling(_ state: String, sentence: String?) {
    var members: [(String, JSONValue)] = [("state", .string(state))]
    if let sentence { members.append(("message", .string(sentence))) }
    say(.signaling, members)
  }

  func watching(keys: String?) {
    var members: [(String, JSONValue)] = [("id", ""), ("state", "connected")]
    if let keys { members.append(("keys", .string(keys))) }
    say(.peer, members) { "Connected." + Self.sentence(of: keys) }
  }

  /// A session description for the remote peer, to be copied there.
  func description(_ kind: String, _ sdp: String) {
    if isJSON { return OutputEvent(.description, [("type", .string(kind)), ("sdp", .string(sdp))]).print() }
    for line in sdp.split(whereSeparator: \.isNewline) { Terminal.print(String(line)) }
    Terminal.print("")
  }

  /// Prints an instruction on standard error, so that the text on standard output can be copied as a whole.
  func prompt(_ sentence: String) { if !isJSON { Terminal.log(sentence) } }

  /// A segment of the recording is complete.
  func recorded(_ path: String, bytes: Int64) {
    if isJSON { OutputEvent.recorded(path, bytes: bytes).print() }
  }

  func recorded(_ progress: RecordingProgress) {
    guard isJSON else { return Terminal.print(progress.sentence) }
    if progress.hasFile { OutputEvent.recorded(progress).print() }
  }

  func recordingFailed(_ sentence: String) {
    if isJSON { OutputEvent.recordingFailed(sentence).print() }
    Terminal.complain(sentence)
  }

  func ended(_ reason: String) { if isJSON { OutputEvent.ended(reason).print() } }

  func failed(_ failure: CastFailure) {
    if isJSON { OutputEvent.failed(failure).print() }
    Terminal.complain(failure.sentence)
  }

  /// - Parameter sentence: for people; nil: nothing is printed for them.
  private func say(
    _ name: OutputEvent.Name, _ fields: [(String, JSONValue)], _ sentence: () -> String? = { nil }
  ) {
    if isJSON { return OutputEvent(name, fields).print() }
    if let sentence = sentence() { Terminal.print(sentence) }
  }
}

extension CallState {
  /// As `state` in the `peer` event; nil before anything happened.
  var word: String? {
    switch self {
    case .idle: nil
    case .ringing: "ringing"
    case .connecting: "connecting"
    case .connected: "connected"
    case .reconnecting: "reconnecting"
    case .ended: "ended"
    }
  }

  var role: CallRole? {
    switch self {
    case .idle, .ended: nil
    case .ringing(_, let role), .connecting(_, let role), .connected(_, let role), .reconnecting(_, let role): role
    }
  }
}

extension CastFailure {
  /// Nil when one of the two hung up.
  init?(_ end: CallEnd, peer: String) {
    let status: ExitStatus
    switch end {
    case .hungUp, .hungUpRemotely: return nil
    case .rejected: status = .notPermitted
    case .failed, .unsupported: status = .protocolError
    case .busy, .noAnswer, .missed, .unknownPeer, .vanished, .connectTimeout, .connectionLost, .signalingLost:
      status = .unavailable
    }
    self.init(status, end.sentence(about: peer))
  }

  init(_ error: CallManagerError) {
    switch error {
    case .callEnded(let end, let peer):
      self = CastFailure(end, peer: peer) ?? CastFailure(.software, end.sentence(about: peer))
    case .misuse(let sentence): self.init(.software, sentence)
    case .signaling(let sentence, let kind): self.init(PublishFailure(kind: kind, sentence: sentence))
    case .capture(let sentence): self.init(.unavailable, sentence)
    }
  }
}
