import RTCMedia

/// A link of a changing rate with a queue in front of it, which is never full: what comes out when, in steps of 1 ms.
struct Link {
  struct Arrival {
    var time: Timestamp
    var captureTime: Timestamp
    var bytes: Int
    var index: Int
    var delay: TimeDelta { time - captureTime }
  }

  private var waiting: [(index: Int, bytes: Int, left: Double, captureTime: Timestamp)] = []
  private(set) var arrivals: [Arrival] = []
  /// Without a queue, from the sender to the receiver.
  let propagation: TimeDelta

  init(propagation: TimeDelta) { self.propagation = propagation }

  var queuedBytes: Double { waiting.reduce(0) { $0 + $1.left } }

  mutating func send(bytes: Int, index: Int, captureTime: Timestamp) {
    // Headers of IP, UDP, RTP and SRTP for packets of 1,200 bytes.
    let wire = Double(bytes) + Double((bytes + 1199) / 1200 * 60)
    waiting.append((index, bytes, wire, captureTime))
  }

  /// Lets a millisecond pass that ends at `now`.
  mutating func step(_ rate: BitRate, now: Timestamp) {
    var room = Double(rate.bitsPerSecond) / 8000
    while room > 0, !waiting.isEmpty {
      let sent = min(room, waiting[0].left)
      waiting[0].left -= sent
      room -= sent
      guard waiting[0].left <= 0 else { break }
      let first = waiting.removeFirst()
      arrivals.append(
        Arrival(time: now + propagation, captureTime: first.captureTime, bytes: first.bytes, index: first.index))
    }
  }
}
