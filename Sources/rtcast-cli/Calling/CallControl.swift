import Logging
import RTCMedia
import RTCSignaling
import RTCast

/// Applies the commands of `--control` to a call.
struct CallControl: Sendable {
  let chat: CallChat
  let output: CallOutput
  let logger: Logger

  /// Our name at the hub, and the hub's address.
  let name: String
  let server: String
  private let status = ControlStatus(of: .call)

  init(_ chat: CallChat, _ output: CallOutput, _ logger: Logger, name: String, server: String) {
    self.chat = chat
    self.output = output
    self.logger = logger
    self.name = name
    self.server = server
  }

  /// Carries out a command, and answers it.
  /// - Returns: the command; nil when it was refused.
  func perform(_ request: ControlRequest, _ calls: CallManager) async -> ControlCommand? {
    do throws(ControlError) {
      let command = try request.command.get()
      try await perform(command, calls)
      if case .status = command {
        request.answer(ControlReply(await statusEvent(calls)))
      } else {
        request.answer(ControlReply(.success(command)))
      }
      return command
    } catch {
      request.answer(ControlReply(.failure(error)))
      return nil
    }
  }

  private func statusEvent(_ calls: CallManager) async -> OutputEvent {
    let figures = await calls.statistics().map { JSONValue.object(CallOutput.figures(of: $0)) }
    return status.event([
      ("id", .string(name)), ("server", .string(server)), ("state", .optional(await calls.state.word)),
      ("stats", .array(figures)),
    ])
  }

  private func perform(_ command: ControlCommand, _ calls: CallManager) async throws(ControlError) {
    try command.check(in: .call)
    switch command {
    case .source(["none"]): try await manage { () throws(CallManagerError) in try await calls.stopVideoRecording() }
    case .source(let words): try await show(words, calls)
    case .pause: if let track = await calls.localVideoTrack { track.isEnabled = false }
    case .resume: if let track = await calls.localVideoTrack { track.isEnabled = true }
    case .mute(let isMuted): if let track = await calls.localAudioTrack { track.isEnabled = !isMuted }
    case .say(let text): try await chat.say(text)
    case .answer(let accept):
      try await manage { () throws(CallManagerError) in try await calls.answerCallRequest(accept: accept) }
    case .hangUp: await calls.endCall()
    case .status, .stop: break  // answered, and done by whoever runs the call
    case .bitrate, .frameRate, .contentHint, .keyFrame, .revoke, .viewers: break  // of casts
    }
  }

  /// Replaces the source by the one of a command line. A source without sound does not change the sound.
  private func show(_ words: [String], _ calls: CallManager) async throws(ControlError) {
    let source: CastRunner.Source
    do throws(CaptureError) { source = try await CastRunner.Source(words: words, logger) } catch {
      throw ControlError(error.sentence)
    }
    try await manage { () throws(CallManagerError) in
      if let video = source.media.video, source.media.audio == nil {
        try await calls.startVideoRecording(videoCapturer: video, size: source.size)
      } else {
        try await calls.startRecording(source: source.media, size: source.size)
      }
    }
  }

  private func manage(_ deed: () async throws(CallManagerError) -> Void) async throws(ControlError) {
    do throws(CallManagerError) { try await deed() } catch { throw ControlError(error.sentence) }
  }
}
