import RTCDTLS
import RTCICE
import RTCPrimitives
import RTCSRTP
import RTCWire

extension Peer {
  /// Classifies a datagram by its first bytes and gives it to its layer.
  mutating func receive(
    _ bytes: inout MutableSpan<UInt8>, route: Route, now: Timestamp, into outbox: inout Outbox
  ) {
    guard !isEnded else { return }
    switch PacketKind(bytes.span) {
    case .stun: receiveStun(bytes.span, route: route, now: now, into: &outbox)
    case .dtls: receiveDtls(bytes.span, route: route, now: now, into: &outbox)
    case .rtp: receiveRTP(&bytes, now: now, into: &outbox)
    case .rtcp: receiveRTCP(&bytes, now: now, into: &outbox)
    case .turnChannel, nil: drops[.unknownKind] += 1
    }
  }

  // MARK: - ICE

  private mutating func receiveStun(
    _ bytes: Span<UInt8>, route: Route, now: Timestamp, into outbox: inout Outbox
  ) {
    var events: [ICEEvent] = []
    ice.receive(bytes, route: route, now: now, into: &outbox.datagrams, events: &events)
    apply(events, now: now, into: &outbox)
  }

  mutating func apply(_ events: [ICEEvent], now: Timestamp, into outbox: inout Outbox) {
    for event in events {
      switch event {
      case .selectedRouteChanged(let route):
        startHandshake(on: route, now: now, into: &outbox)
      case .stateChanged(.disconnected):
        if state == .connected { change(to: .disconnected, into: &outbox) }
      case .stateChanged(.connected):
        if state == .disconnected { change(to: .connected, into: &outbox) }
      case .stateChanged(.failed):
        end(.unreachable, into: &outbox)
      case .stateChanged, .roleChanged: break
      }
    }
    timers[.ice] = isEnded ? .distantFuture : ice.nextDeadline ?? .distantFuture
  }

  // MARK: - DTLS

  private mutating func startHandshake(on route: Route, now: Timestamp, into outbox: inout Outbox) {
    guard dtls != nil else { return }
    apply(dtls!.start(now: now, route: route, into: &outbox.datagrams), now: now, into: &outbox)
    let early = earlyHandshake.datagrams
    earlyHandshake = EarlyHandshake()
    for datagram in early where dtls != nil {
      apply(dtls!.receive(datagram.span, route: route, now: now, into: &outbox.datagrams), now: now, into: &outbox)
    }
  }

  private mutating func receiveDtls(
    _ bytes: Span<UInt8>, route: Route, now: Timestamp, into outbox: inout Outbox
  ) {
    // Only a path that passed an ICE check may take part: anything else could be anybody's.
    guard let reply = ice.selectedRoute, dtls != nil else {
      return earlyHandshake.keep(bytes)
    }
    let events = dtls!.receive(bytes, route: reply, now: now, into: &outbox.datagrams)
    apply(events, now: now, into: &outbox)
  }

  mutating func apply(_ events: [DTLSEvent], now: Timestamp, into outbox: inout Outbox) {
    timers[.dtls] = dtls?.nextDeadline ?? .distantFuture
    for event in events {
      switch event {
      case .connected(let keys): secure(with: keys, now: now, into: &outbox)
      case .closedByPeer: end(.closedRemotely, into: &outbox)
      case .failed(.fingerprintMismatch): end(.fingerprintMismatch, into: &outbox)
      case .failed(let failure): end(.handshakeFailed("\(failure)"), into: &outbox)
      case .data(let packet): receiveData(packet, now: now, into: &outbox)
      }
    }
  }

  private mutating func secure(with keys: SRTPKeys, now: Timestamp, into outbox: inout Outbox) {
    do throws(SRTPError) {
      srtp = try SRTPSession(keys: keys)
      srtpProfile = keys.profile
    } catch {
      end(.handshakeFailed("SRTP keys were refused: \(error)"), into: &outbox)
      return
    }
    timers[.connect] = .distantFuture
    timers[.bitrate] = now + LossBasedBitrate.tick
    timers[.report] = now + .milliseconds(500)
    change(to: .connected, into: &outbox)
    updateDataChannels(now, into: &outbox)
    updateSending(now, into: &outbox)
  }
}

/// The far side's first message often overtakes the answer to our check, or its description: it is kept until a path is
/// proved, and need not be sent again. Browsers with keys that quantum computers cannot break need two datagrams for it.
struct EarlyHandshake {
  /// The message, and the same again; what came last is worth most.
  static let mostDatagrams = 4

  private(set) var datagrams: [[UInt8]] = []

  mutating func keep(_ datagram: Span<UInt8>) {
    if datagrams.count == Self.mostDatagrams { datagrams.removeFirst() }
    datagrams.append([UInt8](copying: datagram))
  }
}
