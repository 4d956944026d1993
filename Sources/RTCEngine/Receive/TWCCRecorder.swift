package import RTCPrimitives
package import RTCWire

/// Gathers when packets arrived, for the feedback the remote peer's congestion control lives on.
package struct TWCCRecorder {
  private var arrivals: [TransportFeedback.Arrival] = []
  private var feedbackCount: UInt8 = 0
  /// The first number that no feedback has spoken of; nil before the first.
  private var next: TransportSequenceNumber?

  /// The interval of libwebrtc's feedback at medium rates.
  package static let interval = TimeDelta.milliseconds(50)
  /// Arrivals kept between two feedbacks at most; more are not reported.
  package static let maximumCount = 1_000

  package init() {}

  package var isEmpty: Bool { arrivals.isEmpty }

  /// When the next feedback is due; `.distantFuture` when there is nothing to say.
  package private(set) var nextDeadline = Timestamp.distantFuture

  package mutating func add(_ number: TransportSequenceNumber, at time: Timestamp) {
    nextDeadline = min(nextDeadline, time + Self.interval)
    guard arrivals.count < Self.maximumCount else { return }
    arrivals.append(TransportFeedback.Arrival(sequenceNumber: number, time: time))
  }

  /// Feedback cannot be sent now: the next packet sets a deadline again.
  package mutating func postpone() { nextDeadline = .distantFuture }

  /// The rest, which did not fit into one feedback packet, is due at once.
  package mutating func continueFeedback(_ now: Timestamp) { if !arrivals.isEmpty { nextDeadline = now } }

  /// A gap between two feedbacks of more than this is another numbering, no loss.
  private static let longestGap = 3_000

  /// Writes one feedback packet and removes its arrivals. Losses since the feedback before are included.
  /// - Returns: false if nothing is left to write.
  @_lifetime(writer: copy writer)
  package mutating func writeFeedback(sender: SSRC, media: SSRC, into writer: inout ByteWriter) -> Bool {
    guard !arrivals.isEmpty else { return false }
    let base = arrivals[0].sequenceNumber
    arrivals.sort { $0.sequenceNumber.distance(from: base) < $1.sequenceNumber.distance(from: base) }
    let first = arrivals[0].sequenceNumber
    let gap = next.map { first.distance(from: $0) } ?? 0
    let count = TransportFeedback.write(
      sender: sender, media: media, feedbackCount: feedbackCount,
      base: (1...Self.longestGap).contains(gap) ? next : nil,
      arrivals: arrivals.span.extracting(0..<(gap < 0 ? lateRun : arrivals.count)), into: &writer)
    feedbackCount &+= 1
    if count > 0 {
      let end = arrivals[count - 1].sequenceNumber.advanced(by: 1)
      if next.map({ end.isNewer(than: $0) || gap < -Self.longestGap }) ?? true { next = end }
    }
    arrivals.removeFirst(max(1, count))
    return count > 0
  }

  /// The number of first arrivals without a gap. Late packets are reported in packets of their own: the packets between
  /// them and the newer ones were reported before, and must not appear lost.
  private var lateRun: Int {
    var count = 1
    while count < arrivals.count,
      arrivals[count].sequenceNumber.distance(from: arrivals[count - 1].sequenceNumber) == 1
    { count += 1 }
    return count
  }
}
