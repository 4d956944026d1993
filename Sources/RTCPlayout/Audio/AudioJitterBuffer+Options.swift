public import RTCPrimitives

extension AudioJitterBuffer {
  /// What the buffer aims at.
  public struct Options: Sendable {
    /// The share of packets that are to come in time, 0…1. The rest is made up or stretched for.
    public var share = 0.97
    /// Bounds of the delay, before what is added from outside.
    public var minimumDelay = TimeDelta.milliseconds(10)
    public var maximumDelay = TimeDelta.milliseconds(500)
    /// The delay until enough is known of the network.
    public var initialDelay = TimeDelta.milliseconds(40)
    /// On top of what packets need: sound is asked for in blocks of 10 ms, so a packet is needed up to that much before
    /// its first sample is heard; the rest is for what resampling leaves between delay and target.
    public var margin = TimeDelta.milliseconds(15)
    /// From this share of packets lost on, the buffer waits for the packet that repeats a lost one.
    public var noticeableLoss = 0.01
    /// The most that `Pace.ratio` differs from 1: 1.7 cents, heard by nobody.
    public var largestRatio = 0.001

    public init() {}
  }

  /// What came and what was made of it. Samples are counted of each channel at 48 kHz.
  public struct Statistics: Hashable, Sendable {
    public var packetsReceived = 0
    /// No Opus packets.
    public var packetsInvalid = 0
    public var packetsDuplicated = 0
    public var packetsDecoded = 0
    public var packetsUndecodable = 0
    /// Never came, or too late.
    public var packetsLost = 0
    /// Came after something else was heard in their stead.
    public var packetsLate = 0
    /// Left out to catch up.
    public var packetsDiscarded = 0
    /// Taken from what the packets after them repeat.
    public var packetsRecovered = 0
    public var samplesDecoded = 0
    public var samplesRecovered = 0
    public var samplesConcealed = 0
    public var samplesComfort = 0
    public var samplesSilent = 0
    /// Left out and repeated by stretching.
    public var samplesRemoved = 0
    public var samplesInserted = 0
    /// How often making up began.
    public var concealments = 0
    /// How often the sender began another timeline.
    public var restarts = 0
    /// The delay of the sound heard last, beyond its fastest way here, and what it should have been.
    public var delay = TimeDelta.zero
    public var target = TimeDelta.zero

    public init() {}

    mutating func noteDelay(_ delay: TimeDelta, target: TimeDelta) {
      self.delay = delay
      self.target = target
    }
  }
}
