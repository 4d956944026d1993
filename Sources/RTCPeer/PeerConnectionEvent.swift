public import RTCEngine
public import RTCPrimitives

/// What happens to a connection.
public enum PeerConnectionEvent: Sendable {
  /// `.ended` is the last event.
  case stateChanged(PeerState)
  case signalingStateChanged(SignalingState)
  /// An offer is due. Comes once until the next agreement; `PerfectNegotiation` sees to it by itself.
  case negotiationNeeded
  /// The remote peer sends a track, or is about to: set its receiver, or show it.
  case trackAdded(RemoteTrack)
  /// It sends it no longer; the track has ended.
  case trackRemoved(RemoteTrack)
  /// What is sent on this transceiver leaves from now on, or no longer.
  case sendingStarted(TransceiverID)
  case sendingStopped(TransceiverID)
  /// What the network bears of this video, or of this sound, from now on.
  case targetBitrateChanged(BitRate, TransceiverID)
  case audioTargetBitrateChanged(BitRate, TransceiverID)
  /// The remote peer has opened a data channel.
  case dataChannelOpened(DataChannel)
}
