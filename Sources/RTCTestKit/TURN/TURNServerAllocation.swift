import RTCPrimitives
import RTCWire

/// An allocation as its server keeps it (RFC 8656 §5).
struct TURNServerAllocation {
  private static let permissionLifetime = TimeDelta.seconds(300)
  private static let channelLifetime = TimeDelta.seconds(600)
  /// A number or peer may be bound otherwise only so long after a channel has expired (RFC 8656 §12).
  private static let channelRest = TimeDelta.seconds(300)

  let user: String
  /// The transaction of the request that made it.
  let transaction: STUNTransactionID
  let relayed: [SocketAddress]
  var expiresAt: Timestamp
  private var permissions: [IPAddress: Timestamp] = [:]
  private var channels: [UInt16: (peer: SocketAddress, expiresAt: Timestamp)] = [:]

  init(user: String, transaction: STUNTransactionID, relayed: [SocketAddress], expiresAt: Timestamp) {
    self.user = user
    self.transaction = transaction
    self.relayed = relayed
    self.expiresAt = expiresAt
  }

  func permits(_ ip: IPAddress, now: Timestamp) -> Bool { permissions[ip].map { $0 > now } ?? false }

  func peer(of number: UInt16, now: Timestamp) -> SocketAddress? {
    channels[number].flatMap { $0.expiresAt > now ? $0.peer : nil }
  }

  func channel(of peer: SocketAddress, now: Timestamp) -> UInt16? {
    channels.first { $0.value.peer == peer && $0.value.expiresAt > now }?.key
  }

  // MARK: - Requests; nil is success

  mutating func refresh(
    _ wanted: UInt32?, _ options: TURNServerEmulator.Options, now: Timestamp
  ) -> STUNErrorCode? {
    expiresAt = now + .seconds(Int64(min(wanted ?? options.lifetime, options.lifetime)))
    return nil
  }

  mutating func permit(
    _ peers: [SocketAddress], _ options: TURNServerEmulator.Options, now: Timestamp
  ) -> STUNErrorCode? {
    guard !peers.isEmpty else { return .badRequest }
    for peer in peers {
      guard relayed.contains(where: { $0.ip.isV4 == peer.ip.isV4 }) else { return .peerAddressFamilyMismatch }
      guard !options.forbiddenPeers.contains(peer.ip) else { return .forbidden }
    }
    for peer in peers { permissions[peer.ip] = now + Self.permissionLifetime }
    return nil
  }

  mutating func bind(
    _ request: STUNMessage, _ options: TURNServerEmulator.Options, now: Timestamp
  ) -> STUNErrorCode? {
    guard options.hasChannels else { return .forbidden }
    guard let number = request.channelNumber, TURNChannelHeader.numbers.contains(number),
      let peer = request.xorPeerAddress
    else { return .badRequest }
    let taken = channels.contains { key, value in
      value.expiresAt + Self.channelRest > now && (key == number) != (value.peer == peer)
    }
    guard !taken else { return .badRequest }
    if let code = permit([peer], options, now: now) { return code }
    channels[number] = (peer, now + Self.channelLifetime)
    return nil
  }
}
