import RTCMedia
import RTCPrimitives
import RTCSrtp
import RTCWire

extension Peer {
  /// Two requests within this time are one: the key frame for the first serves both.
  private static let keyFrameRequestInterval = TimeDelta.milliseconds(100)

  mutating func send(_ frame: EncodedFrame, now: Timestamp, into outbox: inout Outbox) {
    guard isSecured, sender != nil else { return }
    if sender!.enqueue(frame, now: now, rate: pacer.rate) {
      pump(now, into: &outbox)
    } else if sender!.takeKeyFrameWish() {
      requestKeyFrameFromSource(now, into: &outbox)
    }
  }

  /// Sends what waits, as fast as the pacer allows, and sets its timer for the rest.
  mutating func pump(_ now: Timestamp, into outbox: inout Outbox) {
    guard isSecured, sender != nil, sender!.hasPending, let route = ice.selectedRoute else { return }
    timers[.pacer] = .distantFuture
    while sender!.hasPending {
      guard pacer.maySend(now) else {
        timers[.pacer] = pacer.nextSend()
        return
      }
      sendPacket(to: route, now: now, into: &outbox)
    }
    watchTail(now, attempt: 0)
    guard sender!.hasDrainedTooLate, sender!.takeKeyFrameWish() else { return }
    requestKeyFrameFromSource(now, into: &outbox)
  }

  private mutating func sendPacket(to route: Route, now: Timestamp, into outbox: inout Outbox) {
    let moment = SendMoment(now: now, transportNumber: history.nextNumber)
    var isNew = false
    let count = outbox.datagrams.append(to: route) { datagram in
      switch sender!.writeNext(into: &datagram, at: moment) {
      case nil: return 0
      case .again(let number): return sentPackets?.write(number, into: &datagram) ?? 0
      case .written(let count, let number):
        guard let protected = try? srtp!.protectRTP(&datagram, count: count) else { return 0 }
        isNew = true
        if sentPackets != nil { sentPackets!.keep(number, datagram.span.extracting(0..<protected)) }
        return protected
      }
    }
    guard count > 0 else { return }
    lastMediaSent = now
    if isNew { history.sent() }
    sender!.countSent(bytes: count)
    pacer.sent(bytes: count, now: now)
  }

  // MARK: - The tail

  /// A receiver sees that a packet is missing when a later one comes. After the last one of a picture none may come for
  /// long: what feedback stays silent about is sent again, as TCP does (RFC 8985 §7).
  mutating func watchTail(_ now: Timestamp, attempt: Int) {
    tailAttempts = attempt
    guard history.hasFeedback, attempt < Self.maximumTailAttempts else { return }
    let wait = (roundTripTime ?? ice.roundTripTime ?? .zero) + Self.feedbackPatience
    timers[.tail] = now + wait * Int64(1 << attempt)
  }

  mutating func repairTail(_ now: Timestamp, into outbox: inout Outbox) {
    guard isSecured, sender != nil, !sender!.hasTailArrived(history) else { return }
    let attempt = tailAttempts + 1
    sender!.repairTail(history, now: now)
    pump(now, into: &outbox)
    watchTail(now, attempt: attempt)
  }

  /// Feedback comes every 50…250 ms, depending on the far side's mind.
  private static let feedbackPatience = TimeDelta.milliseconds(300)
  private static let maximumTailAttempts = 3

  // MARK: - The source

  /// Tells the source that this viewer needs a key frame, unless it was told a moment ago.
  mutating func requestKeyFrameFromSource(_ now: Timestamp, into outbox: inout Outbox) {
    guard now - keyFrameRequested >= Self.keyFrameRequestInterval else { return }
    keyFrameRequested = now
    outbox.events.append(.keyFrameRequested)
  }

  mutating func announceBitrate(into outbox: inout Outbox) {
    pacer.update(target: bitrate.current, isNarrow: bitrate.isNarrow)
    guard bitrate.current != announcedBitrate else { return }
    announcedBitrate = bitrate.current
    outbox.events.append(.targetBitrateChanged(bitrate.current))
  }
}
