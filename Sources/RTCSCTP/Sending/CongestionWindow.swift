import RTCPrimitives
import RTCWire

/// How many bytes may be under way (RFC 9260 §7.2), or as many as a rate control that knows more of the path allows.
///
/// SCTP takes every loss for congestion. A path that loses packets without being full, as radio does, then carries next to
/// nothing: 1 % of loss and 150 ms of round trip leave 0.8 Mbit/s.
struct CongestionWindow {
  /// Bytes of a packet.
  private let packet: Int
  /// More is never under way.
  private let maximum: Int
  /// SCTP's own window, cwnd.
  private var window: Int
  /// Bytes that the path carries in a round trip by a rate control outside of SCTP; 0: there is none.
  private var pathCapacity = 0
  /// No acknowledgement came in time, and none has come since: the path that was measured may be gone.
  private var isSilent = false
  private var slowStartThreshold = Int.max
  private var partialBytesAcked = 0
  /// Fast recovery lasts until this chunk is acknowledged (RFC 9260 §7.2.4).
  private(set) var recoveryEnd: TSN?

  /// RFC 9260 §7.2.1 begins with at most 4,404 bytes; libwebrtc and TCP (RFC 6928) begin with ten packets.
  init(packet: Int, maximum: Int) {
    self.packet = packet
    self.maximum = max(maximum, 10 * packet)
    window = 10 * packet
  }

  /// The maximum number of bytes under way.
  var size: Int { isSilent ? window : max(window, pathCapacity) }

  var isInRecovery: Bool { recoveryEnd != nil }

  /// The window does not fall below what arrives in a round trip at a rate that others have measured.
  mutating func setPathCapacity(_ bytes: Int) { pathCapacity = min(maximum, max(0, bytes)) }

  /// - Parameters:
  ///   - bytes: newly acknowledged, in all.
  ///   - wasFull: whether the window was in use; one that is not does not grow.
  mutating func acknowledged(_ bytes: Int, cumulative: TSN, advanced: Bool, wasFull: Bool) {
    if bytes > 0 { isSilent = false }
    if let end = recoveryEnd, !end.isNewer(than: cumulative) { recoveryEnd = nil }
    guard advanced, !isInRecovery else { return }
    if window <= slowStartThreshold {
      // RFC 9260 §7.2.1 lets one acknowledgement add more than a packet; two, as most acknowledge every second packet.
      if wasFull { window = min(maximum, window + min(bytes, 2 * packet)) }
      return
    }
    partialBytesAcked += bytes
    guard partialBytesAcked >= window else { return }
    partialBytesAcked = wasFull ? partialBytesAcked - window : 0
    if wasFull { window = min(maximum, window + packet) }
  }

  /// A chunk was lost while others arrived. Halves the window once for each round trip.
  mutating func lost(highestSent: TSN) {
    guard recoveryEnd == nil else { return }
    slowStartThreshold = max(window / 2, 4 * packet)
    window = slowStartThreshold
    partialBytesAcked = 0
    recoveryEnd = highestSent
  }

  /// No acknowledgement arrived in time (RFC 9260 §7.2.3).
  mutating func timedOut() {
    slowStartThreshold = max(window / 2, 4 * packet)
    window = packet
    isSilent = true
    partialBytesAcked = 0
    recoveryEnd = nil
  }

  /// All is acknowledged.
  mutating func emptied() { partialBytesAcked = 0 }
}
