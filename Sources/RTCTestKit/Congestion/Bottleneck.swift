package import RTCPrimitives

/// A drop-tail queue before a line of some rate, on virtual time. The rate may change while packets wait: the rest of
/// them leaves at the new one.
package struct Bottleneck<Packet> {
  private struct Entry {
    var packet: Packet
    var size: Int
    var came: Timestamp
  }

  /// A packet that has left.
  package struct Departure {
    package var packet: Packet
    /// When its last byte left.
    package var time: Timestamp
    /// How long it waited for others.
    package var waited: TimeDelta
  }

  /// Nil: endless.
  package private(set) var rate: BitRate?
  /// Bytes that may wait, including the packet on the line; further packets are dropped.
  package var capacity: Int
  /// Bytes that wait or are on the line, the whole of the latter.
  package private(set) var queuedBytes = 0
  private var queue: [Entry] = []
  private var head = 0
  /// The bytes of the packet on the line that have not left, as of `headSince`.
  private var headLeft = 0.0
  private var headSince = Timestamp.zero
  private var headBegan = Timestamp.zero

  /// A line at `rate` with room for `capacity` bytes in front.
  package init(rate: BitRate?, capacity: Int) {
    self.rate = rate
    self.capacity = capacity
  }

  /// Changes the rate.
  package mutating func setRate(_ rate: BitRate?, now: Timestamp) {
    if let first = queue.indices.contains(head) ? head : nil, let old = self.rate {
      headLeft = min(
        Double(queue[first].size), max(0, headLeft - Double(old.bitsPerSecond) * (now - headSince).seconds / 8))
      headSince = now
    }
    self.rate = rate
  }

  /// Bytes that are still to leave.
  package func backlog(_ now: Timestamp) -> Int {
    guard head < queue.count else { return 0 }
    let left = headLeft - Double(rate?.bitsPerSecond ?? 0) * (now - headSince).seconds / 8
    return queuedBytes - queue[head].size + Int(max(0, left))
  }

  /// - Returns: false when the packet was dropped, as the queue is full.
  package mutating func add(_ packet: Packet, size: Int, now: Timestamp) -> Bool {
    guard rate == nil || backlog(now) + size <= capacity else { return false }
    if head == queue.count { begin(size, at: now) }
    queue.append(Entry(packet: packet, size: size, came: now))
    queuedBytes += size
    return true
  }

  private mutating func begin(_ size: Int, at time: Timestamp) {
    headLeft = Double(size)
    headSince = time
    headBegan = time
  }

  /// When the packet on the line has left; nil when there is none.
  package var nextDeparture: Timestamp? {
    guard head < queue.count else { return nil }
    guard let rate else { return headSince }
    guard rate > .zero else { return .distantFuture }
    return headSince + .seconds(headLeft * 8 / Double(rate.bitsPerSecond))
  }

  /// The next packet that has left by `now`.
  package mutating func removeFirst(by now: Timestamp) -> Departure? {
    guard let time = nextDeparture, time <= now else { return nil }
    let entry = queue[head]
    head += 1
    queuedBytes -= entry.size
    if head > 64, head * 2 > queue.count {
      queue.removeFirst(head)
      head = 0
    }
    let departure = Departure(packet: entry.packet, time: time, waited: headBegan - entry.came)
    if head < queue.count { begin(queue[head].size, at: max(time, queue[head].came)) }
    return departure
  }
}
