import Dispatch
import RTCCodecVPX
import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCast
import Synchronization
import Testing

/// While an encoder works, only the newest picture waits for it.
@Suite(.timeLimit(.minutes(1))) struct BusyEncoderTests {
  private let size = PixelSize(width: 320, height: 192)

  @Test func `the newest picture takes the place of those before it, with the damage of all`() throws {
    var mailbox = PictureMailbox()
    let desktop = Desktop(size: size)
    let (left, right) = (PixelRect(x: 0, y: 0, width: 8, height: 8), PixelRect(x: 64, y: 0, width: 8, height: 8))
    mailbox.post(try desktop.frame(damage: [left], at: .zero))
    mailbox.post(try desktop.frame(damage: [right], at: .zero + .seconds(1)))
    let taken = mailbox.take()
    let (frame, replaced) = try #require(taken)
    #expect(frame.damage == [left, right] && frame.captureTime == .zero + .seconds(1) && replaced == 1)
    #expect(mailbox.isEmpty)
  }

  @Test func `what is not known to lie upon each other is new as a whole`() throws {
    let damage = [PixelRect(x: 0, y: 0, width: 8, height: 8)]
    let desktop = Desktop(size: size)
    let other = Desktop(size: PixelSize(width: 64, height: 64))
    for (first, second) in [
      (try desktop.frame(damage: nil, at: .zero), try desktop.frame(damage: damage, at: .zero)),
      (try desktop.frame(damage: damage, at: .zero), try desktop.frame(damage: nil, at: .zero)),
      (try other.frame(damage: damage, at: .zero), try desktop.frame(damage: damage, at: .zero)),
    ] {
      var mailbox = PictureMailbox()
      mailbox.post(first)
      mailbox.post(second)
      let taken = mailbox.take()
      #expect(try #require(taken).frame.damage == nil)
    }
  }

  @Test func `a picture that is replaced gives its memory back`() throws {
    let released = Released()
    func picture() -> VideoFrame {
      let memory = UnsafeMutableRawPointer.allocate(byteCount: 64 * 16, alignment: 64)
      let address = UInt(bitPattern: memory)
      let buffer = PixelBuffer(
        format: .bgra, size: PixelSize(width: 16, height: 16), planes: [(UnsafeRawPointer(memory), 64)]
      ) {
        UnsafeMutableRawPointer(bitPattern: address)!.deallocate()
        released.count.add(1, ordering: .relaxed)
      }
      return VideoFrame(buffer: buffer!, captureTime: .zero, colorSpace: .sRGB)
    }
    var mailbox = PictureMailbox()
    for _ in 0..<3 { mailbox.post(picture()) }
    #expect(released.count.load(ordering: .relaxed) == 2)
    mailbox.clear()
    #expect(released.count.load(ordering: .relaxed) == 3)
  }

  /// The source's thread must not wait for whoever works, nor may what it brings meanwhile be lost or overtake.
  @Test func `pictures that come while another is encoded do not wait, and the newest follows it`() async throws {
    let gate = Gate()
    let video = try RunningVideo { InterruptedEncoder($0) { _ in gate.pass() } }
    var desktop = Desktop(size: size)
    let first = try desktop.frame(damage: nil, at: .zero)
    let encoding = Task.detached { video.show(first) }
    await gate.isReached()
    for step in 0..<5 {
      let damage = PixelRect(x: step * 32, y: 16, width: 16, height: 16)
      desktop.draw(damage, 90)
      // Returns at once: the encoder stands at the gate.
      video.show(try desktop.frame(damage: [damage], at: .zero + .milliseconds(Int64(step + 1))))
    }
    #expect(video.outgoing.statistics().framesEncoded == 0)
    gate.open()
    let frames = [await video.next(), await video.next()]
    await encoding.value
    #expect(frames.map(\.isKeyFrame) == [true, false])
    #expect(frames[1].captureTime == .zero + .milliseconds(5))
    let statistics = video.outgoing.statistics()
    #expect(statistics.framesCaptured == 6 && statistics.leftOut.busy == 4)
    video.stop()
    let decoder = try VP8Decoder()
    var shown: PixelBuffer?
    for frame in frames { shown = try decoder.decode(frame.data) }
    let seen = try #require(shown)
    // The damage of all five is in it: what they drew has a luma of 93 throughout.
    for step in 0..<5 {
      let at = 24 * seen.stride(ofPlane: 0) + step * 32 + 8
      #expect(abs(Int(seen.bytes(ofPlane: 0)[at]) - 93) < 20)
    }
  }

  @Test func `a picture that waits when its source ends is not sent`() async throws {
    let gate = Gate()
    let video = try RunningVideo { InterruptedEncoder($0) { _ in gate.pass() } }
    let desktop = Desktop(size: size)
    let first = try desktop.frame(damage: nil, at: .zero)
    let encoding = Task.detached { video.show(first) }
    await gate.isReached()
    video.show(try desktop.frame(damage: nil, at: .zero + .milliseconds(1)))
    video.endSource()
    gate.open()
    await encoding.value
    #expect(video.outgoing.statistics().framesCaptured == 1)
    video.stop()
  }

  private final class Released: Sendable {
    let count = Atomic(0)
  }
}

/// Holds everybody until it is opened.
private final class Gate: Sendable {
  private let reached: AsyncStream<Void>
  private let tell: AsyncStream<Void>.Continuation
  private let opened = DispatchSemaphore(value: 0)

  init() { (reached, tell) = AsyncStream.makeStream() }

  func pass() {
    tell.yield()
    opened.wait()
    opened.signal()
  }

  func isReached() async {
    var iterator = reached.makeAsyncIterator()
    await iterator.next()
  }

  func open() { opened.signal() }
}
