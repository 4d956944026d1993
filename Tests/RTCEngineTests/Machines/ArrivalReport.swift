import RTCEngine
import RTCPrimitives
import RTCWire

/// Feedback that says that `numbers` arrived, handed to `take`.
func reportArrivals(_ numbers: [Int], count: UInt8, to take: (consuming TransportFeedback) -> Void) {
  let arrivals = numbers.map {
    TransportFeedback.Arrival(
      sequenceNumber: TransportSequenceNumber(UInt16(truncatingIfNeeded: $0)), time: .zero + .seconds(5))
  }
  var bytes = [UInt8](repeating: 0, count: 1_200)
  var length = 0
  do {
    var writer = ByteWriter(bytes.mutableSpan)
    TransportFeedback.write(
      sender: SSRC(1), media: SSRC(2), feedbackCount: count, arrivals: arrivals.span, into: &writer)
    length = writer.offset
  }
  guard var compound = RTCPCompound(parsing: bytes.span.extracting(0..<length)), let packet = compound.next(),
    let feedback = TransportFeedback(parsing: packet)
  else { return }
  take(feedback)
}

extension SentPacketHistory {
  /// The history's results for a report on the arrival of `numbers`.
  mutating func results(_ numbers: [Int], count: UInt8) -> [PacketResult] {
    var results: [PacketResult] = []
    reportArrivals(numbers, count: count) { receive($0, into: &results) }
    return results
  }

  /// How many of the packets that a report speaks of for the first time it calls lost.
  mutating func report(_ numbers: [Int], count: UInt8) -> (expected: Int, lost: Int) {
    let new = results(numbers, count: count).filter { !$0.wasReportedLost }
    return (new.count, new.count { $0.arrival == nil })
  }

  /// Sends video packets.
  mutating func send(_ count: Int, now: Timestamp = .zero) {
    for _ in 0..<count { add(.video, size: 1_000, now: now) }
  }
}
