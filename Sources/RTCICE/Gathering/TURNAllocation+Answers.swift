import RTCPrimitives
import RTCWire

/// The server's answers, and their absence.
extension TURNAllocation {
  /// - Returns: false when the message answers none of our requests.
  mutating func take(
    _ message: STUNMessage, on route: Route, now: Timestamp, into batch: inout DatagramBatch,
    events: inout [CandidateGatherer.Event]
  ) -> Bool {
    switch link.take(message, on: route, now: now) {
    case .ignored: return false
    case .again(let request): send(request.purpose, isReissue: true, now: now, into: &batch)
    case .success(let request): succeeded(request, message, on: route, now: now, into: &batch, events: &events)
    case .error(let request, let code):
      refused(request, code, message, now: now, into: &batch, events: &events)
    case .failed(let request, let failure): gaveUp(request, failure, now: now, into: &batch, events: &events)
    }
    return true
  }

  // MARK: - Success

  private mutating func succeeded(
    _ request: ServerTransaction, _ message: STUNMessage, on route: Route, now: Timestamp,
    into batch: inout DatagramBatch, events: inout [CandidateGatherer.Event]
  ) {
    switch request.purpose {
    case .allocate: granted(message, on: route, now: now, events: &events)
    case .refresh: refreshed(message, now: now, into: &batch, events: &events)
    case .release:
      if case .allocating = phase { allocate(now: now, into: &batch) }
    case .permissions(let ips):
      permissions.grant(ips, now: now)
      releaseHeld(to: ips, isWanted: request.tookDetour, now: now, into: &batch)
    case .channel(let place):
      channels.bound(place, now: now)
      permissions.grant([channels.peer(at: place).ip], now: now)
    case .binding: break
    }
  }

  private mutating func granted(
    _ message: STUNMessage, on route: Route, now: Timestamp, events: inout [CandidateGatherer.Event]
  ) {
    guard case .allocating(let since) = phase else { return }
    let ownServer = link.route.remote.ip
    let relayed = message.xorRelayedAddresses.filter {
      $0.isOfOneHost && (!$0.ip.isLoopback || ownServer.isLoopback)
    }
    guard !relayed.isEmpty else {
      return failed(.malformedAnswer(missing: "a relayed address that can be used"), now: now, events: &events)
    }
    guard let lifetime = message.lifetime, lifetime > 0 else {
      return failed(.malformedAnswer(missing: "a lifetime"), now: now, events: &events)
    }
    var lease = TURNLease(
      relayed: relayed, mapped: message.xorMappedAddress.flatMap { $0.isOfOneHost ? $0 : nil }, local: route.local,
      lifetime: lifetime, answerTime: link.roundTripTime ?? now - since, now: now)
    lease.scheduleRefresh(transport: link.server.transport, unit: link.nextUnit(), now: now)
    phase = .allocated(lease)
    hasSettled = true
    events.append(
      .serverAnswered(id: link.server.id, after: now - since, mapped: lease.mapped, relayed: lease.relayed[0]))
  }

  private mutating func refreshed(
    _ message: STUNMessage, now: Timestamp, into batch: inout DatagramBatch,
    events: inout [CandidateGatherer.Event]
  ) {
    guard case .allocated(var lease) = phase else { return }
    guard let lifetime = message.lifetime, lifetime > 0 else {
      return lose(.allocationLost, now: now, into: &batch, events: &events)
    }
    lease.extend(by: lifetime, now: now)
    lease.scheduleRefresh(transport: link.server.transport, unit: link.nextUnit(), now: now)
    if now - lease.grantedAt >= Self.provenTime { backoff.reset() }
    phase = .allocated(lease)
  }

  // MARK: - Errors

  private mutating func refused(
    _ request: ServerTransaction, _ code: STUNErrorCode, _ message: STUNMessage, now: Timestamp,
    into batch: inout DatagramBatch, events: inout [CandidateGatherer.Event]
  ) {
    let failure = ICEServerFailure(code, reason: message.printableErrorReason)
    switch request.purpose {
    case .allocate:
      if code == .tryAlternate {
        if let failure = link.redirect(by: message) { return failed(failure, now: now, events: &events) }
        send(.allocate, now: now, into: &batch)
      } else if !tryAnotherWay(after: code, now: now, into: &batch) {
        failed(failure, now: now, events: &events)
      }
    case .refresh, .permissions, .channel:
      if code == .allocationMismatch {
        lose(.allocationLost, now: now, into: &batch, events: &events)
      } else if case .permissions(let ips) = request.purpose, ips.count > 1 {
        // One forbidden address fails the whole request (RFC 8656 §10.2).
        for ip in ips { send(.permissions([ip]), isReissue: true, now: now, into: &batch) }
      } else {
        gaveUp(request, failure, now: now, into: &batch, events: &events)
      }
    case .release: gaveUp(request, failure, now: now, into: &batch, events: &events)
    case .binding: break
    }
  }

  /// Asks for something that the server is more likely to grant. False when there is nothing left.
  private mutating func tryAnotherWay(
    after code: STUNErrorCode, now: Timestamp, into batch: inout DatagramBatch
  ) -> Bool {
    switch code {
    case .allocationMismatch where !hasReleasedEarlier:
      hasReleasedEarlier = true
      send(.release, now: now, into: &batch)
    case .addressFamilyNotSupported where !wantsV6Only:
      (wantsV6Only, wantsBothFamilies) = (true, false)
      send(.allocate, now: now, into: &batch)
    case .badRequest, .unknownAttribute, .insufficientCapacity:
      guard wantsBothFamilies else { return false }
      wantsBothFamilies = false
      send(.allocate, now: now, into: &batch)
    default: return false
    }
    return true
  }

  // MARK: - Giving up

  /// A request has come to nothing.
  mutating func gaveUp(
    _ request: ServerTransaction, _ failure: ICEServerFailure, now: Timestamp, into batch: inout DatagramBatch,
    events: inout [CandidateGatherer.Event]
  ) {
    switch request.purpose {
    case .allocate: failed(failure, now: now, events: &events)
    case .release:
      if case .allocating = phase { allocate(now: now, into: &batch) }
    case .refresh: refreshFailed(request, failure, now: now, into: &batch, events: &events)
    case .permissions(let ips):
      if case .noAnswer = failure {
        permissions.giveUp(ips, now: now)
      } else {
        permissions.refuse(ips, now: now)
        releaseHeld(to: ips, isWanted: false, now: now, into: &batch)
      }
    case .channel(let place):
      if case .noAnswer = failure { channels.gaveUp(place) } else { channels.refused(place, now: now) }
    case .binding: break
    }
  }

  private mutating func refreshFailed(
    _ request: ServerTransaction, _ failure: ICEServerFailure, now: Timestamp, into batch: inout DatagramBatch,
    events: inout [CandidateGatherer.Event]
  ) {
    guard case .allocated(var lease) = phase else { return }
    switch failure {
    case .noAnswer, .badIntegrity:
      if lease.heardAt <= request.startedAt { lease.unansweredRefreshes += 1 }
      guard lease.unansweredRefreshes < Self.maximumUnansweredRefreshes, link.server.transport == .udp else {
        return lose(failure, now: now, into: &batch, events: &events)
      }
      lease.refreshAt = now
    case let failure where failure.mayPass:
      lease.refreshAt = now + (lease.expiresAt - now) / 2
    default:
      // It works until it expires; by then the application may have newer credentials.
      lease.isLast = true
      lease.refreshAt = .distantFuture
      events.append(.serverFailed(id: link.server.id, failure))
    }
    phase = .allocated(lease)
  }

  /// There is no allocation, and there was none before.
  private mutating func failed(
    _ failure: ICEServerFailure, now: Timestamp, events: inout [CandidateGatherer.Event]
  ) {
    clear()
    hasSettled = true
    let until = failure.mayPass && canRetry ? now + backoff.next(unit: link.nextUnit()) : .distantFuture
    phase = .waiting(until: until)
    events.append(.serverFailed(id: link.server.id, failure))
  }

  /// The allocation is gone. Another one is asked for at once, if this one has lived for a while.
  mutating func lose(
    _ failure: ICEServerFailure, now: Timestamp, into batch: inout DatagramBatch,
    events: inout [CandidateGatherer.Event]
  ) {
    guard case .allocated(let lease) = phase else { return }
    clear()
    events.append(.serverFailed(id: link.server.id, failure))
    guard failure.mayPass && canRetry || failure == .allocationLost || link.hasRenewed else {
      return phase = .waiting(until: .distantFuture)
    }
    hasReleasedEarlier = false
    if now - lease.grantedAt >= Self.provenTime {
      allocate(now: now, into: &batch)
    } else {
      phase = .waiting(until: now + backoff.next(unit: link.nextUnit()))
    }
  }

  /// A stream without answers is broken: its owner opens another one.
  private var canRetry: Bool { link.server.transport == .udp }
}
