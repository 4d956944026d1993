/// How many packets a key has protected, of all its sources together.
package struct KeyUse {
  private var left: UInt64

  /// - Parameter limit: how many it may protect (RFC 3711 §9.2).
  package init(limit: UInt64) { left = limit }

  /// To precede each packet.
  /// - Throws: `keyExpired` when the limit is reached.
  package mutating func spend() throws(SRTPError) {
    guard left > 0 else { throw .keyExpired }
    left -= 1
  }
}
