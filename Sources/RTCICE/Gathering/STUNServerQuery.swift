import RTCPrimitives
import RTCWire

/// Learns from one STUN server the address that a NAT assigns to our socket (RFC 8445 §5.1.1.2), and keeps that mapping
/// alive.
///
/// Peers that connect later get the address at once, so the mapping must still exist then: a Binding request is sent
/// every 15…25 s, as NATs forget UDP after 30 s or more (RFC 4787 §4.3 requires 2 min, few devices comply). Without a
/// NAT, no further requests are sent.
struct STUNServerQuery {
  private(set) var link: ServerLink
  let startedAt: Timestamp
  /// The latest answer.
  private(set) var mappedAddress: SocketAddress?
  /// An answer came, or the server failed once.
  private(set) var hasSettled = false
  /// When the server is asked again.
  private(set) var nextAt = Timestamp.distantFuture
  private var answeredAt = Timestamp(nanoseconds: .min)
  private var isFailing = false
  private var backoff = RetryBackoff()

  init(_ server: CandidateGatherer.Server, seed: UInt64, now: Timestamp) {
    link = ServerLink(server, seed: seed)
    startedAt = now
  }

  var nextDeadline: Timestamp { min(nextAt, link.nextDeadline) }

  /// The server has answered its latest request.
  var isHealthy: Bool { mappedAddress != nil && !isFailing }

  /// Whether there is a NAT.
  var isTranslated: Bool { mappedAddress != nil && mappedAddress != link.localAddress?.withoutScope }

  mutating func ask(now: Timestamp, into batch: inout DatagramBatch) {
    guard !link.isUnderWay(.binding) else { return }
    nextAt = .distantFuture
    link.send(.binding, now: now, into: &batch) { _ in }
  }

  /// Another server keeps the same mapping alive.
  mutating func rest(now: Timestamp) { nextAt = now + keepAliveInterval() }

  mutating func take(
    _ message: STUNMessage, on route: Route, now: Timestamp, into batch: inout DatagramBatch,
    events: inout [CandidateGatherer.Event]
  ) {
    switch link.take(message, on: route, now: now) {
    case .ignored: break
    case .again(let request): link.send(request.purpose, isReissue: true, now: now, into: &batch) { _ in }
    case .success: succeed(message, now: now, events: &events)
    case .error(_, .tryAlternate):
      if let failure = link.redirect(by: message) {
        fail(failure, now: now, events: &events)
      } else {
        ask(now: now, into: &batch)
      }
    case .error(_, let code):
      fail(ICEServerFailure(code, reason: message.printableErrorReason), now: now, events: &events)
    case .failed(_, let failure): fail(failure, now: now, events: &events)
    }
  }

  mutating func deadlineReached(
    now: Timestamp, into batch: inout DatagramBatch, events: inout [CandidateGatherer.Event]
  ) {
    for (_, failure) in link.repeatDue(now: now, into: &batch) { fail(failure, now: now, events: &events) }
    if nextAt <= now { ask(now: now, into: &batch) }
  }

  private mutating func succeed(_ message: STUNMessage, now: Timestamp, events: inout [CandidateGatherer.Event]) {
    guard let address = message.xorMappedAddress ?? message.mappedAddress, address.isOfOneHost else {
      return fail(.malformedAnswer(missing: "a mapped address"), now: now, events: &events)
    }
    let isNews = address != mappedAddress || isFailing
    mappedAddress = address
    answeredAt = now
    isFailing = false
    backoff.reset()
    nextAt = isTranslated ? now + keepAliveInterval() : .distantFuture
    if isNews {
      events.append(
        .serverAnswered(id: link.server.id, after: link.roundTripTime ?? now - startedAt, mapped: address, relayed: nil)
      )
    }
    hasSettled = true
  }

  /// The address learned before stays: the NAT may well keep the mapping though the server is gone.
  private mutating func fail(
    _ failure: ICEServerFailure, now: Timestamp, events: inout [CandidateGatherer.Event]
  ) {
    if !isFailing { events.append(.serverFailed(id: link.server.id, failure)) }
    isFailing = true
    hasSettled = true
    nextAt = failure.mayPass ? now + backoff.next(unit: link.nextUnit()) : .distantFuture
  }

  private mutating func keepAliveInterval() -> TimeDelta { .seconds(15 + 10 * link.nextUnit()) }
}

/// When a server that failed is tried again: after 5 s, then each time twice as long up to 5 min, spread by ±20 % so that many
/// clients of one server do not come back together.
struct RetryBackoff {
  private static let first = TimeDelta.seconds(5)
  private static let longest = TimeDelta.seconds(300)

  private var wait = first

  /// - Parameter unit: a random number from 0 up to 1.
  mutating func next(unit: Double) -> TimeDelta {
    defer { wait = min(wait * 2, Self.longest) }
    return .seconds(wait.seconds * (0.8 + 0.4 * unit))
  }

  mutating func reset() { wait = Self.first }
}
