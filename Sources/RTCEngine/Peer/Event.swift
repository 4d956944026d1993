public import RTCPrimitives
package import RTCSCTP
public import RTCWire

/// An event of a peer for its owner: actions of the remote peer and the network, and their consequences. Results of
/// commands are not events.
package enum Event: Sendable {
  case stateChanged(PeerState)

  // MARK: Negotiation

  case signalingStateChanged(SignalingState)
  /// Negotiation is needed: an offer is due. Reported once until the next agreement.
  case negotiationNeeded
  /// STUN requests for this peer may carry this user name fragment from now on, beside those before.
  case usernameFragmentAdded(String)
  /// A candidate of ours that no description has had; the empty one comes behind the last (RFC 8838 §13).
  case localCandidateGathered(ICECandidateInit)
  /// A candidate of the remote peer is known by this name of multicast DNS (`….local`): answer with
  /// `Command.resolvedCandidate`.
  case candidateNameNeedsResolving(String)
  /// The connectivity has changed; reported once it was good for the first time.
  case connectivityChanged(Connectivity)
  /// The remote peer sends a track, or is about to.
  case trackAdded(RemoteTrackDescription)
  /// The remote peer sends it no longer, or its offer was rolled back.
  case trackRemoved(RemoteTrackDescription)

  // MARK: Sending

  /// Sending on this transceiver has started.
  case sendingStarted(TransceiverID)
  case sendingStopped(TransceiverID)
  /// The remote peer cannot decode without a key frame.
  case keyFrameRequested(KeyFrameReason, TransceiverID)
  /// This video's share of the available bitrate has changed.
  case targetBitrateChanged(BitRate, TransceiverID)
  /// The listener's reports allow the sound this much from now on.
  case audioTargetBitrateChanged(BitRate, TransceiverID)
  /// The remote peer's description asks other things of our Opus than before; nothing until this says otherwise. Comes
  /// after `sendingStarted`.
  case opusPreferencesChanged(OpusPreferences, TransceiverID)
  /// The remote peer reports another loss of our sound than before, 0…1 since its last report.
  case audioLossReported(Double, TransceiverID)

  // MARK: Receiving

  /// A whole picture arrived, in decoding order.
  case frameReceived(ReceivedFrame, TransceiverID)
  /// A packet of sound arrived; as they come, each once.
  case audioReceived(ReceivedAudio, TransceiverID)
  /// The remote sender tied its clocks together (RTCP SR).
  case senderClockChanged(SenderClock, TransceiverID)

  // MARK: Data channels

  /// An event of the data channels.
  case dataChannel(DataChannelEvent)
}

/// One moment on a remote sender's two clocks (RFC 3550 §6.4.1): how sound and picture are brought together.
public struct SenderClock: Hashable, Sendable {
  /// On the wall clock, which all of the remote peer's tracks share.
  public var ntpTime: NTPTimestamp
  /// On the track's own clock.
  public var rtpTime: RTPTimestamp

  /// Makes a moment on both clocks of a sender report.
  public init(ntpTime: NTPTimestamp, rtpTime: RTPTimestamp) {
    self.ntpTime = ntpTime
    self.rtpTime = rtpTime
  }
}

/// How the way to the remote peer is, beside the peer's state.
public enum Connectivity: Hashable, Sendable {
  /// Checks are answered.
  case good
  /// Nothing has arrived for some seconds, or the system refuses to send: an ICE restart may help.
  case silent
  /// Consent is over (RFC 7675): nothing but an ICE restart helps.
  case lost
}

/// Why a remote peer needs a key frame.
package enum KeyFrameReason: String, Hashable, Sendable {
  /// The viewer has no picture yet, or the format changes.
  case begin
  /// The viewer asked for it (PLI, FIR).
  case request
  /// Frames were left out because its network did not keep up; what waited has left by now.
  case backlog
  /// Too much was lost: repair would take longer than a key frame.
  case loss
}
