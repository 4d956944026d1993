import RTCPrimitives
import RTCWire

/// Requests of clients and their answers.
extension TURNServer {
  /// An error response.
  private struct Refusal: Error {
    var code: STUNErrorCode

    init(_ code: STUNErrorCode) { self.code = code }
  }

  mutating func answer(
    _ request: STUNMessage, from client: Route, now: Timestamp, into out: inout TURNServerOutbox
  ) {
    if request.header.method == .binding { return answerBinding(request, from: client, now: now, into: &out) }
    let number = allocation(of: client, now: now)
    let user: (name: [UInt8], key: STUNIntegrityKey)
    do throws(Refusal) {
      user = try authenticate(request, from: client, number: number, now: now)
    } catch {
      guard mayRefuseStranger(now: now) else {
        counters.dropsInvalid &+= 1
        return
      }
      return refuse(error.code, request, to: client, key: nil, now: now, into: &out)
    }
    do throws(Refusal) {
      guard !request.hasUnknownTURNAttributes else { throw Refusal(.unknownAttribute) }
      guard request.header.method != .allocate else {
        return try allocate(request, user.name, user.key, from: client, now: now, into: &out)
      }
      guard let number else { throw Refusal(.allocationMismatch) }
      guard self[number].user == user.name else { throw Refusal(.wrongCredentials) }
      switch request.header.method {
      case .refresh: try refresh(request, number, now: now, into: &out)
      case .createPermission: try permit(request, number, now: now, into: &out)
      case .channelBind: try bind(request, number, now: now, into: &out)
      default: throw Refusal(.badRequest)
      }
    } catch {
      refuse(error.code, request, to: client, key: user.key, now: now, into: &out)
    }
  }

  /// RFC 8489 §3: whoever asks learns the own address. The answer is little longer than the request.
  private mutating func answerBinding(
    _ request: STUNMessage, from client: Route, now: Timestamp, into out: inout TURNServerOutbox
  ) {
    guard mayRefuseStranger(now: now) else { return }
    guard !request.hasUnknownTURNAttributes else {
      return refuse(.unknownAttribute, request, to: client, key: nil, now: now, into: &out)
    }
    let (id, hasFingerprint) = (request.header.transactionID, request.hasFingerprint)
    out.datagrams.append(to: client, capacity: 128) { bytes in
      var writer = STUNMessageWriter(.success, transactionID: id, into: bytes._mutatingExtracting(0..<bytes.count))
      writer.writeXorMappedAddress(client.remote)
      return writer.finish(key: nil, hasFingerprint: hasFingerprint)
    }
  }

  // MARK: - Credentials

  /// RFC 8489 §9.2.4, RFC 8656 §5. Credentials must not have ended when an allocation is made; the allocation then lives as long
  /// as its client renews it.
  private func authenticate(
    _ request: STUNMessage, from client: Route, number: Int?, now: Timestamp
  ) throws(Refusal) -> (name: [UInt8], key: STUNIntegrityKey) {
    guard request.hasMessageIntegrity else { throw Refusal(.unauthenticated) }
    guard let username = request.username, username.count <= Self.longestUsername, request.realm != nil,
      let nonce = request.nonce
    else { throw Refusal(.badRequest) }
    guard nonces.isValid(nonce, of: client.remote, lifetime: configuration.nonceLifetime, now: now) else {
      throw Refusal(.staleNonce)
    }
    let name = [UInt8](copying: username)
    if let number, self[number].user == name, request.isAuthentic(key: self[number].key) {
      return (name, self[number].key)
    }
    guard let password = password(of: name) else { throw Refusal(.unauthenticated) }
    let realm = Array(configuration.realm.utf8)
    let key = STUNIntegrityKey(username: name.span, realm: realm.span, password: password.span)
    guard request.isAuthentic(key: key) else { throw Refusal(.unauthenticated) }
    return (name, key)
  }

  /// RFC 8489 §14.3.
  private static var longestUsername: Int { 509 }

  private func password(of name: [UInt8]) -> [UInt8]? {
    switch configuration.users {
    case .fixed(let passwords): return passwords[String(decoding: name, as: UTF8.self)].map { Array($0.utf8) }
    case .timeLimited(let secret):
      guard let end = TURNPassword.end(of: name.span), end > unixTime else { return nil }
      return TURNPassword.timeLimited(username: name.span, secret: secret.span)
    }
  }

  // MARK: - Allocate (RFC 8656 §7.2)

  private mutating func allocate(
    _ request: STUNMessage, _ user: [UInt8], _ key: STUNIntegrityKey, from client: Route, now: Timestamp,
    into out: inout TURNServerOutbox
  ) throws(Refusal) {
    if let number = allocation(of: client, now: now) {
      // The answer was lost.
      guard self[number].transaction == request.header.transactionID else { throw Refusal(.allocationMismatch) }
      if !self[number].relays.isEmpty { confirmAllocation(number, now: now, into: &out) }
      return
    }
    // One that has expired, and was not removed yet.
    ended(client, into: &out)
    let (ips, missing) = try relayIPs(for: request, from: client)
    let network = ClientNetwork(client.remote.ip)
    if let code = refusalOfAnother(network: network, user: user) { throw Refusal(code) }
    var allocation = TURNServerAllocation(
      client: client, user: user, key: key, request: request.header, hasFingerprint: request.hasFingerprint,
      bytesPerSecond: configuration.limits.bytesPerSecond, expiresAt: now + granted(request.lifetime), now: now)
    allocation.missesFamily = missing
    let number = add(allocation)
    out.actions.append(.open(allocation: number, at: ips, isEven: request.value(of: .evenPort) != nil))
  }

  /// The addresses of this machine to relay from, and the additional family that cannot be had.
  private func relayIPs(
    for request: STUNMessage, from client: Route
  ) throws(Refusal) -> ([IPAddress], TURNAddressFamily?) {
    guard let transport = request.requestedTransport else { throw Refusal(.badRequest) }
    guard transport == 17 else { throw Refusal(.unsupportedTransport) }
    let (wantsFamily, wantsMore) = (
      request.value(of: .requestedAddressFamily) != nil, request.value(of: .additionalAddressFamily) != nil
    )
    guard !wantsFamily || !wantsMore else { throw Refusal(.badRequest) }
    if request.value(of: .reservationToken) != nil {
      // No port is ever reserved.
      let isAlone = !wantsFamily && !wantsMore && request.value(of: .evenPort) == nil
      throw Refusal(isAlone ? .insufficientCapacity : .badRequest)
    }
    if let evenPort = request.value(of: .evenPort) {
      guard evenPort.count == 1 else { throw Refusal(.badRequest) }
      let reserves = evenPort[0] & 0x80 != 0
      guard !reserves || !wantsMore else { throw Refusal(.badRequest) }
      guard !reserves else { throw Refusal(.insufficientCapacity) }
    }
    if wantsMore {
      guard request.additionalAddressFamily == .v6 else { throw Refusal(.badRequest) }
      let both = [relayIP(.v4, client), relayIP(.v6, client)]
      let found = both.compactMap(\.self)
      guard !found.isEmpty else { throw Refusal(.addressFamilyNotSupported) }
      return (found, found.count == 2 ? nil : both[0] == nil ? .v4 : .v6)
    }
    let family = wantsFamily ? request.requestedAddressFamily : .v4
    guard let family, let ip = relayIP(family, client) else { throw Refusal(.addressFamilyNotSupported) }
    return ([ip], nil)
  }

  /// The address that the client has reached, if it is of the family and peers can reach it; otherwise that of the settings.
  private func relayIP(_ family: TURNAddressFamily, _ client: Route) -> IPAddress? {
    let isV4 = family == .v4
    let reached = client.local.ip
    if reached.isV4 == isV4, configuration.isOwn(reached) { return reached }
    return configuration.relayIPs.first { $0.isV4 == isV4 }
  }

  /// Between the default and the maximum (RFC 8656 §7.2).
  private func granted(_ wanted: UInt32?) -> TimeDelta {
    .seconds(Int64(max(configuration.defaultLifetime, min(wanted ?? 0, configuration.maximumLifetime))))
  }

  mutating func confirmAllocation(_ number: Int, now: Timestamp, into out: inout TURNServerOutbox) {
    let allocation = self[number]
    let (client, lifetime) = (allocation.client, Self.seconds(until: allocation.expiresAt, now: now))
    let relayed = allocation.relays.map { outside($0.local) }
    out.datagrams.append(to: client, capacity: 256) { bytes in
      var writer = STUNMessageWriter(
        .success, method: .allocate, transactionID: allocation.transaction,
        into: bytes._mutatingExtracting(0..<bytes.count))
      for address in relayed { writer.writeXorAddress(.xorRelayedAddress, address) }
      writer.writeXorMappedAddress(client.remote)
      writer.write(.lifetime, lifetime)
      if let family = allocation.missesFamily {
        // Family, and class and number of 440 (RFC 8656 §18.12).
        writer.write(.addressErrorCode, UInt32(family.rawValue) << 24 | 4 << 8 | 40)
      }
      return writer.finish(key: allocation.key, hasFingerprint: allocation.hasFingerprint)
    }
  }

  private static func seconds(until end: Timestamp, now: Timestamp) -> UInt32 {
    UInt32(clamping: max(0, (end - now).nanoseconds) / 1_000_000_000)
  }

  // MARK: - Refresh, CreatePermission, ChannelBind

  /// RFC 8656 §8.2.
  private mutating func refresh(
    _ request: STUNMessage, _ number: Int, now: Timestamp, into out: inout TURNServerOutbox
  ) throws(Refusal) {
    let (client, key) = (self[number].client, self[number].key)
    var family: TURNAddressFamily?
    if request.value(of: .requestedAddressFamily) != nil {
      guard let wanted = request.requestedAddressFamily,
        self[number].relays.contains(where: { $0.local.ip.isV4 == (wanted == .v4) })
      else { throw Refusal(.peerAddressFamilyMismatch) }
      family = wanted
    }
    var lifetime: UInt32 = 0
    if request.lifetime == 0 {
      if let family { removeRelay(isV4: family == .v4, of: number, into: &out) } else { remove(number, into: &out) }
    } else {
      let end = now + granted(request.lifetime)
      extend(number, to: end)
      lifetime = Self.seconds(until: end, now: now)
    }
    succeed(request, to: client, key: key, lifetime: lifetime, into: &out)
  }

  /// RFC 8656 §10.2.
  private mutating func permit(
    _ request: STUNMessage, _ number: Int, now: Timestamp, into out: inout TURNServerOutbox
  ) throws(Refusal) {
    let peers = request.xorPeerAddresses
    guard !peers.isEmpty else { throw Refusal(.badRequest) }
    for peer in peers {
      guard self[number].relay(for: peer.ip) != nil else { throw Refusal(.peerAddressFamilyMismatch) }
      guard configuration.allowsPeer(at: peer.ip) else { throw Refusal(.forbidden) }
    }
    guard self[number].permit(Set(peers.map(\.ip)), limit: configuration.limits.permissions, now: now) else {
      throw Refusal(.insufficientCapacity)
    }
    succeed(request, to: self[number].client, key: self[number].key, into: &out)
  }

  /// The numbers of RFC 5766, whose clients still exist; RFC 8656 ends at 0x4FFF, because other protocols may share a client's port.
  private static var channelNumbers: ClosedRange<UInt16> { 0x4000...0x7FFF }

  /// RFC 8656 §12.2.
  private mutating func bind(
    _ request: STUNMessage, _ number: Int, now: Timestamp, into out: inout TURNServerOutbox
  ) throws(Refusal) {
    guard let channel = request.channelNumber, Self.channelNumbers.contains(channel),
      let peer = request.xorPeerAddress
    else { throw Refusal(.badRequest) }
    guard self[number].relay(for: peer.ip) != nil else { throw Refusal(.peerAddressFamilyMismatch) }
    guard configuration.isOwn(peer.ip) || configuration.allowsData(to: peer) else { throw Refusal(.forbidden) }
    let limits = configuration.limits
    guard self[number].permit([peer.ip], limit: limits.permissions, now: now) else {
      throw Refusal(.insufficientCapacity)
    }
    if let code = self[number].bind(channel, to: peer, limit: limits.channels, now: now) { throw Refusal(code) }
    succeed(request, to: self[number].client, key: self[number].key, into: &out)
  }

  // MARK: - Answers

  private func succeed(
    _ request: STUNMessage, to client: Route, key: STUNIntegrityKey, lifetime: UInt32? = nil,
    into out: inout TURNServerOutbox
  ) {
    let (header, hasFingerprint) = (request.header, request.hasFingerprint)
    out.datagrams.append(to: client, capacity: 128) { bytes in
      var writer = STUNMessageWriter(
        .success, method: header.method, transactionID: header.transactionID,
        into: bytes._mutatingExtracting(0..<bytes.count))
      if let lifetime { writer.write(.lifetime, lifetime) }
      return writer.finish(key: key, hasFingerprint: hasFingerprint)
    }
  }

  private mutating func refuse(
    _ code: STUNErrorCode, _ request: STUNMessage, to client: Route, key: STUNIntegrityKey?, now: Timestamp,
    into out: inout TURNServerOutbox
  ) {
    let header = request.header
    let unknown = code == .unknownAttribute ? request.unknownTURNAttributes : []
    // The client needs realm and nonce for its next try (RFC 8489 §9.2.4).
    let nonce = code == .unauthenticated || code == .staleNonce ? nonces.nonce(of: client.remote, now: now) : nil
    refuse(
      code, header.method, header.transactionID, to: client, key: key, hasFingerprint: request.hasFingerprint,
      unknown: unknown, nonce: nonce, into: &out)
  }

  mutating func refuse(
    _ code: STUNErrorCode, _ method: STUNMethod, _ id: STUNTransactionID, to client: Route, key: STUNIntegrityKey?,
    hasFingerprint: Bool, unknown: [STUNAttributeType] = [], nonce: [UInt8]? = nil, into out: inout TURNServerOutbox
  ) {
    counters.count(code)
    let realm = Array(configuration.realm.utf8.prefix(127))
    out.datagrams.append(to: client, capacity: 512) { bytes in
      var writer = STUNMessageWriter(
        .error, method: method, transactionID: id, into: bytes._mutatingExtracting(0..<bytes.count))
      writer.write(code)
      if !unknown.isEmpty { writer.writeUnknownAttributes(unknown) }
      if let nonce {
        writer.write(.realm, realm.span)
        writer.write(.nonce, nonce.span)
      }
      return writer.finish(key: key, hasFingerprint: hasFingerprint)
    }
  }
}
