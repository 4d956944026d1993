import RTCMedia
import RTCPrimitives
import RTCSRTP
import RTCWire

extension Peer {
  /// The least time between two requests to a source.
  private static let keyFrameRequestInterval = TimeDelta.milliseconds(100)
  /// Packets of one video that leave in a row while others wait: a run is sent by one call.
  private static let maximumRun = 8

  mutating func send(_ frame: EncodedFrame, of id: TransceiverID, now: Timestamp, into outbox: inout Outbox) {
    guard isSecured, let index = video(id), videos[index].isSending else { return }
    if frame.isKeyFrame { videos[index].keyFrameDue = .distantFuture }
    if videos[index].sender!.enqueue(frame, now: now, rate: pacingShare) {
      pump(now, into: &outbox)
    } else if videos[index].sender!.takeKeyFrameWish() {
      requestKeyFrameFromSource(of: index, now, into: &outbox)
    }
  }

  /// What the pacer lets out of one video while all have something to send.
  private var pacingShare: BitRate {
    var count = 0
    for index in videos.indices where videos[index].isActive { count += 1 }
    return count > 1 ? pacer.rate.scaled(by: 1 / Double(count)) : pacer.rate
  }

  /// Sends what waits, as fast as the pacer allows, and sets its timer for the rest.
  mutating func pump(_ now: Timestamp, into outbox: inout Outbox) {
    guard isSecured, let route = ice.selectedRoute, var index = nextPending() else { return }
    timers[.pacer] = .distantFuture
    while true {
      guard pacer.maySend(now) else {
        timers[.pacer] = pacer.nextSend()
        return
      }
      sendPacket(of: index, to: route, now: now, into: &outbox)
      guard let next = nextPending() else { break }
      index = next
    }
    for index in videos.indices where videos[index].sender != nil {
      if videos[index].tail.watched != videos[index].lastMediaSent { watchTail(of: index, now, attempt: 0) }
      if videos[index].sender!.hasDrainedTooLate, videos[index].sender!.takeKeyFrameWish() {
        requestKeyFrameFromSource(of: index, now, into: &outbox)
      }
    }
  }

  /// The video whose turn it is among those that have something to send.
  private mutating func nextPending() -> Int? {
    guard !videos.isEmpty else { return nil }
    if turn.video < videos.count, turn.packets < Self.maximumRun, hasPending(turn.video) {
      turn.packets += 1
      return turn.video
    }
    for offset in 1...videos.count {
      let index = (turn.video + offset) % videos.count
      guard hasPending(index) else { continue }
      turn = (index, 1)
      return index
    }
    return nil
  }

  private func hasPending(_ index: Int) -> Bool { videos[index].isSending && videos[index].sender!.hasPending }

  private mutating func sendPacket(
    of index: Int, to route: Route, now: Timestamp, into outbox: inout Outbox
  ) {
    let moment = DepartureFields(now: now, transportNumber: history.nextNumber)
    var isNew = false
    let count = outbox.datagrams.append(to: route) { datagram in
      switch videos[index].sender!.writeNext(into: &datagram, at: moment) {
      case nil: return 0
      case .again(let number): return videos[index].sentPackets?.write(number, into: &datagram) ?? 0
      case .written(let count, let number):
        guard let protected = try? srtp!.protectRTP(&datagram, count: count) else { return 0 }
        isNew = true
        if videos[index].sentPackets != nil {
          videos[index].sentPackets!.keep(number, datagram.span.extracting(0..<protected))
        }
        return protected
      }
    }
    guard count > 0 else { return }
    videos[index].lastMediaSent = now
    if isNew { history.sent() }
    videos[index].sender!.countSent(bytes: count)
    pacer.sent(bytes: count, now: now)
  }

  // MARK: - The tail

  /// A receiver sees that a packet is missing when a later one comes. After the last one of a picture none may come for
  /// long: what feedback stays silent about is sent again, as TCP does (RFC 8985 §7).
  private mutating func watchTail(of index: Int, _ now: Timestamp, attempt: Int) {
    videos[index].tail.attempts = attempt
    videos[index].tail.watched = videos[index].lastMediaSent
    videos[index].tail.deadline = .distantFuture
    if history.hasFeedback, attempt < Self.maximumTailAttempts {
      let wait = (roundTripTime ?? ice.roundTripTime ?? .zero) + Self.feedbackPatience
      videos[index].tail.deadline = now + wait * Int64(1 << attempt)
    }
    setTailTimer()
  }

  private mutating func setTailTimer() {
    var deadline = Timestamp.distantFuture
    for index in videos.indices { deadline = min(deadline, videos[index].tail.deadline) }
    timers[.tail] = deadline
  }

  mutating func repairTails(_ now: Timestamp, into outbox: inout Outbox) {
    for index in videos.indices where videos[index].tail.deadline <= now {
      videos[index].tail.deadline = .distantFuture
      guard isSecured, videos[index].isSending, !videos[index].sender!.hasTailArrived(history) else { continue }
      let attempt = videos[index].tail.attempts + 1
      videos[index].sender!.repairTail(history, now: now)
      pump(now, into: &outbox)
      watchTail(of: index, now, attempt: attempt)
    }
    setTailTimer()
  }

  /// Feedback comes every 50…250 ms, depending on the far side's mind.
  private static let feedbackPatience = TimeDelta.milliseconds(300)
  private static let maximumTailAttempts = 3

  // MARK: - The source

  /// Begins and ends sending where what was agreed, or the state of the connection, says so.
  mutating func updateSending(_ now: Timestamp, into outbox: inout Outbox) {
    for index in videos.indices {
      let sends = isSecured && videos[index].direction.sends && videos[index].sender != nil
      guard sends != videos[index].isSending else { continue }
      videos[index].isSending = sends
      videos[index].announcedBitrate = .zero
      outbox.events.append(sends ? .sendingStarted(videos[index].id) : .sendingStopped(videos[index].id))
    }
    for index in sounds.indices {
      let sends = isSecured && sounds[index].direction.sends && sounds[index].sender != nil
      if sends != sounds[index].isSending {
        sounds[index].isSending = sends
        sounds[index].forgetWishes()
        outbox.events.append(sends ? .sendingStarted(sounds[index].id) : .sendingStopped(sounds[index].id))
      }
      if let wishes = sounds[index].takeWishes() {
        outbox.events.append(.opusPreferencesChanged(wishes, sounds[index].id))
      }
    }
    announceBitrate(into: &outbox)
    // What begins, or goes on under other numbers, begins with a key frame.
    for index in videos.indices where videos[index].isSending && videos[index].sender!.needsKeyFrame {
      requestKeyFrameFromSource(of: index, now, into: &outbox)
    }
  }

  /// Tells the source that this viewer needs a key frame. When it was told a moment ago, the key frame that is still to come,
  /// or on its way, serves this request too; but who asks again when it should have arrived has lost it, and gets another
  /// as soon as one may be asked for.
  mutating func requestKeyFrameFromSource(of index: Int, _ now: Timestamp, into outbox: inout Outbox) {
    let last = videos[index].keyFrameRequested
    guard now - last < Self.keyFrameRequestInterval else {
      videos[index].keyFrameRequested = now
      videos[index].keyFrameDue = .distantFuture
      outbox.events.append(.keyFrameRequested(videos[index].id))
      return
    }
    let roundTrip = roundTripTime ?? ice.roundTripTime ?? .zero
    guard let sent = videos[index].sender?.keyFrameSent, sent >= last, now - sent >= roundTrip else { return }
    videos[index].keyFrameDue = last + Self.keyFrameRequestInterval
    setKeyFrameTimer()
  }

  /// Asks for those key frames that had to wait.
  mutating func requestDueKeyFrames(_ now: Timestamp, into outbox: inout Outbox) {
    for index in videos.indices where videos[index].keyFrameDue <= now {
      videos[index].keyFrameDue = .distantFuture
      if videos[index].isSending { requestKeyFrameFromSource(of: index, now, into: &outbox) }
    }
    setKeyFrameTimer()
  }

  private mutating func setKeyFrameTimer() {
    var deadline = Timestamp.distantFuture
    for index in videos.indices { deadline = min(deadline, videos[index].keyFrameDue) }
    timers[.keyFrame] = deadline
  }

  /// Shares the target bitrate out: equally, except that what the far side does not want of one goes to the others. Sound
  /// comes first: it has its own rate, and never waits for the pacer.
  mutating func announceBitrate(into outbox: inout Outbox) {
    guard isSecured else { return }
    pacer.update(target: bitrate.current, isNarrow: bitrate.isNarrow)
    let active = videos.indices.filter { videos[$0].isActive }
      .sorted { (videos[$0].ceiling?.bitsPerSecond ?? .max) < (videos[$1].ceiling?.bitsPerSecond ?? .max) }
    var left = bitrate.current.bitsPerSecond
    for (place, index) in active.enumerated() {
      var share = BitRate.bitsPerSecond(left / Int64(active.count - place))
      if let ceiling = videos[index].ceiling { share = min(share, max(ceiling, bitrate.limits.minimum)) }
      left -= share.bitsPerSecond
      guard share != videos[index].announcedBitrate else { continue }
      videos[index].announcedBitrate = share
      outbox.events.append(.targetBitrateChanged(share, videos[index].id))
    }
  }
}
