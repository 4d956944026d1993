import Logging
import RTCMedia
import RTCast

/// Applies the commands of `--control` to a call.
struct CallControl: Sendable {
  let chat: CallChat
  let output: CallOutput
  let logger: Logger

  /// - Returns: whether the command was carried out.
  func obey(_ command: Result<ControlCommand, ControlError>, _ calls: CallManager) async -> Bool {
    do throws(ControlError) {
      let command = try command.get()
      try await obey(command, calls)
      output.answer(ControlReply(.success(command)))
      return true
    } catch {
      output.answer(ControlReply(.failure(error)))
      return false
    }
  }

  private func obey(_ command: ControlCommand, _ calls: CallManager) async throws(ControlError) {
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
    case .bitrate, .frameRate, .contentHint, .keyFrame, .revoke: break  // of casts
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
