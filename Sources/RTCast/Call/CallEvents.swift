public import RTCPeer
public import RTCSignaling

/// Who is told of calls, under the names that applications know. The same comes as `CallManager.events`. Called on the
/// cooperative pool, one after the other.
public protocol CallManagerDelegate: AnyObject, Sendable {
  /// It rings: answer by `CallManager.answerCallRequest(accept:)`.
  func didReceiveIncomingCall(from peer: PeerID)
  /// Our video has started; it is sent in every call.
  func didAddLocalVideoTrack(_ track: LocalVideoTrack)
  /// It is sent in every call.
  func didAddLocalAudioTrack(_ track: LocalAudioTrack)
  /// A remote peer sends video: add a sink to see it.
  func didAddRemoteVideoTrack(_ track: RemoteVideoTrack)
  /// It is played already.
  func didAddRemoteAudioTrack(_ track: RemoteAudioTrack)
  /// It sends this video no longer.
  func remoteVideoTrackWasRemoved(_ track: RemoteVideoTrack)
  /// Media flows.
  func callDidStart()
  /// A channel that the remote peer opened; hold on to it. Those made here are given by `createDataChannel`.
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

/// What happens to the calls of a `CallManager`, in order.
public enum CallEvent: Sendable {
  /// The call outside rooms came into a state.
  case callChanged(CallState)
  /// A call of a room came into a state.
  case roomCallChanged(room: String, CallState)
  /// Somebody entered a room that we are in.
  case peerJoined(room: String, PeerID)
  /// Somebody left it.
  case peerLeft(room: String, PeerID)
  /// The hub does not let us into the room; the sentence says why.
  case roomRefused(String, sentence: String)
  /// Who else is at the signaling server and can be called, after `CallManager.followPeers`; comes anew after an
  /// interruption.
  case peersPresent([PeerID])
  /// Somebody registered at the signaling server.
  case peerArrived(PeerID)
  /// Somebody left the signaling server.
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
  /// It sends this video no longer.
  case remoteVideoRemoved(RemoteVideoTrack)
  /// Its `content` has changed, such as from a camera to a screen.
  case remoteVideoChanged(RemoteVideoTrack)
  /// A remote peer sends audio, which is played automatically.
  case remoteAudioAdded(RemoteAudioTrack)
  /// It sends this audio no longer.
  case remoteAudioRemoved(RemoteAudioTrack)
  /// The remote peer opened a channel, or this side one of `CallConfiguration.dataChannels`.
  case dataChannel(DataChannel, from: PeerID)
  /// The remote peer says that it sends no sound (`audio`) or picture (`video`) for now, or does again.
  case remoteMuted(PeerID, kind: String, Bool)
  /// Our source ended by itself; nil for the end of a file, a sentence for a loss.
  case sourceEnded(sentence: String?)
  /// Something does not work while the call goes on.
  case warning(String)
  /// The connection to the signaling server broke and is being made anew; calls that stand go on.
  case signalingInterrupted(sentence: String)
  /// The connection to the signaling server is back.
  case signalingResumed
  /// No more calls come or go.
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

  /// For a person: what is wrong, and what to do.
  public var sentence: String {
    switch self {
    case .callEnded(let end, let peer): end.sentence(about: peer)
    case .signaling(let sentence, _): sentence
    case .misuse(let sentence), .capture(let sentence): sentence
    }
  }
}
