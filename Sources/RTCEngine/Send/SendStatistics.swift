public import RTCPrimitives

/// Totals of one outgoing video, and the viewer's last report.
public struct SendStatistics: Sendable {
  /// RTP packets sent, retransmissions aside.
  public var packetsSent: UInt64 = 0
  /// RTP payload bytes, as sender reports count them (RFC 3550 §6.4.1).
  public var payloadBytesSent: UInt64 = 0
  /// Bytes of whole datagrams, retransmissions included.
  public var bytesSent: UInt64 = 0
  /// Frames sent whole, key frames included.
  public var framesSent: UInt64 = 0
  /// Key frames sent whole.
  public var keyFramesSent: UInt64 = 0
  /// Frames left out because the viewer's network does not keep up, or because their codec was not agreed.
  public var framesSkipped: UInt64 = 0
  /// Retransmitted packets: those requested by NACK, and the last ones without feedback.
  public var packetsRetransmitted: UInt64 = 0
  /// Bytes of datagrams that carried something again.
  public var bytesRetransmitted: UInt64 = 0
  /// Times that a key frame took the place of too much repair.
  public var repairsAbandoned: UInt64 = 0
  /// Repair packets of forward error correction sent (W3C `fecPacketsSent`).
  public var fecPacketsSent: UInt64 = 0
  /// Bytes of their RTP packets.
  public var fecBytesSent: UInt64 = 0
  /// Packets asked for by NACK.
  public var nackedPackets: UInt64 = 0
  /// NACK messages received (RFC 4585 §6.2.1).
  public var nackCount: UInt64 = 0
  /// Picture loss indications received (RFC 4585 §6.3.1).
  public var pliCount: UInt64 = 0
  /// Full intra requests received, repetitions aside (RFC 5104 §4.3.1).
  public var firCount: UInt64 = 0
  /// Sum over all frames of the time from hand-over to the last packet's leaving.
  public var sendDelay = TimeDelta.zero
  /// The viewer's last report: fraction lost 0…1, jitter in timestamp units.
  public var fractionLost = 0.0
  /// Interarrival jitter by the viewer's last report, in units of 1/90 000 s (RFC 3550 §6.4.1).
  public var jitter: UInt32 = 0

  /// Zero totals.
  public init() {}
}

/// A snapshot of one peer for the statistics lines.
public struct PeerStatistics: Sendable {
  /// The state of the connection.
  public var state = PeerState.new
  /// The first outgoing video.
  public var video = SendStatistics()
  /// The first outgoing audio.
  public var audio = AudioSendStatistics()
  /// The round-trip time by RTCP reports, else by ICE checks; nil before the first measurement.
  public var roundTripTime: TimeDelta?
  /// The encoding rate of all outgoing video together.
  public var targetBitrate = BitRate.zero
  /// Loss of the last whole second, 0…1.
  public var loss = 0.0
  /// The bandwidth estimate; nil before anything was sent.
  public var network: NetworkEstimate?
  /// The addresses that packets go between; nil while ICE has chosen none.
  public var selectedRoute: Route?
  /// The candidates that packets go between; nil while ICE has nominated none.
  public var selectedPair: SelectedCandidatePair?
  /// The agreed SRTP profile, such as `AEAD_AES_128_GCM` (RFC 7714); nil before the DTLS handshake is done.
  public var srtpProfile: String?
  /// A code of both sides' certificates, such as `3fa2-91bc-04de-77c0-aa12-9d3e`, for the two users to compare: if it
  /// is the same on both sides, the connection is not intercepted. Nil before the DTLS handshake is done.
  public var keyCode: String?
  /// The negotiated formats of the first outgoing video, the best first; empty before the agreement.
  public var videoFormats: [VideoPayloadFormat] = []
  /// The remote peer understands what `EncodedFrame.colorSpace` says; without it VP8 must be BT.601.
  public var supportsColorSpace = false
  /// The rung of the first video that is sent, 0 the main rung and 1 the side rung; nil where there are none.
  public var rung: Int?
  /// Why it is that one.
  public var rungReason: RungReason?
  /// Whole pictures received, on all transceivers.
  public var framesReceived = 0
  /// Received RTP packets of video, on all transceivers, since each remote sender's last restart.
  public var packetsReceived = 0
  /// Received RTP packets of audio, on all transceivers, since each remote sender's last restart.
  public var audioPacketsReceived = 0
  /// Every transceiver that ever sent or received something.
  public var streams: [StreamStatistics] = []
  /// Received packets that were not used, by reason.
  public var drops = DropCounts()

  /// A new peer's: nothing sent and nothing received.
  public init() {}
}

/// One transceiver's streams, both ways.
public struct StreamStatistics: Sendable {
  /// The transceiver.
  public var transceiver: TransceiverID
  /// Sound or video.
  public var kind: MediaKind
  /// Sent video; nil for audio, and before something was sent.
  public var video: SendStatistics?
  /// Sent audio; nil for video, and before something was sent.
  public var audio: AudioSendStatistics?
  /// Nil while nothing is received.
  public var reception: Reception?

  /// Received media, since the remote sender's last restart.
  public struct Reception: Sendable {
    /// The remote sender's source.
    public var ssrc: SSRC
    /// RTP packets received.
    public var packetsReceived = 0
    /// Packets expected and not received, as reports count them: repeated packets can make it negative (RFC 3550
    /// §6.4.1).
    public var packetsLost = 0
    /// In units of the media's clock: 1/90 000 s for video, 1/48 000 s for sound.
    public var jitter: UInt32 = 0
    /// Whole pictures; 0 for sound.
    public var framesReceived = 0
    /// Repair packets of forward error correction received (W3C `fecPacketsReceived`); 0 for sound.
    public var fecPacketsReceived = 0
    /// Packets restored by these; for audio, packets that a later one repeated (RFC 2198).
    public var packetsRecovered = 0
    /// How loud the newest packet's sound is, 0 (silence)…1 as W3C's `audioLevel` counts; nil for video and where the
    /// sender does not say (RFC 6464).
    public var audioLevel: Double?
  }
}

/// Totals of one outgoing audio, and the listener's last report.
public struct AudioSendStatistics: Sendable {
  /// RTP packets sent.
  public var packetsSent: UInt64 = 0
  /// RTP payload bytes, as sender reports count them (RFC 3550 §6.4.1).
  public var payloadBytesSent: UInt64 = 0
  /// Bytes of whole datagrams.
  public var bytesSent: UInt64 = 0
  /// Packets with a copy of the one before (RFC 2198).
  public var redundantPacketsSent: UInt64 = 0
  /// Frames left out because they are empty or larger than a packet may be.
  public var framesUnfit: UInt64 = 0
  /// The listener's last report: fraction lost 0…1, jitter in units of 1/48 000 s.
  public var fractionLost = 0.0
  /// Interarrival jitter by the listener's last report, in units of 1/48 000 s (RFC 3550 §6.4.1).
  public var jitter: UInt32 = 0

  /// Zero totals.
  public init() {}
}

/// Why a viewer is on its rung of a track that has two: the main rung, or the side rung, whose rate is smaller and whose
/// key frames are its own.
public enum RungReason: String, Hashable, Sendable, CaseIterable {
  /// The viewer is on the main rung: its bandwidth suffices.
  case main
  /// It joined while others had a picture of the main rung, and changes at its next key frame.
  case joined
  /// It asked for a key frame (PLI, FIR).
  case request
  /// It lost more packets than can be repaired in time.
  case loss
  /// Frames were left out because its network did not keep up.
  case backlog
  /// Its bandwidth is less than the main rung needs.
  case slow
  /// It cannot decode the main rung's format.
  case codec
}
