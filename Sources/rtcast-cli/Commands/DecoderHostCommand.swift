import ArgumentParser
import Logging
import RTCIsolation
import RTCast

/// The process that `rtcast watch` and `rtcast call` start to decode one video or sound.
struct DecoderHostCommand: ParsableCommand {
  static let name = "decoder-host"

  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Decode for another rtcast.", shouldDisplay: false)

  /// Reached where a person types it: see `Rtcast.statusOfDecoderHost`.
  func run() throws {
    Terminal.complain("`rtcast \(Self.name)` is started by rtcast itself; to watch a cast, use `rtcast watch`.")
    throw ExitStatus.usage.code
  }
}

extension CodecRegistry {
  /// All codecs of this build, with decoders in processes of this program, one of which is started now.
  static func isolated(_ logger: Logger) -> CodecRegistry {
    let decoders = IsolatedDecoders.rtcast { logger.warning("\($0)") }
    decoders.prepare()
    var registry = standard
    registry.isolation = decoders
    return registry
  }
}

extension IsolatedDecoders {
  /// Decoders in processes of this program.
  /// - Parameter report: receives messages for the user.
  static func rtcast(report: @escaping @Sendable (String) -> Void) -> IsolatedDecoders {
    IsolatedDecoders(
      program: ChildProgram(executable: "/proc/self/exe", arguments: [DecoderHostCommand.name]), report: report)
  }
}
