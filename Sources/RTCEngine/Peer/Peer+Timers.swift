import RTCDTLS
import RTCICE
import RTCPrimitives

extension Peer {
  /// Runs every timer that is due. Bounded: a timer that sets itself in the past would otherwise never end.
  mutating func runTimers(_ now: Timestamp, into outbox: inout Outbox) {
    var turns = 0
    while turns < 64, let timer = timers.popDue(now) {
      turns += 1
      run(timer, now: now, into: &outbox)
    }
  }

  private mutating func run(_ timer: PeerTimer, now: Timestamp, into outbox: inout Outbox) {
    switch timer {
    case .ice:
      var events: [ICEEvent] = []
      ice.deadlineReached(now: now, into: &outbox.datagrams, events: &events)
      apply(events, now: now, into: &outbox)
    case .dtls:
      guard let route = ice.selectedRoute,
        let events = dtls?.deadlineReached(now: now, route: route, into: &outbox.datagrams)
      else { return }
      apply(events, now: now, into: &outbox)
    case .pacer: pump(now, into: &outbox)
    case .report: report(now, into: &outbox)
    case .bitrate:
      bitrate.tick()
      announceBitrate(into: &outbox)
      tickAudioBitrates(into: &outbox)
      for index in videos.indices { videos[index].sender?.forgetOld(now) }
      timers[.bitrate] = now + LossBasedBitrate.tick
    case .repair: requestRepairs(now, into: &outbox)
    case .feedback: sendFeedback(now, into: &outbox)
    case .tail: repairTails(now, into: &outbox)
    case .keyFrame: requestDueKeyFrames(now, into: &outbox)
    case .dataChannels: runDataChannels(now, into: &outbox)
    case .connect: end(.timedOut, into: &outbox)
    }
  }
}
