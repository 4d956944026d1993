package import RTCICE
package import RTCPrimitives
package import RTCSCTP
package import RTCWire

/// A request of the application to a peer. `Peer.perform` returns its result.
package enum Command: Sendable {
  // MARK: Transceivers

  /// Adds a transceiver with an m-section of its own → `CommandResult.transceiver`.
  case addTransceiver(MediaKind, MediaDirection, TrackName?)
  /// Sends a track: on a transceiver of its kind that has never sent, else on a new one (RFC 8829 §5.1)
  /// → `CommandResult.transceiver`.
  case addTrack(MediaKind, TrackName)
  /// Sets the wanted direction of a transceiver; takes effect with the next negotiation.
  case setDirection(MediaDirection, TransceiverID)
  /// Sends another track, or none, in place of the present one, without negotiation. A transceiver without a track gets
  /// no share of the bitrate.
  case setTrack(TrackName?, TransceiverID)
  /// Mutes the track, which then gets no share of the bitrate, or unmutes it.
  case setMuted(Bool, TransceiverID)
  /// Stops the transceiver for good; the next offer turns its m-section off.
  case stop(TransceiverID)

  // MARK: Descriptions

  /// Makes an offer, or the answer to a pending offer of the remote peer, and applies it → `CommandResult.description`. The
  /// credentials, fresh from a cryptographic source, are used if the remote peer restarts ICE.
  case setLocalDescription(ICECredentials)
  /// Applies an offer, which is then pending, or the answer to ours.
  case setRemoteDescription(Description)
  /// Perfect negotiation (W3C WebRTC §10.7): applies the description and, if it is an offer, answers it
  /// → `CommandResult.description`. When both have offered, the polite side drops its own offer, the impolite one the
  /// other's → `CommandResult.offerIgnored`.
  case negotiate(Description, Politeness, ICECredentials)
  /// Drops the pending offer, ours or the remote peer's.
  case rollback
  /// The next offer restarts ICE with these credentials, fresh from a cryptographic source.
  case restartICE(ICECredentials)
  /// A candidate of the remote peer; kept until its description is there.
  case addRemoteCandidate(ICECandidateInit)
  /// Replaces our candidates: new ones are checked and reported (`Event.localCandidateGathered`), missing ones are
  /// removed.
  case setLocalCandidates([ICECandidate], isComplete: Bool)
  /// The answer to `Event.candidateNameNeedsResolving`; nil: the name cannot be resolved.
  case resolvedCandidate(String, IPAddress?)
  /// The system refuses to send this way, or the TCP connection that carried it was closed: it counts as silent at once.
  case routeRefused(Route)
  /// Until `commitConfiguration`, `.negotiationNeeded` is held back.
  case startConfiguration
  /// Ends the batch of `startConfiguration`; its changes cause one `.negotiationNeeded`.
  case commitConfiguration

  // MARK: One exchange, as WHIP and WHEP have it

  /// Makes an offer and applies it as the local description → `CommandResult.description`.
  case createOffer
  /// Applies a remote offer, makes the answer and applies it → `CommandResult.description`. M-sections that no
  /// transceiver of ours waits for are turned off.
  case acceptOffer(String)
  /// Applies a remote answer to our offer.
  case acceptAnswer(String)
  /// Remote candidates that came later (RFC 8840 fragment).
  case addRemoteCandidates(String)
  /// A fragment of the client's: candidates, or with new credentials a restart of ICE (RFC 9725 §4.3.3), for which ours
  /// are given, fresh from a cryptographic source → `CommandResult.fragment` with our own when ICE restarted.
  case applyFragment(String, ICECredentials)
  /// Begins a restart of ICE by fragment, with fresh credentials → `CommandResult.fragment`, to be sent to the server.
  case restartFragment(ICECredentials)
  /// Applies the server's fragment, the answer to ours.
  case acceptFragment(String)
  /// → `CommandResult.fragment` with all candidates of ours so far.
  case localFragment

  // MARK: Media and life

  /// New bounds for the target bitrate of all video together.
  case setBitrateLimits(BitrateLimits)
  /// Asks the remote sender of this video, or of all, for a key frame (PLI).
  case requestKeyFrame(TransceiverID?)
  /// Says goodbye (RTCP BYE, DTLS close_notify) and ends.
  case close
  /// Closes the connection because the remote peer costs more than its share of the processor (`EndReason.tooCostly`).
  case sendAway

  /// False for commands that a peer that has ended passes over.
  var expectsResult: Bool {
    switch self {
    case .setBitrateLimits, .requestKeyFrame, .setMuted, .startConfiguration, .commitConfiguration, .close, .sendAway,
      .setLocalCandidates, .resolvedCandidate, .routeRefused:
      false
    default: true
    }
  }
}

/// The result of a command.
package enum CommandResult: Hashable, Sendable {
  case done
  /// The transceiver that `addTransceiver` or `addTrack` came to.
  case transceiver(TransceiverID)
  /// Our description, ready to be signaled.
  case description(Description)
  /// Our fragment (RFC 8840), ready to be signaled.
  case fragment(String)
  /// Both sides had offered, and we are impolite: the remote peer will withdraw its offer and answer ours.
  case offerIgnored
}

/// A request of the application to a peer's data channels.
package enum DataChannelCommand: Sendable {
  /// Makes a channel → its handle. It can be used after `DataChannelEvent.opened`. When no description has an m-section
  /// for channels yet, the next offer will.
  case open(DataChannelParameters)
  /// Queues a message.
  case send(DataChannelMessage, DataChannelHandle)
  /// Sends what waits and closes → `DataChannelEvent.closed` when both sides have.
  case close(DataChannelHandle)
  /// Sets the threshold of `DataChannelEvent.bufferedAmountLow`, in bytes.
  case setBufferedAmountLowThreshold(Int, DataChannelHandle)
  /// Stops or resumes the delivery of messages; while it is stopped, the remote peer must wait.
  case setReceiving(Bool)
}

/// Which side withdraws its offer when both sides offer at once.
package enum Politeness: Hashable, Sendable {
  /// Drops its own offer for the other's.
  case polite
  /// Keeps its own offer.
  case impolite
}
