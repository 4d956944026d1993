import RTCMedia
import RTCPrimitives
import RTCSrtp
import RTCWire

extension Peer {
  /// Two requests within this time are one: the key frame for the first serves both.
  private static let keyFrameRequestInterval = TimeDelta.milliseconds(100)

  mutating func send(_ frame: EncodedFrame, now: Timestamp, into outbox: inout Outbox) {
    guard isSecured, sender != nil else { return }
    if sender!.enqueue(frame, now: now) {
      pump(now, into: &outbox)
    } else {
      requestKeyFrameFromSource(now, into: &outbox)
    }
  }

  /// Sends what waits, as fast as the pacer allows, and sets its timer for the rest.
  mutating func pump(_ now: Timestamp, into outbox: inout Outbox) {
    timers[.pacer] = .distantFuture
    guard isSecured, sender != nil, let route = ice.selectedRoute else { return }
    while sender!.hasPending {
      guard pacer.maySend(now) else {
        timers[.pacer] = pacer.nextSend()
        return
      }
      let moment = SendMoment(now: now, transportNumber: history.nextNumber)
      let count = outbox.datagrams.append(to: route) { datagram in
        let count = sender!.writeNext(into: &datagram, at: moment)
        guard count > 0 else { return 0 }
        return (try? srtp!.protectRTP(&datagram, count: count)) ?? 0
      }
      history.sent()
      sender!.countSent(bytes: count)
      pacer.sent(bytes: count, now: now)
    }
  }

  /// Tells the source that this viewer needs a key frame, unless it was told a moment ago.
  mutating func requestKeyFrameFromSource(_ now: Timestamp, into outbox: inout Outbox) {
    guard now - keyFrameRequested >= Self.keyFrameRequestInterval else { return }
    keyFrameRequested = now
    outbox.events.append(.keyFrameRequested)
  }

  mutating func announceBitrate(into outbox: inout Outbox) {
    pacer.update(target: bitrate.current, loss: bitrate.lastSecondLoss)
    guard bitrate.current != announcedBitrate else { return }
    announcedBitrate = bitrate.current
    outbox.events.append(.targetBitrateChanged(bitrate.current))
  }
}
