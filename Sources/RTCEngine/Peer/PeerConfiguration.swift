public import RTCDTLS
package import RTCICE
public import RTCPrimitives
public import RTCSCTP
public import RTCWire

/// The configuration of a peer. Secrets and seeds are arguments: the engine has no randomness of its own.
public struct PeerConfiguration: Sendable {
  /// The video we send, if any.
  public struct OutgoingVideo: Sendable {
    /// Names the video to the remote peer (RFC 8830); 1–64 token characters.
    public var streamID = "rtcast"
    /// Names the track in its stream (RFC 8830); 1–64 token characters.
    public var trackID = "screen"
    /// The formats of the frames, the best first. All common formats are negotiated, and each frame is sent with the
    /// number of its codec; frames of other codecs are left out.
    public var codecs = [VideoPayloadFormat.vp8]
    /// VP8 with the names `rtcast` and `screen`.
    public init() {}
  }

  /// The addresses at which the remote peer may reach us: one entry for each usable address, all with the shared port.
  /// Ignored if `localCandidates` is set.
  public var localAddresses: [SocketAddress]
  /// Our candidates as gathered so far; nil: host candidates of `localAddresses`. `Command.setLocalCandidates` changes
  /// them.
  package var localCandidates: [ICECandidate]?
  /// Whether no more local candidates will follow: our descriptions end with `a=end-of-candidates`.
  package var isGatheringComplete = true
  /// The kinds of candidates that are offered and used.
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
  /// The formats of received video, the best first.
  public var receivableVideo = [VideoPayloadFormat.vp8]
  /// The formats of sent video on transceivers that are added later, the best first.
  public var sendableVideo = [VideoPayloadFormat.vp8]
  /// The Opus parameters of transceivers that are added later.
  public var opus = OpusParameters()
  /// Nil: no data channels; the remote peer's m-section for them is rejected.
  public var dataChannels: DataChannelOptions?
  /// The bitrate limits of all video together.
  public var bitrates = BitrateLimits()
  /// The bitrate limits of each sent audio.
  public var audioBitrates = BitrateLimits.audio
  /// Lets the first key-frame request of each rest pass, which libwebrtc sends whether it misses anything or not. Wrong
  /// behind a media server: there it comes from a viewer who has just joined.
  public var ignoresRedundantPLI = true
  /// Whether to negotiate repair packets for video (FlexFEC) and redundant blocks for audio (RED). The network decides
  /// how much repair is sent.
  public var usesForwardErrorCorrection = true
  /// Whether offers contain them too. Remote peers that support them offer them; Pion 3 does not connect to offers with
  /// FlexFEC.
  public var offersForwardErrorCorrection = false
  /// Whether to use RED with ULPFEC too, for remote peers without FlexFEC. Its packets have sequence numbers of the
  /// media's stream, so lost ones are requested although they are not retransmitted.
  public var usesULPFEC = false
  /// Makes the bandwidth estimator.
  package var makeEstimator: @Sendable (BitrateLimits) -> any BandwidthEstimator =
    RateControlAlgorithm.gcc.makeEstimator
  /// The maximum delay of the first picture for the result of the first probes; zero: it is not delayed.
  package var firstPictureWait = FirstMeasurement.standardWait
  /// The memory limit of received video packets that wait to become frames, shared by several peers; nil: each has its
  /// own.
  package var waitingMemory: ByteBudget?
  /// Takes every feedback and every decision about the bitrate.
  package var rateLog: RateLogEntry.Sink?
  /// Time from the first description to a finished handshake.
  public var connectTimeout = TimeDelta.seconds(15)
  /// The time limit from the first description to the first authentic packet of the remote peer, for servers; nil: only
  /// `connectTimeout` applies.
  public var firstContactTimeout: TimeDelta?
  /// Wall clock minus monotonic clock, nanoseconds since 1970: for the NTP times of sender reports (RFC 3550 §6.4.1).
  public var wallClockOffset = TimeDelta.zero

  /// Makes the configuration of a peer without media and data channels; set the media afterwards.
  public init(
    localAddresses: [SocketAddress], certificate: DTLSCertificate, iceCredentials: ICECredentials, seed: UInt64
  ) {
    self.localAddresses = localAddresses
    self.certificate = certificate
    self.iceCredentials = iceCredentials
    self.seed = seed
  }
}
