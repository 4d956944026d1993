import RTCCodecVPX
import RTCMedia
import RTCNet
import RTCPrimitives
import RTCast
import Synchronization
import Testing

/// A part of the screen that nobody sees: a picture stage.
private final class Veil: PictureStage {
  private struct State {
    var isDrawn: Bool
    var redraw: @Sendable () -> Void = {}
    /// Whether the last picture had it; nil: there was none.
    var wasDrawn: Bool?
  }

  private let rect: PixelRect
  private let state: Mutex<State>
  private let pool = PixelBufferPool()

  init(_ rect: PixelRect, isDrawn: Bool = true) {
    self.rect = rect
    state = Mutex(State(isDrawn: isDrawn))
  }

  func setRedraw(_ redraw: @escaping @Sendable () -> Void) { state.withLock { $0.redraw = redraw } }

  func draw() {
    let redraw = state.withLock { state in
      state.isDrawn = true
      return state.redraw
    }
    redraw()
  }

  func change(_ picture: VideoFrame) -> VideoFrame {
    let (isDrawn, hasChanged) = state.withLock { state in
      defer { state.wasDrawn = state.isDrawn }
      return (state.isDrawn, state.wasDrawn != state.isDrawn)
    }
    guard isDrawn else { return picture }
    let source = picture.buffer
    let veiled = pool.buffer(source.format, picture.size) { plane, bytes, stride in
      let pixels = source.bytes(ofPlane: plane)
      for row in 0..<picture.size.height {
        for byte in 0..<picture.size.width * 4 {
          let isVeiled =
            (rect.x..<rect.x + rect.width).contains(byte / 4) && (rect.y..<rect.y + rect.height).contains(row)
          bytes[row * stride + byte] = isVeiled ? 0 : pixels[row * source.stride(ofPlane: plane) + byte]
        }
      }
    }
    return VideoFrame(
      buffer: veiled!, captureTime: picture.captureTime, damage: picture.damage.map { hasChanged ? $0 + [rect] : $0 },
      colorSpace: picture.colorSpace)
  }
}

/// A picture stage acts before everything that reads pictures.
@Suite(.timeLimit(.minutes(1))) struct VeilTests {
  private static let size = PixelSize(width: 64, height: 48)
  private static let left = PixelRect(x: 0, y: 0, width: 32, height: 48)

  /// Hands on what a recording gets.
  private final class Recorder: EncodedMediaSink {
    let frames: AsyncStream<EncodedFrame>
    private let feed: AsyncStream<EncodedFrame>.Continuation
    init() { (frames, feed) = AsyncStream.makeStream() }
    func take(_ frame: EncodedFrame) { feed.yield(frame) }
    func take(_ frame: EncodedAudioFrame) {}
  }

  /// The luma in the left and in the right half, of a picture that differs from `before`.
  private func halves(
    _ recorder: Recorder, _ decoder: borrowing VP8Decoder, besides before: (Int, Int)? = nil
  ) async throws -> (Int, Int) {
    var iterator = recorder.frames.makeAsyncIterator()
    while let frame = await iterator.next() {
      guard let picture = try decoder.decode(frame.data) else { continue }
      let row = 24 * picture.stride(ofPlane: 0)
      let halves = (Int(picture.bytes(ofPlane: 0)[row + 8]), Int(picture.bytes(ofPlane: 0)[row + 56]))
      if before.map({ abs($0.0 - halves.0) > 30 }) ?? true { return halves }
    }
    Issue.record("the recording ended")
    return (0, 0)
  }

  private func broadcast(_ source: HandCapturer, _ stages: [any PictureStage], on peers: PeerLoop) -> Broadcast {
    var options = Broadcast.Options()
    options.pictureStages = stages
    return Broadcast(source, options: options, peers: peers)
  }

  @Test func `a veil hides its part from viewers, recordings and snapshots`() async throws {
    let peers = try PeerLoop()
    let (source, recorder) = (HandCapturer(size: Self.size, isScreencast: true), Recorder())
    let broadcast = broadcast(source, [Veil(Self.left)], on: peers)
    broadcast.add(recorder)
    try await broadcast.start()
    source.show(200, at: MonotonicClock.now())
    let decoder = try VP8Decoder()
    let seen = try await halves(recorder, decoder)
    #expect(seen.0 < 40 && seen.1 > 150)
    let veiled = try #require(await broadcast.whep.snapshot()).webP
    await broadcast.stop()
    // The snapshot without a veil is another, of one colour.
    let bare = Broadcast(source, peers: peers)
    try await bare.start()
    source.show(200, at: MonotonicClock.now())
    #expect(try #require(await bare.whep.snapshot()).webP != veiled)
    await bare.stop()
    peers.stop()
  }

  @Test func `a veil is drawn at once, although the screen rests`() async throws {
    let peers = try PeerLoop()
    let (source, recorder) = (HandCapturer(size: Self.size, isScreencast: true), Recorder())
    let veil = Veil(Self.left, isDrawn: false)
    let broadcast = broadcast(source, [veil], on: peers)
    broadcast.add(recorder)
    try await broadcast.start()
    source.show(200, at: MonotonicClock.now())
    let decoder = try VP8Decoder()
    let before = try await halves(recorder, decoder)
    #expect(before.0 > 150)
    veil.draw()
    let after = try await halves(recorder, decoder, besides: before)
    #expect(after.0 < 40 && after.1 > 150)
    await broadcast.stop()
    peers.stop()
  }
}
