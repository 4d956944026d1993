import RTCPrimitives

/// Assigns capture times on our clock to the frames of a remote stream by their RTP timestamps: the first frame gets
/// its arrival time, the others follow by the difference of timestamps.
struct RelayTimeline: Sendable {
  /// RTP units in a second.
  let rate: Int64
  private var start: (position: Extended<RTPTimestamp>, time: Timestamp)?
  private var newest = Extended<RTPTimestamp>(0)

  init(rate: Int64) { self.rate = rate }

  /// Returns the timestamp extended to 64 bits and its time on our clock. Starts again if the remote clock differs from
  /// ours by more than a second, after a leap or days of drift.
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
