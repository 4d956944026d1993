import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCast
import Testing

/// Which frames of a relayed stream are kept and decoded for still pictures, and when a key frame is requested for them.
@Suite struct PictureQueueTests {
  private var queue = PictureQueue()
  private var now = Timestamp(nanoseconds: 1_000_000_000_000)

  private mutating func take(key: Bool = false, bytes: Int = 100) {
    now = now + .milliseconds(100)
    queue.take(
      ReceivedFrame(
        codec: .vp8, data: [UInt8](repeating: 0, count: bytes), isKeyFrame: key, timestamp: RTPTimestamp(0),
        received: now),
      now: now)
  }

  private mutating func decode() {
    let (_, number) = queue.next()
    queue.finish(number)
  }

  @Test mutating func `nothing is kept of a stream that nobody looks at`() {
    take(key: true)
    take()
    #expect(!queue.isReady && queue.number == 2 && !queue.isWatched(now))
  }

  @Test mutating func `nothing is requested of a stream without pictures`() {
    let asks = queue.want(now: now)
    #expect(!asks)
  }

  @Test mutating func `the first look requests one key frame, and its picture is current until the next frame`() {
    take()
    let asks = queue.want(now: now)
    let asksAgain = queue.want(now: now + .milliseconds(50))
    #expect(asks && !asksAgain && queue.isAwaiting(now + .seconds(1)) && !queue.isAwaiting(now + .seconds(3)))
    take()
    #expect(!queue.isReady)
    take(key: true)
    #expect(queue.isReady)
    decode()
    #expect(queue.isCurrent && !queue.isReady)
  }

  @Test mutating func `frames that follow are decoded without another key frame`() {
    take()
    _ = queue.want(now: now)
    take(key: true)
    decode()
    for _ in 0..<5 { take() }
    let asks = queue.want(now: now)
    let (frames, number) = queue.next()
    #expect(!asks && frames.count == 5 && number == queue.number)
    queue.finish(number)
    #expect(queue.isCurrent)
  }

  @Test mutating func `a stream that sends more than is kept costs a key frame in ten seconds at most`() {
    take()
    _ = queue.want(now: now)
    take(key: true)
    var asked = 0
    for _ in 0..<300 {
      for _ in 0..<(PictureQueue.mostFrames + 1) {
        now = now - .milliseconds(99)
        take()
      }
      now = now + .milliseconds(100)
      if queue.want(now: now) { asked += 1 }
    }
    // 300 looks in about 48 seconds.
    #expect((3...5).contains(asked))
  }

  @Test mutating func `large frames are not kept either`() {
    take()
    _ = queue.want(now: now)
    take(key: true, bytes: PictureQueue.mostBytes)
    #expect(queue.isReady)
    take(bytes: 1)
    #expect(!queue.isReady)
  }

  @Test mutating func `a key frame replaces what was kept`() {
    take()
    _ = queue.want(now: now)
    take(key: true)
    take()
    take(key: true)
    #expect(queue.next().frames.count == 1)
  }

  @Test mutating func `a stream at rest needs no decoder, and the next change a key frame`() {
    take()
    _ = queue.want(now: now)
    take(key: true)
    #expect(!queue.isAtRest(now + .seconds(60)))
    decode()
    #expect(!queue.isAtRest(now + .seconds(1)) && queue.isAtRest(now + .seconds(20)))
    queue.forget()
    now = now + .seconds(30)
    let asksAtRest = queue.want(now: now)
    #expect(!asksAtRest && queue.isCurrent)
    take()
    let asks = queue.want(now: now)
    #expect(asks)
  }

  @Test mutating func `a picture that is needed in another size is decoded again`() {
    take()
    _ = queue.want(now: now)
    take(key: true)
    decode()
    queue.forget()
    now = now + .seconds(30)
    queue.repeatPicture()
    let asks = queue.want(now: now)
    #expect(asks)
  }

  @Test mutating func `a decoder that refused is given no frames before a key frame`() {
    take()
    _ = queue.want(now: now)
    take(key: true)
    _ = queue.next()
    queue.forget()
    take()
    #expect(!queue.isReady)
    now = now + PictureQueue.keyFrameInterval
    let asks = queue.want(now: now)
    #expect(asks)
  }
}
