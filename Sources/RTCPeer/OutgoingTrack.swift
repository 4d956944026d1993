public import RTCEngine
import RTCPrimitives

/// A track of ours, for any number of connections.
public enum OutgoingTrack: Sendable {
  /// A video.
  case video(OutgoingVideoTrack)
  /// An audio.
  case audio(OutgoingAudioTrack)

  /// Sound or pictures.
  public var kind: MediaKind {
    switch self {
    case .video: .video
    case .audio: .audio
    }
  }

  /// The track's name and stream in descriptions.
  public var name: TrackName {
    switch self {
    case .video(let track): track.name
    case .audio(let track): track.name
    }
  }

  /// False while it rests: nothing is sent.
  public var isEnabled: Bool {
    get {
      switch self {
      case .video(let track): track.isEnabled
      case .audio(let track): track.isEnabled
      }
    }
    nonmutating set {
      switch self {
      case .video(let track): track.isEnabled = newValue
      case .audio(let track): track.isEnabled = newValue
      }
    }
  }

  // MARK: - On the loop

  func attach(_ outlet: TrackSender) {
    switch self {
    case .video(let track): track.attach(outlet)
    case .audio(let track): track.attach(outlet)
    }
  }

  func detach(_ outlet: TrackSender) {
    switch self {
    case .video(let track): track.detach(outlet)
    case .audio(let track): track.detach(outlet)
    }
  }

  func bitrateChanged(_ bitrate: BitRate, of outlet: TrackSender) {
    switch self {
    case .video(let track): track.bitrateChanged(bitrate, of: outlet)
    case .audio(let track): track.bitrateChanged(bitrate, of: outlet)
    }
  }

  func reachabilityChanged(_ isReachable: Bool, of outlet: TrackSender) {
    switch self {
    case .video(let track): track.reachabilityChanged(isReachable, of: outlet)
    case .audio(let track): track.reachabilityChanged(isReachable, of: outlet)
    }
  }
}

/// One transceiver of one peer: where a track goes out. Lives on the loop's thread.
struct TrackSender: Hashable {
  let slot: PeerSlot
  let transceiver: TransceiverID

  func tell(isMuted: Bool, now: Timestamp) {
    _ = try? slot.perform(.setMuted(isMuted, transceiver), now: now)
  }
}
