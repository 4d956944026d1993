public import ArgumentParser
import Logging
import RTCast
public import RTCEngine
public import RTCMedia
import RTCPrimitives

/// The options of the sent media: the same for every command that sends.
package struct MediaOptions: ParsableArguments {
  package init() {}

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Maximum frame rate, 0.1 to 240 frames per second. (default: 5 for a screen, the file's or plugin's own rate, 30 "
        + "for everything else)", valueName: "n"),
    transform: { try FrameRate(parsing: $0) })
  var fps: FrameRate?

  @Option(
    help: ArgumentHelp(
      "Maximum picture size: larger pictures are scaled down to fit. Cameras, plugins and test patterns are asked for "
        + "this size. (default: the source's own; 1280x720 for cameras and test patterns)", valueName: "WxH"),
    transform: { try PictureSize(parsing: $0) })
  var size: PictureSize?

  @Option(
    help: ArgumentHelp(
      "Starting and maximum video bitrate for each viewer, in bit/s: 800k, 2.5M. (default: start at 1M, rise to 6M)",
      valueName: "rate"),
    transform: { try BitRate(option: $0) })
  var bitrate: BitRate?

  @Option(
    name: .customLong("rate-control"),
    help: ArgumentHelp(
      "How the bitrate follows the network: gcc (by delay and loss, with probes) or stepped (by loss alone, in the steps "
        + "of a preset). (default: gcc)", valueName: "algorithm"))
  var rateControlOption: RateControlAlgorithm?

  @Option(
    name: .customLong("content-hint"),
    help: ArgumentHelp(
      "What to preserve when bandwidth is short: detail or text keeps the picture sharp, motion keeps the frame rate. "
        + "(default: detail for screens and drawn pictures, motion for others)", valueName: "hint"))
  var contentHintOption: ContentHint?

  @Option(
    name: .customLong("codec"),
    help: ArgumentHelp(
      "Video codec to encode with; viewers that cannot decode it are sent VP8, or H264. auto chooses the best that most viewers "
        + "decode and this machine encodes in time, in full colour where that can be seen. (default: VP8, or VP9 with --chroma 444)",
      valueName: "codec"))
  var codecOption: CodecOption?

  @Option(
    name: .customLong("chroma"),
    help: ArgumentHelp(
      "How colours are sampled: 420 (one sample for four pixels) or 444 (one for each pixel: coloured text is sharp, for "
        + "viewers that can decode it). (default: 420)", valueName: "sampling"))
  var chromaOption: ChromaSampling?

  @Option(
    name: .customLong("scalability-mode"),
    help: ArgumentHelp(
      "L1T2 makes every second frame of a movement droppable: slow viewers and forwarding servers can skip it. VP9 "
        + "only. (default: L1T1)", valueName: "mode"))
  var scalabilityModeOption: ScalabilityMode?

  @Option(
    name: .customLong("audio"),
    help: ArgumentHelp(
      "Audio to send: source (the source's own; a screen has none), desktop (what this machine plays), mic, app:NAME "
        + "(what one program plays), several of these three such as app:firefox+mic, none, or a device that `rtcast "
        + "list audio` names. (default: source; mic for `rtcast call` without --file)",
      valueName: "choice"),
    transform: { try AudioChoice(parsing: $0) })
  var audioOption: AudioChoice?

  @Option(
    name: .customLong("preset"),
    help: ArgumentHelp(
      "Preset that changes these defaults: \(Preset.builtInNames.joined(separator: ", ")), or the path of a JSON file. "
        + "Options given explicitly take precedence.", valueName: "name|path"),
    transform: { try NamedPreset($0) })
  private var presetOption: NamedPreset?

  /// The preset, completed from the configuration files; nil: there is neither.
  var preset: Preset? { ConfigurationFiles.current.filling(presetOption?.preset) }

  package func validate() throws {
    if let codec = codecOption?.codec, !CodecRegistry.standard.codecs.contains(codec) {
      throw ValidationError(Self.sentence(without: codec))
    }
    if let codec = preset?.codec, codecOption == nil, !CodecRegistry.standard.codecs.contains(codec) {
      throw ValidationError(
        "The preset or configuration asks for the codec \(codec.rawValue), which this program does not have; choose another "
          + "with --codec."
      )
    }
    if choosesCodec, chromaOption != nil {
      throw ValidationError("--codec auto chooses the chroma as well; leave --chroma out, or name a codec.")
    }
    if scalabilityModeOption == .l1t2, choosesCodec || codec != .vp9 {
      throw ValidationError("Only VP9 has --scalability-mode L1T2; add --codec VP9, or leave it out.")
    }
    let able = CodecRegistry.standard.codecs(with: chroma)
    guard choosesCodec || able.contains(codec) else {
      let names = able.map { "--codec \($0.rawValue)" }.joined(separator: " or ")
      throw ValidationError("\(codec.rawValue) has no --chroma \(chroma.name); choose \(names), or leave --chroma out.")
    }
  }

  private static func sentence(without codec: VideoCodec) -> String {
    let others = CodecRegistry.standard.codecs.map { "--codec \($0.rawValue)" }.joined(separator: " or ")
    guard codec == .h264 else { return "This program cannot encode \(codec.rawValue); choose \(others)." }
    return "This program was built without x264, which encodes H.264 and is under the GPL. Build it with `swift build "
      + "--traits X264`, or choose \(others)."
  }

  /// The preset's name or path on the command line.
  var presetName: String? { presetOption?.name }

  /// These options after the preset file is read again.
  func withPresetReadAgain() throws(CastFailure) -> MediaOptions {
    guard let presetName else { return self }
    var options = self
    do { options.presetOption = try NamedPreset(presetName) } catch { throw CastFailure(.noInput, "\(error)") }
    return options
  }

  static func preset(_ nameOrPath: String) throws -> Preset {
    do throws(PresetError) {
      return try checked(try Preset.find(nameOrPath), of: nameOrPath, called: "preset \(nameOrPath)")
    } catch {
      throw ValidationError(error.sentence)
    }
  }

  /// Settings of a file, with what this program alone knows checked. Complains about secrets that others can read.
  /// - Parameter called: what sentences call the file, such as `preset mine.json`.
  static func checked(_ preset: Preset, of path: String, called: String) throws(PresetError) -> Preset {
    let hasSecrets = preset.token != nil || preset.iceServers.contains { $0.credential != nil }
    if hasSecrets, let warning = WholeFile.exposure(of: path, what: "The file") {
      Terminal.complain(warning, isWarning: true)
    }
    if let choice = preset.audioSource {
      do { _ = try AudioChoice(parsing: choice) } catch {
        throw PresetError(
          kind: .malformed, sentence: "In the \(called): audioSource '\(choice)' is refused: \(error)")
      }
    }
    return preset
  }
}

/// The resulting values: the option, else the preset's value, else the default.
extension MediaOptions {
  /// VP8 decodes everywhere; it has no full chroma, for which the first codec that does is taken.
  package var codec: VideoCodec {
    let able = CodecRegistry.standard.codecs(with: chroma)
    return codecOption?.codec ?? preset?.codec ?? (able.contains(.vp8) ? .vp8 : able.first ?? .vp8)
  }

  /// Whether the codec is chosen automatically, by `--codec auto` or by the preset.
  package var choosesCodec: Bool { codecOption.map { $0 == .auto } ?? preset?.choosesCodec ?? false }

  package var chroma: ChromaSampling { chromaOption ?? preset?.chroma ?? .quarter }

  var scalabilityMode: ScalabilityMode { scalabilityModeOption ?? preset?.scalabilityMode ?? .l1t1 }

  var rateControl: RateControlAlgorithm { rateControlOption ?? preset?.rateControl ?? .gcc }

  var contentHint: ContentHint? { contentHintOption ?? preset?.contentHint }

  /// The sound to send. A preset's choice was checked when the preset was read.
  var audio: AudioChoice? { audioOption ?? preset?.audioSource.flatMap { try? AudioChoice(parsing: $0) } }

  /// The maximum frame rate; nil means unlimited.
  var maximumFrameRate: Double? { fps?.value ?? preset?.frameRate }

  func frameRate(otherwise standard: FrameRate) -> Double { maximumFrameRate ?? standard.value }

  /// The maximum size; nil means the size of the captured pictures.
  var maximumSize: PixelSize? { size?.size ?? preset?.size }

  /// The bitrate bounds of each viewer's picture.
  var bitrateLimits: BitrateLimits {
    bitrate.map { bitrateLimits($0) } ?? preset?.video ?? .defaultForVideo
  }

  /// A copy with this starting and maximum rate.
  func bitrateLimits(_ bitrate: BitRate) -> BitrateLimits {
    var limits = preset?.video ?? .defaultForVideo
    limits.minimum = min(limits.minimum, bitrate)
    limits.maximum = bitrate
    // Steps of fifteen percent would take minutes to reach the rate, and a user who names a rate knows the network.
    limits.start = rateControl == .stepped ? bitrate : min(limits.start, bitrate)
    return limits
  }

  /// The configuration of a call that sends `source`. Nil sends the microphone alone, until `--control` names a source.
  func callConfiguration(for source: CastRunner.Source?) -> CallConfiguration {
    var configuration = preset.map { CallConfiguration($0) } ?? CallConfiguration()
    configuration.frameRate = source?.frameRate ?? frameRate(otherwise: .motion)
    configuration.captureSize = source?.size
    configuration.maximumSize = source.map(\.maximumSize) ?? maximumSize
    configuration.codec = codec
    configuration.chroma = chroma
    configuration.scalabilityMode = scalabilityMode
    if choosesCodec { configuration.codecCosts = CodecCostsFile.costs(of: .standard) { Terminal.complain($0) } }
    configuration.contentHint = contentHint
    configuration.rateControl = rateControl
    configuration.video = bitrateLimits
    return configuration
  }
}

extension BitRate {
  /// `--bitrate`: bits per second, with `k` or `M` for thousands and millions.
  init(option text: String) throws {
    guard let rate = BitRate(text: text) else {
      throw ValidationError("--bitrate takes 100k to 100M bit/s, such as 800k or 2.5M, not '\(text)'.")
    }
    self = rate
  }
}

extension RateControlAlgorithm: ExpressibleByArgument {}

extension ContentHint: ExpressibleByArgument {}

extension ScalabilityMode: ExpressibleByArgument {
  /// In capitals or not.
  public init?(argument: String) { self.init(rawValue: argument.uppercased()) }

  /// The values as written on the command line.
  public static var allValueStrings: [String] { allCases.map(\.rawValue) }
}

extension ChromaSampling: ExpressibleByArgument {
  /// `420` or `444`, with or without colons.
  public init?(argument: String) {
    let name = argument.filter { $0 != ":" }
    guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = found
  }

  /// The values as written on the command line.
  public static var allValueStrings: [String] { allCases.map(\.name) }
}

/// `--fps`: frames per second, 0.1 to 240.
package struct FrameRate: CustomStringConvertible {
  package let value: Double

  static let screen = FrameRate(5)
  static let motion = FrameRate(30)

  private init(_ value: Double) { self.value = value }

  package init(parsing text: String, option: String = "--fps") throws {
    guard let value = Double(text), (0.1...240).contains(value) else {
      throw ValidationError("\(option) takes 0.1 to 240 frames per second; 5 suits text, 30 suits motion.")
    }
    self.value = value
  }

  package var description: String { value == value.rounded() ? String(Int(value)) : String(value) }
}

/// A preset, and how the command line names it.
struct NamedPreset: Sendable {
  let name: String
  let preset: Preset

  init(_ nameOrPath: String) throws { (name, preset) = (nameOrPath, try MediaOptions.preset(nameOrPath)) }
}
