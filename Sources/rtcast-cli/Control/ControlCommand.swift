package import RTCMedia
package import RTCPrimitives
import RTCSignaling
import RTCast

/// One command to a running cast, call or hub: a line of `--control`.
///
/// A line is a JSON object with `command` and, where it takes any, either `arguments`, a list of words as on the command
/// line, or `value`, one text, number or truth value:
///
///     {"command": "source", "arguments": ["file", "talk.mp4", "--loop"]}
///     {"command": "bitrate", "value": "800k"}
package enum ControlCommand: Hashable, Sendable {
  /// Cast something else: the words of a command line without `rtcast`, such as `test --pattern bars`.
  case source([String])
  case pause
  case resume
  /// Starting and maximum video bitrate for each viewer, 100 kbit/s…100 Mbit/s.
  case bitrate(BitRate)
  /// Maximum frame rate, 0.1…240 frames per second.
  case frameRate(Double)
  case contentHint(ContentHint)
  case keyFrame
  case mute(Bool)
  /// Sends a line of chat (calls).
  case say(String)
  /// Accepts or rejects an incoming call.
  case answer(Bool)
  /// Ends the call.
  case hangUp
  /// Revokes a signed link (casts that serve viewers, and hubs): the link, its token, or its identifier.
  case revoke(String)
  /// Asks what is cast, since when, and for whom.
  case status
  /// Asks who watches.
  case viewers
  /// Ends the cast, call or hub as Ctrl-C does.
  case stop

  package init(parsing line: some Sequence<UInt8>) throws(ControlError) {
    let tree: JSONTree
    do throws(JSONError) { tree = try JSONTree(parsing: line) } catch {
      throw ControlError("A control line must be one JSON object; this one is not: \(error.problem).")
    }
    self = try ControlFields(tree).command()
  }

  /// A kind of program that takes commands.
  package enum Taker: String, Sendable {
    case cast, call, hub
  }

  package var takers: [Taker] {
    switch self {
    case .source, .pause, .resume, .mute: [.cast, .call]
    case .bitrate, .frameRate, .contentHint, .keyFrame: [.cast]
    case .say, .answer, .hangUp: [.call]
    case .revoke: [.cast, .hub]
    case .viewers: [.cast]
    case .status, .stop: [.cast, .call, .hub]
    }
  }

  /// Whether it changes the source, or what is asked of it. Such commands of all senders are carried out one after another.
  package var concernsSource: Bool {
    switch self {
    case .source, .pause, .resume, .frameRate, .contentHint: true
    case .bitrate, .keyFrame, .mute, .say, .answer, .hangUp, .revoke, .status, .viewers, .stop: false
    }
  }

  /// Refuses a command for another kind of program.
  package func check(in taker: Taker) throws(ControlError) {
    guard !takers.contains(taker) else { return }
    let others = takers.map { "\($0.rawValue)s" }.joined(separator: " and ")
    throw ControlError("The command \"\(name)\" is for \(others); this is a \(taker.rawValue).")
  }

  /// The words that name commands, as `docs/control.md` lists them.
  package static let names = [
    "source", "pause", "resume", "mute", "unmute", "bitrate", "fps", "hint", "keyframe", "say", "accept", "reject",
    "hangup", "revoke", "status", "viewers", "stop",
  ]

  /// The word that names it.
  package var name: String {
    switch self {
    case .source: "source"
    case .pause: "pause"
    case .resume: "resume"
    case .bitrate: "bitrate"
    case .frameRate: "fps"
    case .contentHint: "hint"
    case .keyFrame: "keyframe"
    case .mute(true): "mute"
    case .mute(false): "unmute"
    case .say: "say"
    case .answer(true): "accept"
    case .answer(false): "reject"
    case .hangUp: "hangup"
    case .revoke: "revoke"
    case .status: "status"
    case .viewers: "viewers"
    case .stop: "stop"
    }
  }
}

/// Why a control command was not performed, in a sentence.
package struct ControlError: Error, Hashable, Sendable {
  package var sentence: String
  package init(_ sentence: String) { self.sentence = sentence }
}

/// A control line's fields.
private struct ControlFields {
  private let name: String
  /// One element for `value`; nil when neither was given.
  private let arguments: [String]?

  init(_ tree: JSONTree) throws(ControlError) {
    guard case .object(let members) = tree.value else {
      throw ControlError(
        "A control line is a JSON object such as {\"command\": \"pause\"}, not \(tree.kind).")
    }
    var name: String?
    var arguments: [String]?
    for (key, value) in members {
      switch key {
      case "command":
        guard case .string(let text) = value.value else {
          throw ControlError("A control line's \"command\" is a text, not \(value.kind).")
        }
        name = text
      case "arguments", "value":
        guard arguments == nil else {
          throw ControlError("A control line has \"arguments\" or \"value\", not both.")
        }
        arguments = try key == "value" ? [Self.word(value, of: key)] : Self.words(value)
      default:
        throw ControlError(
          "A control line has no field \"\(Self.shown(key))\"; there are \"command\", \"arguments\" and \"value\".")
      }
    }
    guard let name else {
      throw ControlError("A control line needs a \"command\": \(ControlCommand.names.joined(separator: ", ")).")
    }
    self.name = name
    self.arguments = arguments
  }

  func command() throws(ControlError) -> ControlCommand {
    switch name {
    case "source":
      guard let arguments, !arguments.isEmpty else {
        throw ControlError(
          "The command \"source\" needs \"arguments\", the words of a command line, such as [\"test\", \"--pattern\", "
            + "\"bars\"].")
      }
      return .source(arguments)
    case "pause": return try alone(.pause)
    case "resume": return try alone(.resume)
    case "keyframe": return try alone(.keyFrame)
    case "mute": return try alone(.mute(true))
    case "unmute": return try alone(.mute(false))
    case "say": return .say(try single("the text to say"))
    case "accept": return try alone(.answer(true))
    case "reject": return try alone(.answer(false))
    case "hangup": return try alone(.hangUp)
    case "revoke": return .revoke(try single("the link, its token, or its identifier"))
    case "status": return try alone(.status)
    case "viewers": return try alone(.viewers)
    case "stop": return try alone(.stop)
    case "bitrate": return .bitrate(try bitrate())
    case "fps": return .frameRate(try frameRate())
    case "hint": return .contentHint(try contentHint())
    default:
      let near = name.nearest(of: ControlCommand.names).map { "; is \"\($0)\" meant? There" } ?? "; there"
      throw ControlError(
        "There is no command \"\(Self.shown(name))\"\(near) are \(ControlCommand.names.joined(separator: ", ")).")
    }
  }

  private func alone(_ command: ControlCommand) throws(ControlError) -> ControlCommand {
    guard arguments?.isEmpty != false else { throw ControlError("The command \"\(name)\" takes no arguments.") }
    return command
  }

  private func single(_ allowed: String) throws(ControlError) -> String {
    guard let arguments, arguments.count == 1 else {
      throw ControlError("The command \"\(name)\" takes one value: \(allowed).")
    }
    return arguments[0]
  }

  private func bitrate() throws(ControlError) -> BitRate {
    let allowed = "100k to 100M bit/s, such as \"800k\" or 800000"
    let text = try single(allowed)
    guard let rate = BitRate(text: text) else {
      throw ControlError("The command \"bitrate\" takes \(allowed), not \"\(Self.shown(text))\".")
    }
    return rate
  }

  private func frameRate() throws(ControlError) -> Double {
    let allowed = "0.1 to 240 frames per second"
    let text = try single(allowed)
    guard let rate = Double(text), (0.1...240).contains(rate) else {
      throw ControlError("The command \"fps\" takes \(allowed), not \"\(Self.shown(text))\".")
    }
    return rate
  }

  private func contentHint() throws(ControlError) -> ContentHint {
    let allowed = ContentHint.allCases.map(\.rawValue).joined(separator: ", ")
    let text = try single(allowed)
    guard let hint = ContentHint(rawValue: text.lowercased()) else {
      throw ControlError("The command \"hint\" takes one of \(allowed), not \"\(Self.shown(text))\".")
    }
    return hint
  }

  private static func words(_ tree: JSONTree) throws(ControlError) -> [String] {
    guard case .array(let values) = tree.value else {
      throw ControlError("A control line's \"arguments\" is a list of texts, not \(tree.kind).")
    }
    return try values.map { value throws(ControlError) in try word(value, of: "arguments") }
  }

  private static func word(_ tree: JSONTree, of field: String) throws(ControlError) -> String {
    switch tree.value {
    case .string(let text): return text
    case .number(let number):
      return number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : String(number)
    default: throw ControlError("A control line's \"\(field)\" holds texts and numbers, not \(tree.kind).")
    }
  }

  /// User input may be long or contain control characters.
  private static func shown(_ text: String) -> String {
    String(
      String.UnicodeScalarView(text.unicodeScalars.prefix(60).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : $0 }))
  }
}
