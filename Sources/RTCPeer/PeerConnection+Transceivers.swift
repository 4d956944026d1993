public import RTCEngine
import RTCNet
public import RTCWire

extension PeerConnection {
  /// All transceivers, in the order they were added.
  public var transceivers: [TransceiverState] { slot?.peer.transceivers ?? [] }

  /// Adds a transceiver with an m-section of its own in the next offer.
  /// - Throws: `APIMisuse` for a track of another kind, `NegotiationFailure` if the connection has ended.
  public func addTransceiver(
    _ kind: MediaKind, direction: MediaDirection = .sendrecv, track: OutgoingTrack? = nil
  ) throws -> TransceiverID {
    if let track, track.kind != kind { throw APIMisuse("The track is not of the transceiver's kind, \(kind).") }
    return try chosen(perform(.addTransceiver(kind, direction, track?.name)), track)
  }

  /// Sends a track: on a transceiver of its kind that has never sent, else on a new one (RFC 8829 §5.1).
  /// - Throws: `APIMisuse` when it is sent already, `NegotiationFailure` when the connection has ended.
  public func addTrack(_ track: OutgoingTrack) throws -> TransceiverID {
    guard !outgoing.values.contains(where: { $0.isSame(as: track) }) else {
      throw APIMisuse("The track is sent already; one connection sends a track once.")
    }
    return try chosen(perform(.addTrack(track.kind, track.name)), track)
  }

  private func chosen(_ result: CommandResult, _ track: OutgoingTrack?) throws -> TransceiverID {
    guard case .transceiver(let id) = result else {
      throw APIMisuse("This connection has ended; make a new one.")
    }
    put(track, on: id)
    return id
  }

  /// Stops sending the transceiver's track; receiving continues. The next offer notifies the remote peer.
  /// - Throws: `APIMisuse` if there is no such transceiver, or it was stopped.
  public func removeTrack(_ id: TransceiverID) throws {
    let state = try running(id)
    try perform(.setTrack(nil, id))
    put(nil, on: id)
    try perform(.setDirection(MediaDirection(sends: false, receives: state.direction.receives), id))
  }

  /// Sends another track, or none, in place of the present one, without negotiation.
  /// - Throws: `APIMisuse` if there is no such transceiver, it was stopped, or the track is of another kind.
  public func replaceTrack(_ id: TransceiverID, with track: OutgoingTrack?) throws {
    let state = try running(id)
    if let track, track.kind != state.kind {
      throw APIMisuse("The track is not of the transceiver's kind, \(state.kind).")
    }
    try perform(.setTrack(track?.name, id))
    put(track, on: id)
  }

  /// Sets the wanted direction of a transceiver; takes effect with the next negotiation.
  /// - Throws: `APIMisuse` if there is no such transceiver, or it was stopped.
  public func setDirection(_ direction: MediaDirection, of id: TransceiverID) throws {
    _ = try running(id)
    try perform(.setDirection(direction, id))
  }

  /// Stops the transceiver for good, in both directions.
  /// - Throws: `APIMisuse` if there is no such transceiver, or it was stopped.
  public func stop(_ id: TransceiverID) throws {
    _ = try running(id)
    put(nil, on: id)
    try perform(.stop(id))
  }

  private func running(_ id: TransceiverID) throws -> TransceiverState {
    guard let state = transceivers.first(where: { $0.id == id }) else {
      throw APIMisuse("There is no \(id) in this connection.")
    }
    guard !state.isStopped else { throw APIMisuse("The \(id) was stopped; add a new one.") }
    return state
  }

  /// Joins track and transceiver, and parts the transceiver from the track before.
  private func put(_ track: OutgoingTrack?, on id: TransceiverID) {
    guard let slot else { return }
    let outlet = TrackSender(slot: slot, transceiver: id)
    outgoing[id]?.detach(outlet)
    outgoing[id] = track
    guard let track else { return }
    outlet.tell(isMuted: !track.isEnabled, now: MonotonicClock.now())
    guard slot.peer.isSending(id) else { return }
    track.attach(outlet)
    switch track {
    // Its viewer has an older picture of the track.
    case .video(let video): video.keyFrameRequested(by: outlet, .begin)
    case .audio(let audio): audio.preferencesChanged(slot.peer.opusPreferences(of: id), of: outlet)
    }
  }
}

extension OutgoingTrack {
  fileprivate func isSame(as other: OutgoingTrack) -> Bool {
    switch (self, other) {
    case (.video(let a), .video(let b)): a === b
    case (.audio(let a), .audio(let b)): a === b
    default: false
    }
  }
}
