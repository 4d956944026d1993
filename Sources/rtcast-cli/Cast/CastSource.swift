import Logging
import RTCMedia
import RTCast

extension CastRunner.Source {
  /// Makes the source of a command, with the requested sound.
  init(of command: some CastingCommand, _ logger: Logger) async throws(CastFailure) {
    self = try await command.source(logger)
    media.audio = command.cast.audioSource(own: media.audio, logger)
  }

  /// Makes the source of a command line without `rtcast`, such as `test --pattern bars`.
  init(words: [String], _ logger: Logger) async throws(CaptureError) {
    do {
      guard let command = try Rtcast.parsed(words) as? any CastingCommand else {
        throw CaptureError.unsupportedFormat(
          "'\(words[0])' is not a source; sources are screen, file, camera, test, plugin and pipe.")
      }
      if command is RunCommand {
        throw CaptureError.unsupportedFormat(
          "'run' is not a source. Start the command yourself, and cast its display: screen --display :99.")
      }
      try await self.init(of: command, logger)
    } catch let error as CaptureError {
      throw error
    } catch let failure as CastFailure {
      throw .unavailable(failure.sentence)
    } catch {
      throw .unsupportedFormat(Rtcast.message(for: error))
    }
  }
}
