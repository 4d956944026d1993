public import RTCDTLS
package import RTCICE
public import RTCPrimitives
public import RTCSCTP
public import RTCWire

/// What a peer is made with. Secrets and seeds come from outside: the engine has no randomness of its own.
public struct PeerConfiguration: Sendable {
  /// The video we send, if any.
  public struct OutgoingVideo: Sendable {
    /// Names the video to the remote peer (RFC 8830); 1–64 token characters.
    public var streamID = "rtcast"
    /// Names the track in its stream (RFC 8830); 1–64 token characters.
    public var trackID = "screen"
    /// What the frames may be coded with, the best first. All that the remote peer knows too are agreed on, and each frame
    /// leaves under the number of its codec; frames of a codec that was not agreed are left out.
    public var codecs = [VideoPayloadFormat.vp8]
    /// VP8 with the names `rtcast` and `screen`.
    public init() {}
  }

  /// Where the remote peer may reach us: one entry per usable address, all with the shared port. Of no meaning where
  /// `localCandidates` is set.
  public var localAddresses: [SocketAddress]
  /// Our candidates as gathered so far; nil: host candidates of `localAddresses`. `Command.setLocalCandidates` changes
  /// them.
  package var localCandidates: [ICECandidate]?
  /// No more candidates of ours will come: our descriptions end with `a=end-of-candidates`.
  package var isGatheringComplete = true
  /// Which candidates may be offered and used.
  public var iceTransportPolicy = ICETransportPolicy.all
  /// Shown in the DTLS handshake; its fingerprint is in our descriptions.
  public var certificate: DTLSCertificate
  /// From a cryptographic source (RFC 8445 §5.3): at least 24 bits of ufrag and 128 bits of password.
  public var iceCredentials: ICECredentials
  /// Seeds SSRCs, first sequence numbers, ICE tie-breaker and timer jitter. From a cryptographic source.
  public var seed: UInt64
  /// A video transceiver to begin with.
  public var sendsVideo: OutgoingVideo?
  /// A video transceiver that receives to begin with: the one of `sendsVideo`, or one that receives alone.
  public var receivesVideo = false
  /// An audio transceiver to begin with.
  public var sendsAudio: OutgoingAudio?
  /// An audio transceiver that receives to begin with: the one of `sendsAudio`, or one that receives alone.
  public var receivesAudio = false
  /// What the video we take may be coded with, the best first.
  public var receivableVideo = [VideoPayloadFormat.vp8]
  /// What the video of transceivers that are added later may be coded with when we send it, the best first.
  public var sendableVideo = [VideoPayloadFormat.vp8]
  /// What is said of sound on transceivers that are added later.
  public var opus = OpusParameters()
  /// Nil: no data channels; the remote peer's m-section for them is rejected.
  public var dataChannels: DataChannelOptions?
  /// Of all video together.
  public var bitrates = BitrateLimits()
  /// Of each sound we send.
  public var audioBitrates = BitrateLimits.audio
  /// Lets the first key-frame request of each rest pass, which libwebrtc sends whether it misses anything or not. Wrong
  /// behind a media server: there it comes from a viewer who has just joined.
  public var ignoresRedundantPLI = true
  /// Repair packets are offered and taken for video (FlexFEC), redundant blocks for sound (RED); what is sent of them
  /// follows from the network.
  public var usesForwardErrorCorrection = true
  /// They are named in offers too. Remote peers that know them name them in theirs; Pion 3 connects to no offer with FlexFEC.
  public var offersForwardErrorCorrection = false
  /// RED with ULPFEC too, for remote peers without FlexFEC. Its packets have numbers of the media's stream, so that each
  /// that is lost is asked for in vain.
  public var usesULPFEC = false
  /// Makes the estimator of what the path bears.
  package var makeEstimator: @Sendable (BitrateLimits) -> any BandwidthEstimator =
    RateControlAlgorithm.gcc.makeEstimator
  /// So long the first picture waits at most for what the first probes find out; zero: they leave with it.
  package var firstPictureWait = FirstMeasurement.standardWait
  /// What packets of video may have that wait to become frames, of all peers that share it; nil: each has its own alone.
  package var waitingMemory: ByteBudget?
  /// Takes every feedback and every decision about the bitrate.
  package var rateLog: RateLogEntry.Sink?
  /// Time from the first description to a finished handshake.
  public var connectTimeout = TimeDelta.seconds(15)
  /// Time from the first description to the first authentic sign of the remote peer, for those who wait for whoever knocks;
  /// nil: `connectTimeout` alone counts.
  public var firstContactTimeout: TimeDelta?
  /// Wall clock minus monotonic clock, nanoseconds since 1970: for the NTP times of sender reports (RFC 3550 §6.4.1).
  public var wallClockOffset = TimeDelta.zero

  /// A peer without media and data channels to begin with; set what it is to send and receive.
  public init(
    localAddresses: [SocketAddress], certificate: DTLSCertificate, iceCredentials: ICECredentials, seed: UInt64
  ) {
    self.localAddresses = localAddresses
    self.certificate = certificate
    self.iceCredentials = iceCredentials
    self.seed = seed
  }
}
