import RTCPrimitives
import RTCWire

/// Copies of short bursts and of retransmissions, sent before anything shows that they are needed, where the path is known
/// to lose packets.
///
/// A lost packet holds up everything behind it on an ordered channel for more than a round trip. Behind a short burst with
/// nothing waiting there is also nothing whose acknowledgement would show the loss soon.
struct EarlyCopies {
  /// A chunk to be copied.
  struct Entry {
    var tsn: TSN
    /// The transmission that is copied; a later one has copies of its own.
    var transmissions: UInt32
    fileprivate var due = Timestamp.zero
    fileprivate var copies = 0

    init(_ tsn: TSN, transmissions: UInt32) {
      self.tsn = tsn
      self.transmissions = transmissions
    }
  }

  /// The loss from which on one copy is sent, and two.
  private static let (oneFrom, twoFrom) = (0.01, 0.05)
  /// A path that loses one packet often loses the next few as well.
  private static let interval = TimeDelta.milliseconds(10)
  /// The maximum number of packets in a burst that is copied.
  static let maximumPackets = 4
  /// Bytes of copies that may leave at once after a pause.
  private static let depth = 10_000.0

  /// The share of lost packets, 0…1, as others have measured it.
  private var loss = 0.0
  /// The bytes that copies may take.
  private var budget = TokenBucket(capacity: depth, perSecond: 0, now: .zero)
  private var entries = Ring<Entry>()
  /// When the last copy was sent.
  private(set) var lastSent: Timestamp?

  /// When the next copies are due.
  var deadline: Timestamp { entries.first?.due ?? .distantFuture }

  mutating func setPath(rate: BitRate, loss: Double) {
    // As much again for the originals.
    budget.perSecond = Double(rate.bitsPerSecond) / 8 / 2
    self.loss = loss
  }

  /// Takes note of a chunk that has just been sent.
  mutating func add(_ entry: Entry, now: Timestamp) {
    guard loss >= Self.oneFrom else { return }
    var entry = entry
    entry.copies = loss >= Self.twoFrom ? 2 : 1
    entry.due = now + Self.interval
    entries.append(entry)
  }

  /// The next chunk to be copied now, if one is due.
  mutating func takeDue(_ now: Timestamp) -> Entry? {
    guard var entry = entries.first, entry.due <= now else { return nil }
    entries.removeFirst()
    let due = entry
    entry.copies -= 1
    entry.due = now + Self.interval
    if entry.copies > 0 { entries.append(entry) }
    return due
  }

  /// Whether a copy of `bytes` may leave; it is counted then.
  mutating func spend(_ bytes: Int, now: Timestamp) -> Bool {
    guard budget.take(Double(bytes), now: now) else { return false }
    lastSent = now
    return true
  }

  mutating func removeAll() { entries.removeAll() }
}
