public import ArgumentParser
import RTCEngine
public import RTCMedia
import RTCPrimitives
public import RTCSignaling
import RTCast

/// What every casting command takes.
package struct CastOptions: ParsableArguments {
  package init() {}

  @Option(
    help: ArgumentHelp(
      "Settings for a kind of cast: \(Preset.builtInNames.joined(separator: ", ")), or the path of a file. Options given "
        + "beside it win.", valueName: "name|path"),
    transform: { try Self.preset($0) })
  var preset: Preset?

  @Option(
    name: .customLong("codec"), help: ArgumentHelp("Video codec. (default: VP8)", valueName: "codec"))
  var codecFlag: VideoCodec?

  @Option(
    name: .customLong("content-hint"),
    help: ArgumentHelp(
      "What keeps when bits are short: detail or text keep letters sharp, motion keeps the frame rate. "
        + "(default: by source)", valueName: "hint"))
  var contentHintFlag: ContentHint?

  @Option(
    help: ArgumentHelp(
      "What a viewer is sent at first and at most, in bit/s: 800k, 2.5M. (default: begin at 1M, rise to 6M)",
      valueName: "rate"),
    transform: { try BitRate(option: $0) })
  var bitrate: BitRate?

  @Option(
    name: .customLong("audio"),
    help: ArgumentHelp(
      "Sound: desktop (what this machine plays), mic, file (the source's own), none, or a device that `rtcast list` "
        + "names. (default: the source's own)", valueName: "choice"),
    transform: { try AudioChoice(parsing: $0) })
  var audioFlag: AudioChoice?

  @Option(
    help: ArgumentHelp("Also record what is sent into this .mkv, .webm or .mp4.", valueName: "file"))
  var record: String?

  @Option(
    help: ArgumentHelp(
      "Send it there instead of serving viewers from here: the URL of a WHIP service, a peer at a hub (NAME, room:NAME, "
        + "wss://host/NAME), or manual (descriptions by copy and paste).", valueName: "where"),
    transform: { try CastTarget(parsing: $0) })
  var to: CastTarget?

  @OptionGroup var hub: HubOptions

  @Option(
    help: ArgumentHelp(
      "Where viewers connect; port 0 takes a free one. Beyond loopback it needs --token. (default: 127.0.0.1:0)",
      valueName: "host:port"),
    transform: { try Self.listenAddress($0) })
  var listen: ListenAddress = .loopback

  @Option(
    help: ArgumentHelp("Secret that viewers, or the WHIP service or hub, must be shown.", valueName: "secret"),
    transform: { try Secret($0) })
  var token: Secret?

  @Option(
    help: ArgumentHelp("Stop by itself after so many seconds.", valueName: "seconds"),
    transform: { try Self.duration($0) })
  var duration: Double?

  @Flag(help: "One JSON object a line on standard output, and nothing else.")
  var json = false

  @Flag(help: "Print a line of statistics every second even when no terminal shows it.")
  var stats = false

  @Flag(
    name: .customLong("control"),
    help:
      "Take commands on standard input, one JSON object a line: source, pause, resume, mute, unmute, bitrate, fps, hint, keyframe; in calls say and hangup."
  )
  var takesControl = false

  @Flag(name: .customLong("no-qr"), help: "Leave out the QR code of the link.")
  var hidesQRCode = false

  @Flag(name: [.short, .long], help: "Log more to standard error; twice for even more.")
  var verbose: Int

  package func validate() throws {
    if to != nil, listen != .loopback {
      throw ValidationError("--to publishes and --listen serves; give one of them.")
    }
    var isCall = false
    if case .hub = to { isCall = true }
    if !isCall, hub.server != nil || hub.ownName != nil || hub.hidesWindow {
      throw ValidationError("--server, --name and --no-window belong to a call; say whom by --to NAME.")
    }
    if let codec = preset?.codec, codecFlag == nil, !CodecRegistry.standard.codecs.contains(codec) {
      throw ValidationError(
        "The preset asks for the codec \(codec.rawValue), which this program has not; choose another by --codec.")
    }
  }

  static func duration(_ text: String) throws -> Double {
    guard let value = Double(text), value > 0, value <= 100_000_000 else {
      throw ValidationError("--duration is in seconds, above 0 and up to 100000000.")
    }
    return value
  }

  /// A port must be said: a server on a port nobody asked for, on an address somebody did, is a surprise.
  package static func listenAddress(_ text: String) throws -> ListenAddress {
    let namesPort =
      text.last?.isNumber == true && (text.contains(":") || text.utf8.allSatisfy { (48...57).contains($0) })
    do throws(ListenAddressError) {
      let address = try ListenAddress(parsing: text)
      guard namesPort else { throw .malformed(text) }
      return address
    } catch {
      throw ValidationError("\(error)")
    }
  }
}

extension BitRate {
  /// `--bitrate`: bits a second, with `k` or `M` for thousands and millions.
  init(option text: String) throws {
    guard let rate = BitRate(text: text) else {
      throw ValidationError("--bitrate wants bits a second from 100k to 100M, such as 800k or 2.5M, not '\(text)'.")
    }
    self = rate
  }
}

/// A secret as typed, and as the server compares it.
struct Secret {
  var text: String
  var token: AccessToken

  /// From the value of `--token`.
  init(_ text: String) throws {
    guard let token = AccessToken(text) else {
      throw ValidationError("--token takes 1 to 1024 visible ASCII characters without blanks.")
    }
    self.text = text
    self.token = token
  }
}

extension ListenAddress: ExpressibleByArgument {
  public init?(argument: String) { try? self.init(parsing: argument) }
  public var defaultValueDescription: String { description }
}

extension ContentHint: ExpressibleByArgument {}

extension VideoCodec: ExpressibleByArgument {
  public init?(argument: String) {
    guard let codec = VideoCodec(rawValue: argument.uppercased()), CodecRegistry.standard.codecs.contains(codec) else {
      return nil
    }
    self = codec
  }

  public static var allValueStrings: [String] { CodecRegistry.standard.codecs.map(\.rawValue) }
}
