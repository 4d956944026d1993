public import RTCPeer
public import RTCSignaling

/// Receives the events of calls under the names that applications of the reference system know. `CallManager.events`
/// has the same events. Called on the cooperative pool, one call after the other.
public protocol CallManagerDelegate: AnyObject, Sendable {
  /// The peer rings. Answer by `CallManager.answerCallRequest(accept:)`.
  func didReceiveIncomingCall(from peer: PeerID)
  /// Our video has started; it is sent in every call.
  func didAddLocalVideoTrack(_ track: LocalVideoTrack)
  /// Our audio track was made. It is sent in every call.
  func didAddLocalAudioTrack(_ track: LocalAudioTrack)
  /// A remote peer sends video: add a sink to see it.
  func didAddRemoteVideoTrack(_ track: RemoteVideoTrack)
  /// The remote peer sends this audio track. It is played already.
  func didAddRemoteAudioTrack(_ track: RemoteAudioTrack)
  /// The remote peer stopped sending this video.
  func remoteVideoTrackWasRemoved(_ track: RemoteVideoTrack)
  /// Media flows.
  func callDidStart()
  /// The remote peer opened a data channel. Keep a reference to it. Channels made here are returned by
  /// `createDataChannel`.
  func didReceiveDataChannel(_ channel: DataChannel)
  /// - Parameter error: nil when one of the two hung up.
  func callDidEnd(withError error: CallManagerError?)
}

extension CallManagerDelegate {
  /// Does nothing.
  public func didReceiveIncomingCall(from peer: PeerID) {}
  /// Does nothing.
  public func didAddLocalVideoTrack(_ track: LocalVideoTrack) {}
  /// Does nothing.
  public func didAddLocalAudioTrack(_ track: LocalAudioTrack) {}
  /// Does nothing.
  public func didAddRemoteVideoTrack(_ track: RemoteVideoTrack) {}
  /// Does nothing.
  public func didAddRemoteAudioTrack(_ track: RemoteAudioTrack) {}
  /// Does nothing.
  public func remoteVideoTrackWasRemoved(_ track: RemoteVideoTrack) {}
  /// Does nothing.
  public func callDidStart() {}
  /// Does nothing.
  public func didReceiveDataChannel(_ channel: DataChannel) {}
  /// Does nothing.
  public func callDidEnd(withError error: CallManagerError?) {}
}

/// An event of the calls of a `CallManager`, in order.
public enum CallEvent: Sendable {
  /// The call outside rooms came into a state.
  case callChanged(CallState)
  /// A call of a room came into a state.
  case roomCallChanged(room: String, CallState)
  /// A peer has entered a room that we are in.
  case peerJoined(room: String, PeerID)
  /// A peer has left the room.
  case peerLeft(room: String, PeerID)
  /// The hub does not let us into the room; the sentence says why.
  case roomRefused(String, sentence: String)
  /// All other peers at the signaling server that can be called, after `CallManager.followPeers`; repeated after an
  /// interruption.
  case peersPresent([PeerID])
  /// A peer has registered at the signaling server.
  case peerArrived(PeerID)
  /// A peer has left the signaling server.
  case peerGone(PeerID)
  /// Our video has started.
  case localVideoAdded(LocalVideoTrack)
  /// Our video has ended.
  case localVideoRemoved(LocalVideoTrack)
  /// Our audio has started.
  case localAudioAdded(LocalAudioTrack)
  /// Our audio has ended.
  case localAudioRemoved(LocalAudioTrack)
  /// A remote peer sends video.
  case remoteVideoAdded(RemoteVideoTrack)
  /// The remote peer stopped sending this video.
  case remoteVideoRemoved(RemoteVideoTrack)
  /// The track's `content` has changed, such as from a camera to a screen.
  case remoteVideoChanged(RemoteVideoTrack)
  /// A remote peer sends audio, which is played automatically.
  case remoteAudioAdded(RemoteAudioTrack)
  /// The remote peer stopped sending this audio.
  case remoteAudioRemoved(RemoteAudioTrack)
  /// The remote peer opened a channel, or this side one of `CallConfiguration.dataChannels`.
  case dataChannel(DataChannel, from: PeerID)
  /// The remote peer says that it sends no sound (`audio`) or picture (`video`) for now, or does again.
  case remoteMuted(PeerID, kind: String, Bool)
  /// Our source ended by itself; nil for the end of a file, a sentence for a loss.
  case sourceEnded(sentence: String?)
  /// A part of the call does not work; the call continues.
  case warning(String)
  /// The connection to the signaling server broke and is being re-established. Established calls continue.
  case signalingInterrupted(sentence: String)
  /// The connection to the signaling server is back.
  case signalingResumed
  /// The connection to the signaling server has ended for good: calls can neither be made nor received.
  case signalingEnded(sentence: String)
}

/// Why something with calls did not work.
public enum CallManagerError: Error, Sendable, Hashable {
  /// A call ended otherwise than by hanging up.
  case callEnded(CallEnd, peer: PeerID)
  /// The call cannot be meant; the sentence says what to do instead.
  case misuse(String)
  /// The signaling server could not be reached or refused us.
  case signaling(String, PublishFailure.Kind)
  /// The source could not be started.
  case capture(String)

  /// A sentence for the user: the problem and its remedy.
  public var sentence: String {
    switch self {
    case .callEnded(let end, let peer): end.sentence(about: peer)
    case .signaling(let sentence, _): sentence
    case .misuse(let sentence), .capture(let sentence): sentence
    }
  }
}
