import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import Synchronization

/// What we send in calls: captured once and encoded once, whoever it goes to.
final class LocalMedia: Sendable {
  enum Event: Sendable {
    case ended(CaptureEnd)
    case warning(String)
  }

  /// A connection, and what its network bears.
  private struct Listener {
    var video: BitRate
    var audio: BitRate
  }

  let program: Program
  let previews = PreviewSinks()
  private let configuration: CallConfiguration
  private let listeners = Mutex<[String: Listener]>([:])
  private let isScreencast = Atomic(false)

  init(
    _ configuration: CallConfiguration, codecs: CodecRegistry, peers: PeerLoop,
    report: @escaping @Sendable (Event) -> Void
  ) {
    self.configuration = configuration
    program = Program(
      options: configuration.broadcastOptions, contentHint: configuration.contentHint ?? .motion, sendsAudio: true,
      codecs: codecs, peers: peers, previews: previews
    ) { event in
      switch event {
      case .ended(let end): report(.ended(end))
      case .audioLost(let sentence): report(.warning("The sound is gone: \(sentence)"))
      case .encoderFailed(let sentence): report(.warning(sentence))
      default: break
      }
    }
  }

  var videoTrack: OutgoingVideoTrack { program.video.track }
  var audioTrack: OutgoingAudioTrack? { program.audioTrack }

  /// What our streams show, for far sides to lay them out.
  var streams: [String: String] {
    [videoTrack.name.streamID: isScreencast.load(ordering: .relaxed) ? "screen" : "camera"]
  }

  /// Starts what `source` has; a microphone that runs already runs on.
  /// - Parameter size: to ask of a source that can deliver any; nil: as configured.
  func start(_ source: MediaSource, size: PixelSize? = nil) async throws(CaptureError) {
    _ = try await program.start(
      source,
      format: Broadcast.format(
        of: source.video, size: size ?? configuration.captureSize, frameRate: configuration.frameRate),
      keepsSound: true)
    guard let video = source.video else { return }
    isScreencast.store(video.isScreencast, ordering: .relaxed)
    program.video.pipeline.setContentHint(configuration.contentHint ?? (video.isScreencast ? .detail : .motion))
  }

  func stop() {
    program.stop()
    previews.end()
  }

  // MARK: - Who gets it

  func connected(_ id: String) {
    change { $0[id] = Listener(video: configuration.video.start, audio: configuration.audio.start) }
  }

  func disconnected(_ id: String) { change { $0[id] = nil } }

  func videoTarget(_ rate: BitRate, of id: String) { change { $0[id]?.video = rate } }

  func audioTarget(_ rate: BitRate, of id: String) { change { $0[id]?.audio = rate } }

  /// Encodes for the best network, as a broadcast does.
  private func change(_ body: (inout [String: Listener]) -> Void) {
    listeners.withLock { listeners in
      body(&listeners)
      let audio = listeners.values.map(\.audio).max() ?? configuration.audio.start
      program.audio?.setBitrate(Int(audio.bitsPerSecond))
      program.video.pipeline.setTargetBitrate(listeners.values.map(\.video).max() ?? configuration.video.start)
      program.setWatched(!listeners.isEmpty)
    }
  }
}
