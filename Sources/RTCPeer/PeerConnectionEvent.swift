public import RTCEngine
public import RTCPrimitives

/// An event of a connection.
public enum PeerConnectionEvent: Sendable {
  /// `.ended` is the last event.
  case stateChanged(PeerState)
  /// JSEP's state (RFC 9429 §3.2).
  case signalingStateChanged(SignalingState)
  /// An offer is due. Comes once until the next agreement; `PerfectNegotiation` sees to it by itself.
  case negotiationNeeded
  /// A candidate of ours that no description has had; the empty one comes behind the last.
  case localCandidate(ICECandidateInit)
  /// How the way to the remote peer is: unless it is good, an ICE restart may help.
  case connectivityChanged(Connectivity)
  /// The remote peer sends a track, or is about to: set its receiver, or show it.
  case trackAdded(RemoteTrack)
  /// The remote peer stopped sending this track; the track has ended.
  case trackRemoved(RemoteTrack)
  /// Sending on this transceiver has started.
  case sendingStarted(TransceiverID)
  /// The remote peer does not take this media any more.
  case sendingStopped(TransceiverID)
  /// The available bitrate for this video or audio has changed.
  case targetBitrateChanged(BitRate, TransceiverID)
  /// The bitrate limit of this audio has changed.
  case audioTargetBitrateChanged(BitRate, TransceiverID)
  /// The remote peer has opened a data channel.
  case dataChannelOpened(DataChannel)
}
