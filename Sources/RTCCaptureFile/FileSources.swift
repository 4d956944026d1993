internal import RTCMedia
internal import RTCPrimitives

/// The object that keeps a file playing. The player, its pictures and its sound share one, and the file stops when the
/// last of them is released.
final class PlaybackHold: Sendable {
  let core: PlaybackCore

  init(_ core: PlaybackCore) { self.core = core }

  deinit { core.abandon() }
}

/// The pictures of a player.
final class FileVideoCapturer: EncodedVideoCapturer {
  private let hold: PlaybackHold
  private let format: VideoFormat
  private var core: PlaybackCore { hold.core }

  init(hold: PlaybackHold, format: VideoFormat) {
    self.hold = hold
    self.format = format
  }

  var supportedFormats: [VideoFormat] { [format] }
  var isScreencast: Bool { false }

  /// The size asked for is the pipeline's to make: pictures come as they are.
  func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    let asked = format.frameRates.upperBound
    let limits = [core.options.maximumFrameRate ?? .infinity, asked].filter { $0 > 0 && $0.isFinite }
    // A limit at the file's own rate or above would only cost pictures where its rate varies.
    let limit = limits.min().flatMap { $0 < self.format.frameRates.upperBound ? $0 : nil }
    core.startVideo(maximumFrameRate: limit ?? core.options.maximumFrameRate, consumer: consumer)
  }

  func stopCapture() { core.stopVideo() }

  var encodedFormat: EncodedVideoFormat? { core.info.encodedFormat }

  func setPassthrough(to consumer: (any EncodedVideoConsumer)?) {
    core.monitor.change { state, now in
      state.videoTap = consumer
      state.updateTaps(now)
    }
  }

  func setDecoding(_ isWanted: Bool) { core.monitor.change { $0.setDecoding(isWanted, $1) } }

  func timeToNextKeyFrame() -> TimeDelta? { core.monitor.read { $0.timeToNextKeyFrame($1) } }
}

/// The sound of a player.
final class FileAudioSource: EncodedAudioSource {
  private let hold: PlaybackHold
  private var core: PlaybackCore { hold.core }

  init(hold: PlaybackHold) { self.hold = hold }

  func startCapture(consumer: any AudioConsumer) { core.startAudio(consumer: consumer) }
  func stopCapture() { core.stopAudio() }

  var isOpus: Bool { core.info.isOpus }

  func setPassthrough(to consumer: (any EncodedAudioConsumer)?) {
    core.monitor.change { state, now in
      state.audioTap = consumer
      state.updateTaps(now)
    }
  }
}

/// Pausing, as a broadcast does it.
final class FilePlayback: PausableSource {
  private let core: PlaybackCore

  init(core: PlaybackCore) { self.core = core }

  func pause() { core.pause() }
  func resume() { core.resume() }
  func hold() { core.monitor.change { state, _ in state.isHeld = true } }
  func release() { core.monitor.change { state, _ in state.isHeld = false } }
}
