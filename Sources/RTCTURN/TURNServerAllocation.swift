import RTCPrimitives
import RTCWire

/// An allocation as its server keeps it (RFC 8656 §5).
struct TURNServerAllocation {
  /// RFC 8656 §9.
  private static let permissionLifetime = TimeDelta.seconds(300)
  /// RFC 8656 §12.
  private static let channelLifetime = TimeDelta.seconds(600)
  /// A number or peer may be bound otherwise only so long after a channel has expired (RFC 8656 §12).
  private static let channelRest = TimeDelta.seconds(300)

  private struct Permission {
    let ip: IPAddress
    var expiresAt: Timestamp
  }

  private struct Channel {
    let number: UInt16
    let peer: SocketAddress
    var expiresAt: Timestamp
  }

  /// The 5-tuple (RFC 8656 §5).
  let client: Route
  let network: ClientNetwork
  let user: [UInt8]
  let key: STUNIntegrityKey
  /// The transaction of the Allocate request.
  let transaction: STUNTransactionID
  /// The answers have FINGERPRINT, as the request.
  let hasFingerprint: Bool
  /// The client also wanted an address of the other family, which it did not get.
  var missesFamily: TURNAddressFamily?
  /// The relayed addresses, at most one of each family; none while they are being opened.
  var relays: [TURNRelay] = []
  var expiresAt: Timestamp
  var toPeers: TURNRate
  var toClient: TURNRate
  private var permissions: [Permission] = []
  private var channels: [Channel] = []

  init(
    client: Route, user: [UInt8], key: STUNIntegrityKey, request: STUNHeader, hasFingerprint: Bool,
    bytesPerSecond: Int64, expiresAt: Timestamp, now: Timestamp
  ) {
    self.client = client
    network = ClientNetwork(client.remote.ip)
    (self.user, self.key, self.hasFingerprint) = (user, key, hasFingerprint)
    transaction = request.transactionID
    self.expiresAt = expiresAt
    toPeers = TURNRate(bytesPerSecond: bytesPerSecond, now: now)
    toClient = toPeers
  }

  /// The relayed address of the peer's family.
  func relay(for ip: IPAddress) -> TURNRelay? { relays.first { $0.local.ip.isV4 == ip.isV4 } }

  func permits(_ ip: IPAddress, now: Timestamp) -> Bool { permissions.contains { $0.ip == ip && $0.expiresAt > now } }

  func peer(of number: UInt16, now: Timestamp) -> SocketAddress? {
    channels.first { $0.number == number && $0.expiresAt > now }?.peer
  }

  func channel(of peer: SocketAddress, now: Timestamp) -> UInt16? {
    channels.first { $0.peer == peer && $0.expiresAt > now }?.number
  }

  /// Makes or renews the permissions for these addresses; false when they would be too many, and then none is.
  mutating func permit(_ ips: Set<IPAddress>, limit: Int, now: Timestamp) -> Bool {
    permissions.removeAll { $0.expiresAt <= now }
    let known = permissions.count { ips.contains($0.ip) }
    guard permissions.count - known + ips.count <= limit else { return false }
    for ip in ips {
      let end = now + Self.permissionLifetime
      if let place = permissions.firstIndex(where: { $0.ip == ip }) {
        permissions[place].expiresAt = end
      } else {
        permissions.append(Permission(ip: ip, expiresAt: end))
      }
    }
    return true
  }

  /// Binds a channel, or renews it. Nil is success.
  mutating func bind(_ number: UInt16, to peer: SocketAddress, limit: Int, now: Timestamp) -> STUNErrorCode? {
    channels.removeAll { $0.expiresAt + Self.channelRest <= now }
    guard !channels.contains(where: { ($0.number == number) != ($0.peer == peer) }) else { return .badRequest }
    let end = now + Self.channelLifetime
    if let place = channels.firstIndex(where: { $0.number == number }) {
      channels[place].expiresAt = end
      return nil
    }
    guard channels.count < limit else { return .insufficientCapacity }
    channels.append(Channel(number: number, peer: peer, expiresAt: end))
    return nil
  }
}

/// A limit of bytes in a second, of which a quarter may come at once.
struct TURNRate {
  private let bytesPerSecond: Int64
  private var level: Int64
  private var updated: Timestamp

  init(bytesPerSecond: Int64, now: Timestamp) {
    self.bytesPerSecond = max(1, min(bytesPerSecond, 1 << 32))
    level = Self.burst(self.bytesPerSecond)
    updated = now
  }

  private static func burst(_ bytesPerSecond: Int64) -> Int64 { max(65_536, bytesPerSecond / 4) }

  /// Counts so many bytes; false when they are too many.
  mutating func take(_ bytes: Int, now: Timestamp) -> Bool {
    // At most a second, so that nothing overflows. Whole bytes are added: the rest of the time waits for the next call.
    let elapsed = min(max(0, (now - updated).nanoseconds), 1_000_000_000)
    let refill = elapsed * bytesPerSecond / 1_000_000_000
    if refill > 0 {
      level = min(Self.burst(bytesPerSecond), level + refill)
      updated = now
    }
    guard level >= Int64(bytes) else { return false }
    level -= Int64(bytes)
    return true
  }
}
