import RTCWire

/// Every packet of a compound, parsed by its kind, to its last element. Of transport-wide feedback, in which twenty
/// bytes may name 65,535 packets, only the first are read: `FuzzRateControl` and `FuzzFarPeer` check the reader's cost.
public func fuzzRTCP(_ bytes: Span<UInt8>) {
  guard var compound = RTCPCompound(parsing: bytes) else { return }
  while let packet = compound.next() {
    readReports(packet)
    readFeedback(packet, length: bytes.count)
  }
}

private func readReports(_ packet: RTCPPacket) {
  _ = (SenderReport(parsing: packet), ReceiverReport(parsing: packet), SourceDescription(parsing: packet))
  if let blocks = ReportBlocks(parsing: packet) {
    for index in 0..<blocks.count { _ = blocks[index].roundTripTime(arrival: NTPTimestamp(1 << 63)) }
  }
  if let goodbye = Goodbye(parsing: packet) {
    for index in 0..<goodbye.count { _ = goodbye[index] }
  }
}

private func readFeedback(_ packet: RTCPPacket, length: Int) {
  _ = PictureLossIndication(parsing: packet)
  if var nack = GenericNACK(parsing: packet) {
    while nack.next() != nil {}
  }
  if let request = FullIntraRequest(parsing: packet) {
    for index in 0..<request.count { _ = request[index] }
  }
  if let estimate = ReceiverEstimatedMaximumBitRate(parsing: packet) {
    for index in 0..<estimate.count { _ = estimate[index] }
  }
  if var feedback = TransportFeedback(parsing: packet) {
    let statuses = feedback.statusCount
    var count = 0
    while count < 512, feedback.next() != nil { count += 1 }
    precondition(count == min(512, statuses))
  }
  if var feedback = TransportFeedback(parsing: packet) {
    let steps = feedback.skip(to: .max)
    precondition(steps <= 8 * length && feedback.index == feedback.statusCount)
  }
}
