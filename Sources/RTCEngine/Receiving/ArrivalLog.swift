package import RTCPrimitives
package import RTCWire

/// Gathers when packets arrived, for the feedback a congestion controller at the far side lives on.
package struct ArrivalLog {
  private var arrivals: [TransportFeedback.Arrival] = []
  private var feedbackCount: UInt8 = 0

  /// As often as libwebrtc sends feedback at middling rates.
  package static let interval = TimeDelta.milliseconds(50)
  /// Arrivals kept between two feedbacks at most; more are not reported.
  package static let maximumCount = 1_000

  package init() {}

  package var isEmpty: Bool { arrivals.isEmpty }

  package mutating func add(_ number: TransportSequenceNumber, at time: Timestamp) {
    guard arrivals.count < Self.maximumCount else { return }
    arrivals.append(TransportFeedback.Arrival(sequenceNumber: number, time: time))
  }

  /// Writes one feedback packet and forgets what went in.
  /// - Returns: false when nothing is left to write.
  @_lifetime(writer: copy writer)
  package mutating func writeFeedback(sender: SSRC, media: SSRC, into writer: inout ByteWriter) -> Bool {
    guard !arrivals.isEmpty else { return false }
    let base = arrivals[0].sequenceNumber
    arrivals.sort { $0.sequenceNumber.distance(from: base) < $1.sequenceNumber.distance(from: base) }
    let count = TransportFeedback.write(
      sender: sender, media: media, feedbackCount: feedbackCount, arrivals: arrivals.span, into: &writer)
    feedbackCount &+= 1
    arrivals.removeFirst(max(1, count))
    return count > 0
  }
}
