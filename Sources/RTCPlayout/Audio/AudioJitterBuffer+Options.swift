package import RTCPrimitives

extension AudioJitterBuffer {
  /// The targets of the buffer.
  package struct Options: Sendable {
    /// The share of packets that are to come in time, 0…1. The rest is made up or stretched for.
    package var share = 0.97
    /// The minimum delay, before the added delay.
    package var minimumDelay = TimeDelta.milliseconds(10)
    /// The maximum delay, before the added delay.
    package var maximumDelay = TimeDelta.milliseconds(500)
    /// The delay until enough is known of the network.
    package var initialDelay = TimeDelta.milliseconds(40)
    /// The margin beyond the packets' need: sound is requested in blocks of 10 ms, so a packet is needed up to 10 ms
    /// before its first sample is heard; the rest covers the difference that resampling leaves between delay and
    /// target.
    package var margin = TimeDelta.milliseconds(15)
    /// From this share of packets lost on, the buffer waits for the packet that repeats a lost one.
    package var noticeableLoss = 0.01
    /// The maximum difference of `Pace.ratio` from 1: 1.7 cents, which is inaudible.
    package var largestRatio = 0.001

    /// The defaults: 97 % of packets in time, with a delay of 10 to 500 ms.
    package init() {}
  }

  /// Totals of received packets and played samples, counted of each channel at 48 kHz.
  package struct Statistics: Hashable, Sendable {
    /// Inserted packets.
    package var packetsReceived = 0
    /// No Opus packets.
    package var packetsInvalid = 0
    /// Came more than once.
    package var packetsDuplicated = 0
    /// Packets passed to the decoder.
    package var packetsDecoded = 0
    /// Refused by the decoder.
    package var packetsUndecodable = 0
    /// Never came, or too late.
    package var packetsLost = 0
    /// Packets that arrived after their time had been concealed.
    package var packetsLate = 0
    /// Left out to catch up.
    package var packetsDiscarded = 0
    /// Packets restored from copies in later ones.
    package var packetsRecovered = 0
    /// Samples played as they were sent.
    package var samplesDecoded = 0
    /// Taken from what later packets repeat.
    package var samplesRecovered = 0
    /// Made up for lost and late packets.
    package var samplesConcealed = 0
    /// Made up while the sender was quiet and sent nothing.
    package var samplesComfort = 0
    /// Silence: before the first packet, or long after the last.
    package var samplesSilent = 0
    /// Left out by stretching.
    package var samplesRemoved = 0
    /// Repeated by stretching.
    package var samplesInserted = 0
    /// How often making up began.
    package var concealments = 0
    /// How often the sender began another timeline.
    package var restarts = 0
    /// The delay of the last played sound, beyond the fastest transit.
    package var delay = TimeDelta.zero
    /// The target of `delay`.
    package var target = TimeDelta.zero

    /// Zero totals.
    package init() {}

    mutating func noteDelay(_ delay: TimeDelta, target: TimeDelta) {
      self.delay = delay
      self.target = target
    }
  }
}
