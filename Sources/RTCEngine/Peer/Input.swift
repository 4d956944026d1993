public import RTCMedia
public import RTCPrimitives

/// Everything that can happen to a peer. A recorded list of these, with their times, replays any bug.
public enum Input: ~Escapable, ~Copyable {
  /// A datagram came in; decrypted in place, so its bytes are the engine's to change during the call.
  case datagram(MutableSpan<UInt8>, Route)
  /// The deadline in the outbox was reached.
  case deadline
  /// The source has a new encoded picture. All video senders of the peer send it.
  case frame(EncodedFrame)
  /// The source has a new packet of sound.
  case audio(EncodedAudioFrame)
  /// The application wants something.
  case command(Command)
}

/// What an application can ask of a peer. Results come as events in the same step.
public enum Command: Sendable {
  /// Makes an offer and applies it as the local description → `.localDescription`.
  case createOffer
  /// Applies a remote offer, makes the answer and applies it → `.localDescription` or `.negotiationFailed`.
  case acceptOffer(String)
  /// Applies a remote answer to our offer; `.negotiationFailed` if it cannot be used.
  case acceptAnswer(String)
  /// Remote candidates that came later (RFC 8840 fragment).
  case addRemoteCandidates(String)
  /// New bounds for the target bitrate of the video.
  case setBitrateLimits(BitrateLimits)
  /// Asks the far sender for a key frame (PLI).
  case requestKeyFrame
  /// Says goodbye (RTCP BYE, DTLS close_notify) and ends.
  case close

  /// True for commands whose caller waits for a description or a reason why there is none.
  var expectsDescription: Bool {
    switch self {
    case .createOffer, .acceptOffer, .acceptAnswer, .addRemoteCandidates: true
    case .setBitrateLimits, .requestKeyFrame, .close: false
    }
  }
}

/// What one step of a peer leaves behind: datagrams to send, things to tell, and when to come back. Owned and reused by
/// the caller, who empties it after every step.
public struct Outbox: ~Copyable {
  public var datagrams = DatagramBatch()
  public var events: [Event] = []
  /// When `Input.deadline` is due, and why; `.distantFuture` when nothing is.
  public internal(set) var nextDeadline = Timestamp.distantFuture

  public init() {}

  /// Forgets datagrams and events, and keeps the memory.
  public mutating func removeAll() {
    datagrams.removeAll()
    events.removeAll(keepingCapacity: true)
  }
}

/// What a peer has to tell its owner.
public enum Event: Sendable {
  case stateChanged(PeerState)
  /// Our description, as SDP text: `offer` or `answer`, ready to be signaled.
  case localDescription(String, isOffer: Bool)
  /// The far side's description could not be used; whose fault, and what to do.
  case negotiationFailed(NegotiationFailure)
  /// The far side cannot decode without a key frame (PLI, FIR, or it has just joined).
  case keyFrameRequested
  /// The network bears this much from now on.
  case targetBitrateChanged(BitRate)
  /// The listener's reports allow the sound this much from now on.
  case audioTargetBitrateChanged(BitRate)
  /// A whole picture arrived, in decoding order.
  case frameReceived(ReceivedFrame)
  /// The far side reports another loss of our sound than before, 0…1 since its last report.
  case audioLossReported(Double)
  /// A packet of sound arrived; in order, each once, the lost ones left out.
  case audioReceived(ReceivedAudio)
}

/// The life of a peer, as an application sees it (W3C RTCPeerConnectionState, with the reason of the end).
public enum PeerState: Hashable, Sendable {
  /// Nothing was negotiated yet.
  case new
  /// Checking paths and shaking hands.
  case connecting
  /// Media flows.
  case connected
  /// Nothing was heard for some seconds; may come back by itself.
  case disconnected
  case ended(EndReason)
}

/// Why a peer's life ended.
public enum EndReason: Hashable, Sendable {
  /// We closed it.
  case closedLocally
  /// The far side said goodbye.
  case closedRemotely
  /// No path was found, or it fell silent for thirty seconds (RFC 7675).
  case unreachable
  /// The DTLS certificate is not the one in the description: somebody is in between, or the signaling is wrong.
  case fingerprintMismatch
  /// The DTLS handshake failed.
  case handshakeFailed(String)
  /// Not connected within the time allowed.
  case timedOut
}

/// A description that cannot be used.
public struct NegotiationFailure: Error, Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// The text is not SDP, or breaks its rules.
    case malformed
    /// Valid, but nothing in it that we can send or receive.
    case noCommonCodec
    /// It asks for something we do not do (no BUNDLE, no rtcp-mux, no DTLS fingerprint …).
    case unsupported
    /// The right description at the wrong time.
    case wrongState
  }
  public var kind: Kind
  /// A sentence for whoever made the description.
  public var sentence: String

  public init(kind: Kind, sentence: String) {
    self.kind = kind
    self.sentence = sentence
  }
}
