import RTCEngine
import RTCPrimitives
import RTCWire

extension TransportSendHistory {
  /// What the history makes of a report on the arrival of `numbers`.
  mutating func report(_ numbers: [Int], count: UInt8) -> (expected: Int, lost: Int) {
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
    else { return (-1, -1) }
    return receive(feedback)
  }
}
