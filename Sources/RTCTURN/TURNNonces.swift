import RTCPrimitives
import RTCWire

/// Nonces that need no memory: the second in which one was made, and the HMAC of this second and the client's address with a key
/// of this server (RFC 8489 §9.2). A nonce is no use to another client.
struct TURNNonces {
  /// 8 digits of the time, 16 of the HMAC.
  static let size = 24
  private let key: STUNIntegrityKey

  /// - Parameter key: random bytes.
  init(key: [UInt8]) { self.key = STUNIntegrityKey(key.span) }

  /// A nonce made now.
  func nonce(of client: SocketAddress, now: Timestamp) -> [UInt8] {
    make(UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000_000), client)
  }

  /// Whether `nonce` was made for the client at most `lifetime` ago.
  func isValid(_ nonce: Span<UInt8>, of client: SocketAddress, lifetime: TimeDelta, now: Timestamp) -> Bool {
    guard nonce.count == Self.size else { return false }
    var made: UInt32 = 0
    for index in 0..<8 {
      guard let digit = Self.value(nonce[index]) else { return false }
      made = made << 4 | UInt32(digit)
    }
    let seconds = UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000_000)
    guard TimeDelta.seconds(Int64(seconds &- made)) <= lifetime else { return false }
    return equalInConstantTime(make(made, client).span, nonce)
  }

  private func make(_ second: UInt32, _ client: SocketAddress) -> [UInt8] {
    var bytes: [UInt8] = []
    func append(_ value: UInt64) {
      for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * shift))) }
    }
    append(UInt64(second) << 32 | UInt64(client.port))
    switch client.ip {
    case .v4(let value): append(UInt64(value))
    case .v6(let high, let low, _):
      append(high)
      append(low)
    }
    let digest = key.authenticate(bytes.span)
    var text: [UInt8] = []
    for shift in 0..<8 { text.append(Self.digit(UInt8(second >> UInt32(28 - 4 * shift) & 15))) }
    for index in 0..<8 {
      text.append(Self.digit(digest[index] >> 4))
      text.append(Self.digit(digest[index] & 15))
    }
    return text
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 48...57: digit - 48
    case 97...102: digit - 87
    default: nil
    }
  }
}
