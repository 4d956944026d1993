import ArgumentParser
import Logging
import RTCCapturePlugin
import RTCMedia

struct PluginCommand: CastingCommand {
  static let configuration = CommandConfiguration(
    commandName: "plugin",
    abstract: "Cast the video and audio that a plugin makes.",
    discussion: """
      A plugin is a shared library with the C interface of rtcast_plugin.h, in any language. A name without a slash is \
      searched for in the folders of RTCAST_PLUGIN_PATH: `waves` finds libwaves.so or waves.so.

      A plugin that crashes takes rtcast with it, and it is confined as rtcast is: it reads the files of its own folder, \
      of the system, and those that --option names, writes none, and starts no programs. With --isolate it runs in a \
      process of its own, which is not confined: its pictures come through shared memory, and if it crashes it is started \
      again, at most five times a minute, while viewers keep the last picture.

      Examples:
        rtcast plugin ./libwaves.so
        rtcast plugin waves --option tone=880 --option volume=0.5
        rtcast plugin ./libcamera.so --isolate --fps 30 --size 1280x720
        rtcast plugin ./libwaves.so --help-options
      """)

  @Argument(help: ArgumentHelp("Path or name of the library.", valueName: "plugin"))
  var plugin: String

  @OptionGroup(title: "Plugin") var hosting: PluginOptions
  @OptionGroup var cast: CastOptions

  func run() async throws {
    guard hosting.showsOptions else { return try await CastRunner(cast).run(self) }
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
      let program = hosting.isolate ? PluginHostProgram.rtcast : nil
      let wanted = cast.media.maximumFrameRate
      var settings = PluginSettings(options: hosting.options.map { ($0.key, $0.value) }, size: cast.media.maximumSize)
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

/// How the plugin is run.
struct PluginOptions: ParsableArguments {
  @Option(
    name: .customLong("option"),
    help: ArgumentHelp("Option for the plugin; may be given several times.", valueName: "key=value"),
    transform: { try PluginOption(parsing: $0) })
  var options: [PluginOption] = []

  @Flag(name: .customLong("help-options"), help: "Describe the plugin and its options, and exit.")
  var showsOptions = false

  @Flag(help: "Run the plugin in a process of its own.")
  var isolate = false
}

/// `--option key=value`.
package struct PluginOption: Hashable, Sendable {
  package var key: String
  package var value: String

  package init(parsing text: String) throws {
    guard let sign = text.firstIndex(of: "="), sign != text.startIndex else {
      throw ValidationError("--option takes key=value, such as tone=440, not '\(text)'.")
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
