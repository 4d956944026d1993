import Dispatch
import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Synchronization

/// A consumer that records the frames that a player passes on without decoding.
final class PassedOn: VideoConsumer, AudioConsumer, EncodedVideoConsumer, EncodedAudioConsumer, Sendable {
  struct Record: Sendable {
    var pictures: [EncodedFrame] = []
    var sounds: [EncodedAudioFrame] = []
    var isTroubled = false
    /// The reasons why pictures were no longer passed on.
    var refusals: [String] = []
  }

  static let start = Timestamp(nanoseconds: 5_000_000_000)
  private let record = Mutex(Record())
  private let ended = DispatchSemaphore(value: 0)

  /// Plays all of `path`, as fast as it can be read.
  static func all(of path: String) throws -> Record {
    let player = try FilePlayer(
      path: path, options: FilePlayer.Options(), clock: .asFastAsConsumed(from: start), passthrough: .standard,
      hosts: Probe.hosts)
    return try PassedOn().play(player)
  }

  private func play(_ player: FilePlayer) throws -> Record {
    player.pause()
    var tracks = 0
    let video = player.source.video as? any EncodedVideoCapturer
    if let video {
      video.startCapture(format: video.supportedFormats[0], consumer: self)
      video.setPassthrough(to: self)
      video.setDecoding(false)
      tracks += 1
    }
    let audio = player.source.audio as? any EncodedAudioSource
    if let audio {
      audio.startCapture(consumer: self)
      audio.setPassthrough(to: self)
      tracks += 1
    }
    player.resume()
    defer {
      video?.stopCapture()
      audio?.stopCapture()
    }
    for _ in 0..<tracks where ended.wait(timeout: .now() + .seconds(60)) == .timedOut {
      throw ProgramFailure(description: "the file does not end")
    }
    return record.withLock { $0 }
  }

  func captureDidStart(_ result: Result<VideoFormat, CaptureError>) {
    if case .failure = result { trouble() }
  }
  func audioCaptureDidStart(_ result: Result<AudioFormat, CaptureError>) {
    if case .failure = result { trouble() }
  }
  private func trouble() {
    record.withLock { $0.isTroubled = true }
    ended.signal()
  }
  func consume(_ frame: VideoFrame) {}
  func consume(_ frame: AudioFrame) {}
  func consume(_ frame: EncodedFrame) { record.withLock { $0.pictures.append(frame) } }
  func passthroughDidEnd(_ sentence: String) { record.withLock { $0.refusals.append(sentence) } }
  func consume(_ frame: EncodedAudioFrame) { record.withLock { $0.sounds.append(frame) } }
  func captureDidEnd(_ reason: CaptureEnd) { ended.signal() }
  func audioCaptureDidEnd(_ reason: CaptureEnd) { ended.signal() }
}
