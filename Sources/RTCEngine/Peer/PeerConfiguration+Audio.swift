extension PeerConfiguration {
  /// The sound we send.
  public struct OutgoingAudio: Sendable {
    /// Names the sound to the remote peer (RFC 8830). The same stream as the video's: then both are played in step.
    public var streamID = "rtcast"
    /// Names the track in its stream (RFC 8830); 1–64 token characters.
    public var trackID = "sound"
    /// The Opus parameters of this audio in our descriptions.
    public var opus: OpusParameters
    /// Sound with the names `rtcast` and `sound`.
    public init(opus: OpusParameters = OpusParameters()) { self.opus = opus }
  }

  /// Our Opus parameters in descriptions (RFC 7587 §6.1).
  public struct OpusParameters: Hashable, Sendable {
    /// Two channels are sent, and welcome.
    public var isStereo = true
    /// Silence need not be sent.
    public var usesDiscontinuousTransmission = true
    /// Packets may bring a coarse copy of the one before.
    public var usesForwardErrorCorrection = true
    /// Bits a second that we want to be sent at most, 6 000…510 000; nil leaves it to the remote peer.
    public var maximumAverageBitrate: Int?
    /// Milliseconds of sound in a packet, at least.
    public var minimumPacketTime = 10

    /// The defaults: stereo, with silence left out and forward error correction.
    public init() {}

    /// The value of `a=fmtp`.
    var text: String {
      var parts = ["minptime=\(minimumPacketTime)"]
      if usesForwardErrorCorrection { parts.append("useinbandfec=1") }
      if isStereo { parts += ["stereo=1", "sprop-stereo=1"] }
      if usesDiscontinuousTransmission { parts.append("usedtx=1") }
      if let maximumAverageBitrate {
        parts.append("maxaveragebitrate=\(max(6_000, min(maximumAverageBitrate, 510_000)))")
      }
      return parts.joined(separator: ";")
    }
  }
}
