import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import Synchronization

/// The media that we send in calls, captured and encoded once for all remote peers.
final class LocalMedia: Sendable {
  enum Event: Sendable {
    case ended(CaptureEnd)
    case warning(String)
  }

  let outgoing: OutgoingMedia
  let previews = PreviewSinks()
  private let configuration: CallConfiguration
  private let isScreencast = Atomic(false)

  init(
    _ configuration: CallConfiguration, codecs: CodecRegistry, peers: PeerLoop,
    report: @escaping @Sendable (Event) -> Void
  ) {
    self.configuration = configuration
    outgoing = OutgoingMedia(
      options: configuration.broadcastOptions, contentHint: configuration.contentHint ?? .motion, sendsAudio: true,
      codecs: codecs, peers: peers, previews: previews
    ) { event in
      switch event {
      case .ended(let end): report(.ended(end))
      case .audioLost(let sentence): report(.warning("Sound has stopped: \(sentence)"))
      case .encoderFailed(let sentence), .sourceStalled(let sentence): report(.warning(sentence))
      default: break
      }
    }
  }

  var videoTrack: OutgoingVideoTrack { outgoing.video.track }
  var audioTrack: OutgoingAudioTrack? { outgoing.audio?.track }

  /// The content of each of our streams (camera or screen), for the layout at remote peers.
  var streams: [String: String] {
    [videoTrack.name.streamID: isScreencast.load(ordering: .relaxed) ? "screen" : "camera"]
  }

  /// Starts what `source` has; a microphone that runs already runs on.
  /// - Parameter size: to ask of a source that can deliver any; nil: as configured.
  func start(_ source: MediaSource, size: PixelSize? = nil) async throws(CaptureError) {
    _ = try await outgoing.start(
      source,
      format: Broadcast.format(
        of: source.video, size: size ?? configuration.captureSize, frameRate: configuration.frameRate),
      keepsSound: true)
    guard let video = source.video else { return }
    isScreencast.store(video.isScreencast, ordering: .relaxed)
    outgoing.video.setContentHint(configuration.contentHint ?? (video.isScreencast ? .detail : .motion))
  }

  func stop() {
    outgoing.stop()
    previews.end()
  }
}
