import ArgumentParser
import Logging
import RTCCapturePlugin
import RTCMedia

struct PluginCommand: CastingCommand {
  static let configuration = CommandConfiguration(
    commandName: "plugin",
    abstract: "Cast what a plugin makes: pictures, sound, or both.",
    discussion: """
      A plugin is a shared library in C or any language that can pretend to be C; rtcast_plugin.h says how to write one. \
      A name without a slash is searched for in the folders of RTCAST_PLUGIN_PATH: `waves` is libwaves.so or waves.so \
      there.

      A plugin that crashes takes rtcast with it. With --isolate it runs in a process of its own: its pictures come \
      through shared memory, and when it crashes it is started again, at most five times a minute, while viewers keep the \
      last picture.

      Examples:
        rtcast plugin ./libwaves.so
        rtcast plugin waves --option tone=880 --option volume=0.5
        rtcast plugin ./libcamera.so --isolate --fps 30 --size 1280x720
        rtcast plugin ./libwaves.so --help-options
      """)

  @Argument(help: ArgumentHelp("The library, by path or by name.", valueName: "plugin"))
  var plugin: String

  @Option(
    name: .customLong("option"), help: ArgumentHelp("For the plugin; may be given again.", valueName: "key=value"),
    transform: { try PluginOption(parsing: $0) })
  var options: [PluginOption] = []

  @Flag(name: .customLong("help-options"), help: "Say what the plugin is and what options it takes, and end.")
  var showsOptions = false

  @Flag(help: "Run the plugin in a process of its own.")
  var isolate = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Most pictures a second, 0.1 to 240. (default: the plugin's own, or 30)", valueName: "n"),
    transform: { try FrameRate(parsing: $0) })
  var fps: FrameRate?

  @Option(
    help: ArgumentHelp("Size to ask the plugin for; larger pictures are scaled down to it.", valueName: "WxH"),
    transform: { try PictureSize(parsing: $0) })
  var size: PictureSize?

  @OptionGroup var cast: CastOptions

  func run() async throws {
    guard showsOptions else { return try await CastRunner(cast).run(self) }
    do throws(CaptureError) {
      let description = try PluginHostProgram.rtcast.describe(PluginSearch.ofEnvironment.path(of: plugin))
      for line in Self.lines(description) { Terminal.print(line) }
    } catch {
      let failure = CastFailure(error)
      Terminal.complain(failure.sentence)
      throw failure.status.code
    }
  }

  private static func lines(_ description: PluginDescription) -> [String] {
    let options = description.optionsHelp.split(separator: "\n").map { "  --option \(String($0).printable)" }
    return ["\(description.name.printable): \(description.summary.printable)"]
      + (options.isEmpty ? ["  It takes no options."] : options)
  }

  func source(_ logger: Logger) async throws(CastFailure) -> CastRunner.Source {
    do throws(CaptureError) {
      let path = try PluginSearch.ofEnvironment.path(of: plugin)
      let program = isolate ? PluginHostProgram.rtcast : nil
      let wanted = fps?.value ?? cast.preset?.frameRate
      var settings = PluginSettings(options: options.map { ($0.key, $0.value) }, size: cast.largestPicture(size))
      if let wanted { settings.frameRate = wanted }
      let source = try PluginSource(
        path: path, settings: settings, isolation: program, onNotice: { logger.warning("\($0)") })
      return CastRunner.Source(
        media: source.source, name: "plugin", frameRate: min(wanted ?? source.description.frameRate ?? 30, 240),
        size: settings.size, maximumSize: settings.size)
    } catch {
      throw CastFailure(error)
    }
  }
}

/// `--option key=value`.
package struct PluginOption: Hashable, Sendable {
  package var key: String
  package var value: String

  package init(parsing text: String) throws {
    guard let sign = text.firstIndex(of: "="), sign != text.startIndex else {
      throw ValidationError("--option wants key=value, such as tone=440, not '\(text)'.")
    }
    key = String(text[..<sign])
    value = String(text[text.index(after: sign)...])
    guard !text.utf8.contains(0), text.utf8.count <= 4000 else {
      throw ValidationError("--option takes text of up to 4000 bytes, without zero bytes.")
    }
  }
}

extension PluginHostProgram {
  /// This program, which runs plugins in a process of their own by a hidden command.
  static let rtcast = PluginHostProgram.thisProgram(arguments: [PluginHostCommand.name])
}
