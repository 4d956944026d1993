import RTCPrimitives

/// When the frames of a far stream were taken, on our clock, as far as their RTP timestamps tell: the first when it came, the
/// rest as far from it as their timestamps say.
struct RelayTimeline: Sendable {
  /// RTP units in a second.
  let rate: Int64
  private var start: (position: Extended<RTPTimestamp>, time: Timestamp)?
  private var newest = Extended<RTPTimestamp>(0)

  init(rate: Int64) { self.rate = rate }

  /// The timestamp continued to 64 bits, and the moment that it stands for. Begins anew where the far clock has left ours by
  /// more than a second: it leapt, or drifted for days.
  mutating func place(_ timestamp: RTPTimestamp, received: Timestamp) -> (position: Int64, time: Timestamp) {
    guard let start else {
      newest = Extended(Int64(timestamp.value))
      self.start = (newest, received)
      return (newest.value, received)
    }
    let position = newest.nearest(timestamp)
    newest = max(newest, position)
    let time = start.time + .ticks(position.value - start.position.value, atRate: rate)
    let error = time - received
    guard error > .seconds(1) || error < .seconds(-1) else { return (position.value, time) }
    self.start = (position, received)
    return (position.value, received)
  }
}
