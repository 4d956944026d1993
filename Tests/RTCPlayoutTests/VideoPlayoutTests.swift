import Dispatch
import FeatureKit
import RTCCodecVPX
import RTCEngine
import RTCMedia
import RTCNet
import RTCPlayout
import RTCPrimitives
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct VideoPlayouts {
  /// A sink that records its calls; waiting for one ends with the stream.
  private final class Screen: VideoSink {
    enum Event: Sendable {
      case picture(PixelSize, luma: UInt8)
      case end
    }
    let events: AsyncStream<Event>
    private let feed: AsyncStream<Event>.Continuation

    init() { (events, feed) = AsyncStream.makeStream() }
    func show(_ frame: VideoFrame) { feed.yield(.picture(frame.size, luma: frame.buffer.bytes(ofPlane: 0)[0])) }
    func videoDidEnd() {
      feed.yield(.end)
      feed.finish()
    }
  }

  /// Grey pictures, each a little lighter.
  private func film(_ count: Int, size: PixelSize = PixelSize(width: 64, height: 48)) throws -> [ReceivedFrame] {
    var settings = VideoEncoderSettings(size: size)
    settings.targetBitrate = .megabitsPerSecond(4)
    let encoder = try VP8Encoder(settings)
    let start = MonotonicClock.now()
    return try (0..<count).compactMap { index -> ReceivedFrame? in
      let picture = encoder.picture
      picture.withMutablePlane(0) { bytes in for place in bytes.indices { bytes[place] = UInt8(40 + index * 4) } }
      let time = start + .milliseconds(Int64(index) * 200)
      let frame = try encoder.encode(EncodeJob(changed: nil, keyFrame: index == 0, captureTime: time, now: time))
      return frame.map {
        ReceivedFrame(
          codec: .vp8, data: $0.data, isKeyFrame: $0.isKeyFrame, timestamp: RTPTimestamp(UInt32(index * 18_000)),
          received: time)
      }
    }
  }

  private static let decoders: [VideoCodec: VideoDecoderFactory] = [.vp8: VP8Decoder.factory]

  @Test(.feature("S4.12")) func `real pictures reach every sink in order, and then its end`() async throws {
    let film = try film(20)
    let playout = try VideoPlayout(decoders: Self.decoders) {}
    let screens = [Screen(), Screen()]
    for screen in screens { playout.add(screen) }
    var iterators = screens.map { $0.events.makeAsyncIterator() }
    for (index, frame) in film.enumerated() {
      playout.receive(frame)
      for screen in iterators.indices {
        guard case .picture(let size, let luma) = await iterators[screen].next() else {
          Issue.record("no picture \(index)")
          return
        }
        #expect(size == PixelSize(width: 64, height: 48) && abs(Int(luma) - (40 + index * 4)) < 6)
      }
    }
    playout.end()
    for screen in iterators.indices {
      guard case .end = await iterators[screen].next() else {
        Issue.record("no end")
        return
      }
    }
    #expect(playout.statistics.framesShown == 20 && playout.statistics.decoderErrors == 0)
    #expect(playout.lastShown?.timestamp == RTPTimestamp(19 * 18_000))
  }

  @Test func `a sink that comes later is given the present picture at once`() async throws {
    let film = try film(1)
    let playout = try VideoPlayout(decoders: Self.decoders) {}
    let first = Screen()
    playout.add(first)
    playout.receive(film[0])
    var events = first.events.makeAsyncIterator()
    _ = await events.next()
    let second = Screen()
    playout.add(second)
    var later = second.events.makeAsyncIterator()
    guard case .picture = await later.next() else {
      Issue.record("no picture")
      return
    }
    playout.end()
    guard case .end = await later.next() else {
      Issue.record("no end")
      return
    }
    let tooLate = Screen()
    playout.add(tooLate)
    var ended = tooLate.events.makeAsyncIterator()
    guard case .end = await ended.next() else {
      Issue.record("no end")
      return
    }
  }

  @Test func `rubbish leads to a request for a key frame`() async throws {
    let film = try film(2)
    let (requests, feed) = AsyncStream.makeStream(of: Void.self)
    let playout = try VideoPlayout(decoders: Self.decoders) { feed.yield() }
    let screen = Screen()
    playout.add(screen)
    var damaged = film[1]
    damaged.data = []
    playout.receive(film[0])
    playout.receive(damaged)
    var iterator = requests.makeAsyncIterator()
    _ = await iterator.next()
    playout.receive(film[0])
    var events = screen.events.makeAsyncIterator()
    for _ in 0..<2 {
      guard case .picture = await events.next() else {
        Issue.record("no picture")
        return
      }
    }
    #expect(playout.statistics.decoderErrors == 1)
  }

  @Test func `what comes while a sink is busy waits, and what is too much costs a key frame`() async throws {
    final class BusyScreen: VideoSink {
      let isBusy: AsyncStream<Void>
      private let feed: AsyncStream<Void>.Continuation
      private let gate = DispatchSemaphore(value: 0)

      init() { (isBusy, feed) = AsyncStream.makeStream() }
      func show(_ frame: VideoFrame) {
        feed.yield()
        gate.wait()
      }
      func videoDidEnd() {}
      func release() { gate.signal() }
    }
    let film = try film(2)
    let (requests, feed) = AsyncStream.makeStream(of: Void.self)
    let playout = try VideoPlayout(decoders: Self.decoders) { feed.yield() }
    let screen = BusyScreen()
    playout.add(screen)
    playout.receive(film[0])
    var busy = screen.isBusy.makeAsyncIterator()
    _ = await busy.next()
    for _ in 0..<400 { playout.receive(film[1]) }
    #expect(playout.statistics.framesReceived == 401 && playout.statistics.framesDropped == 400)
    screen.release()
    var iterator = requests.makeAsyncIterator()
    #expect(await iterator.next() != nil)
    playout.end()
  }

  @Test func `the end comes when nobody holds it any more`() async throws {
    let screen = Screen()
    do {
      let playout = try VideoPlayout(decoders: Self.decoders) {}
      playout.add(screen)
    }
    var events = screen.events.makeAsyncIterator()
    guard case .end = await events.next() else {
      Issue.record("no end")
      return
    }
  }

  @Test func `a recorder gets the pictures as they came, with their size and their steps`() throws {
    final class Taker: EncodedMediaSink {
      let frames = Mutex<[EncodedFrame]>([])
      func take(_ frame: EncodedFrame) { frames.withLock { $0.append(frame) } }
      func take(_ frame: EncodedAudioFrame) {}
    }
    let film = try film(4)
    let taker = Taker()
    let recording = VideoRecording(into: taker)
    recording.receive(film[2])  // before the first key frame
    for frame in film { recording.receive(frame) }
    let taken = taker.frames.withLock { $0 }
    #expect(taken.map(\.data) == film.map(\.data) && taken.map(\.number) == [0, 1, 2, 3])
    #expect(taken.allSatisfy { $0.size == PixelSize(width: 64, height: 48) })
    #expect(taken[3].captureTime - taken[0].captureTime == .milliseconds(600))
  }
}
