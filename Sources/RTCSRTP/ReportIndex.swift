/// The SRTCP index of an outgoing source: from 0 on, 31 bits (RFC 3711 §3.4).
package struct ReportIndex {
  /// How many there are, and how many packets a key may protect (RFC 3711 §9.2).
  package static let limit: UInt64 = 1 << 31

  private var next: UInt64

  package init(next: UInt32 = 0) { self.next = UInt64(next) }

  /// - Throws: `keyExpired` after the last one: none may come twice.
  package mutating func take() throws(SRTPError) -> UInt32 {
    guard next < Self.limit else { throw .keyExpired }
    defer { next += 1 }
    return UInt32(next)
  }
}
