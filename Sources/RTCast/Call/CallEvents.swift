public import RTCPeer
public import RTCSignaling

/// Who is told of calls, under the names that applications know. The same comes as `CallManager.events`. Called on the
/// cooperative pool, one after the other.
public protocol CallManagerDelegate: AnyObject, Sendable {
  /// It rings: answer by `CallManager.answerCallRequest(accept:)`.
  func didReceiveIncomingCall(from peer: PeerID)
  func didAddLocalVideoTrack(_ track: LocalVideoTrack)
  /// It is sent in every call.
  func didAddLocalAudioTrack(_ track: LocalAudioTrack)
  func didAddRemoteVideoTrack(_ track: RemoteVideoTrack)
  /// It is played already.
  func didAddRemoteAudioTrack(_ track: RemoteAudioTrack)
  func remoteVideoTrackWasRemoved(_ track: RemoteVideoTrack)
  func callDidStart()
  /// A channel that the far side opened; hold on to it. Those made here are given by `createDataChannel`.
  func didReceiveDataChannel(_ channel: DataChannel)
  /// - Parameter error: nil when one of the two hung up.
  func callDidEnd(withError error: CallManagerError?)
}

extension CallManagerDelegate {
  public func didReceiveIncomingCall(from peer: PeerID) {}
  public func didAddLocalVideoTrack(_ track: LocalVideoTrack) {}
  public func didAddLocalAudioTrack(_ track: LocalAudioTrack) {}
  public func didAddRemoteVideoTrack(_ track: RemoteVideoTrack) {}
  public func didAddRemoteAudioTrack(_ track: RemoteAudioTrack) {}
  public func remoteVideoTrackWasRemoved(_ track: RemoteVideoTrack) {}
  public func callDidStart() {}
  public func didReceiveDataChannel(_ channel: DataChannel) {}
  public func callDidEnd(withError error: CallManagerError?) {}
}

/// What happens to the calls of a `CallManager`, in order.
public enum CallEvent: Sendable {
  /// The call outside rooms came into a state.
  case callChanged(CallState)
  /// A call of a room came into a state.
  case roomCallChanged(room: String, CallState)
  case peerJoined(room: String, PeerID)
  case peerLeft(room: String, PeerID)
  /// The hub does not let us into the room; the sentence says why.
  case roomRefused(String, sentence: String)
  /// Who else is at the signaling server and can be called, after `CallManager.followPeers`; comes anew after an
  /// interruption.
  case peersPresent([PeerID])
  case peerArrived(PeerID)
  case peerGone(PeerID)
  case localVideoAdded(LocalVideoTrack)
  case localVideoRemoved(LocalVideoTrack)
  case localAudioAdded(LocalAudioTrack)
  case localAudioRemoved(LocalAudioTrack)
  case remoteVideoAdded(RemoteVideoTrack)
  case remoteVideoRemoved(RemoteVideoTrack)
  /// Its `content` has changed, such as from a camera to a screen.
  case remoteVideoChanged(RemoteVideoTrack)
  case remoteAudioAdded(RemoteAudioTrack)
  case remoteAudioRemoved(RemoteAudioTrack)
  /// The far side opened a channel, or this side one of `CallConfiguration.dataChannels`.
  case dataChannel(DataChannel, from: PeerID)
  /// The far side says that it sends no sound (`audio`) or picture (`video`) for now, or does again.
  case remoteMuted(PeerID, kind: String, Bool)
  /// Our source ended by itself; nil for the end of a file, a sentence for a loss.
  case sourceEnded(sentence: String?)
  /// Something does not work while the call goes on.
  case warning(String)
  /// The connection to the signaling server broke and is being made anew; calls that stand go on.
  case signalingInterrupted(sentence: String)
  case signalingResumed
  /// No more calls come or go.
  case signalingEnded(sentence: String)
}

/// Why something with calls did not work.
public enum CallManagerError: Error, Sendable, Hashable {
  /// A call ended otherwise than by hanging up.
  case callEnded(CallEnd, peer: PeerID)
  case misuse(String)
  /// The signaling server could not be reached or refused us.
  case signaling(String, PublishFailure.Kind)
  /// The source could not be started.
  case capture(String)

  public var sentence: String {
    switch self {
    case .callEnded(let end, let peer): end.sentence(about: peer)
    case .signaling(let sentence, _): sentence
    case .misuse(let sentence), .capture(let sentence): sentence
    }
  }
}
