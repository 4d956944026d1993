public import RTCEngine

/// A track that the remote peer sends.
public enum RemoteTrack: Sendable {
  case video(RemoteVideoTrack)
  case audio(RemoteAudioTrack)

  /// The transceiver that receives it.
  public var transceiver: TransceiverID {
    switch self {
    case .video(let track): track.transceiver
    case .audio(let track): track.transceiver
    }
  }

  /// The remote peer's identifier of the track.
  public var id: String {
    switch self {
    case .video(let track): track.id
    case .audio(let track): track.id
    }
  }

  /// The remote peer's streams it is in; tracks of one stream are played in step.
  public var streamIDs: [String] {
    switch self {
    case .video(let track): track.streamIDs
    case .audio(let track): track.streamIDs
    }
  }

  /// The remote peer's name.
  public var peer: String {
    switch self {
    case .video(let track): track.peer
    case .audio(let track): track.peer
    }
  }

  /// Makes what plays it, see there.
  package func prepare() throws {
    switch self {
    case .video(let track): try track.prepare()
    case .audio(let track): try track.prepare()
    }
  }

  // MARK: - On the loop

  func end() {
    switch self {
    case .video(let track): track.end()
    case .audio(let track): track.end()
    }
  }

  func note(_ clock: SenderClock) {
    switch self {
    case .video(let track): track.note(clock)
    case .audio(let track): track.note(clock)
    }
  }
}
