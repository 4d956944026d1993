import RTCPrimitives
import RTCWire

/// How many bytes may be under way (RFC 9260 §7.2).
struct CongestionWindow {
  /// Bytes of a packet.
  private let packet: Int
  /// More is never under way.
  private let maximum: Int
  /// The window, cwnd.
  private(set) var size: Int
  private var slowStartThreshold = Int.max
  private var partialBytesAcked = 0
  /// Fast recovery lasts until this chunk is acknowledged (RFC 9260 §7.2.4).
  private(set) var recoveryEnd: TSN?

  /// RFC 9260 §7.2.1 begins with at most 4,404 bytes; libwebrtc and TCP (RFC 6928) begin with ten packets.
  init(packet: Int, maximum: Int) {
    self.packet = packet
    self.maximum = max(maximum, 10 * packet)
    size = 10 * packet
  }

  var isInRecovery: Bool { recoveryEnd != nil }

  /// - Parameters:
  ///   - bytes: newly acknowledged, in all.
  ///   - wasFull: whether the window was in use; one that is not does not grow.
  mutating func acknowledged(_ bytes: Int, cumulative: TSN, advanced: Bool, wasFull: Bool) {
    if let end = recoveryEnd, !end.isNewer(than: cumulative) { recoveryEnd = nil }
    guard advanced, !isInRecovery else { return }
    if size <= slowStartThreshold {
      // RFC 9260 §7.2.1 lets one acknowledgement add more than a packet; two, as most acknowledge every second packet.
      if wasFull { size = min(maximum, size + min(bytes, 2 * packet)) }
      return
    }
    partialBytesAcked += bytes
    guard partialBytesAcked >= size else { return }
    partialBytesAcked = wasFull ? partialBytesAcked - size : 0
    if wasFull { size = min(maximum, size + packet) }
  }

  /// A chunk was lost while others arrived. Halves the window once for each round trip.
  mutating func lost(highestSent: TSN) {
    guard recoveryEnd == nil else { return }
    slowStartThreshold = max(size / 2, 4 * packet)
    size = slowStartThreshold
    partialBytesAcked = 0
    recoveryEnd = highestSent
  }

  /// No acknowledgement arrived in time (RFC 9260 §7.2.3).
  mutating func timedOut() {
    slowStartThreshold = max(size / 2, 4 * packet)
    size = packet
    partialBytesAcked = 0
    recoveryEnd = nil
  }

  /// All is acknowledged.
  mutating func emptied() { partialBytesAcked = 0 }
}
