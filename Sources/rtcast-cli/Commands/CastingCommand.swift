import ArgumentParser
import Logging

/// A command that casts something: it makes the source, everything else is the same for all.
protocol CastingCommand: AsyncParsableCommand, ConfinedCommand {
  var cast: CastOptions { get }

  /// The source as the options say, not started yet.
  func source(_ logger: Logger) async throws(CastFailure) -> CastRunner.Source
}

extension CastingCommand {
  func run() async throws { try await CastRunner(cast, isFile: self is FileCommand).run(self) }
}
