public import RTCPrimitives

extension AudioJitterBuffer {
  /// What the buffer aims at.
  public struct Options: Sendable {
    /// The share of packets that are to come in time, 0…1. The rest is made up or stretched for.
    public var share = 0.97
    /// The lower bound of the delay, before what is added from outside.
    public var minimumDelay = TimeDelta.milliseconds(10)
    /// The upper bound of the delay, before what is added from outside.
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

    /// The defaults: 97 % of packets in time, with a delay of 10 to 500 ms.
    public init() {}
  }

  /// What came and what was made of it. Samples are counted of each channel at 48 kHz.
  public struct Statistics: Hashable, Sendable {
    /// All that were inserted.
    public var packetsReceived = 0
    /// No Opus packets.
    public var packetsInvalid = 0
    /// Came more than once.
    public var packetsDuplicated = 0
    /// Handed out to be decoded.
    public var packetsDecoded = 0
    /// Refused by the decoder.
    public var packetsUndecodable = 0
    /// Never came, or too late.
    public var packetsLost = 0
    /// Came after something else was heard in their stead.
    public var packetsLate = 0
    /// Left out to catch up.
    public var packetsDiscarded = 0
    /// Taken from what the packets after them repeat.
    public var packetsRecovered = 0
    /// Heard as they were sent.
    public var samplesDecoded = 0
    /// Taken from what later packets repeat.
    public var samplesRecovered = 0
    /// Made up for lost and late packets.
    public var samplesConcealed = 0
    /// Made up while the sender was quiet and sent nothing.
    public var samplesComfort = 0
    /// Silence: before the first packet, or long after the last.
    public var samplesSilent = 0
    /// Left out by stretching.
    public var samplesRemoved = 0
    /// Repeated by stretching.
    public var samplesInserted = 0
    /// How often making up began.
    public var concealments = 0
    /// How often the sender began another timeline.
    public var restarts = 0
    /// The delay of the sound heard last, beyond its fastest way here.
    public var delay = TimeDelta.zero
    /// What `delay` should have been.
    public var target = TimeDelta.zero

    /// Nothing received and nothing played.
    public init() {}

    mutating func noteDelay(_ delay: TimeDelta, target: TimeDelta) {
      self.delay = delay
      self.target = target
    }
  }
}
