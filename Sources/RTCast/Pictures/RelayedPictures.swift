import RTCEngine
import RTCMedia
import RTCNet
import RTCPrimitives
import RTCSignaling
import Synchronization

/// The still pictures of one relayed stream. Nothing is decoded unless one is asked for. Any thread.
final class RelayedPictures: StreamPictures {
  private struct Request {
    var width: Int
    var deadline: Timestamp
    var continuation: CheckedContinuation<StillPicture?, Never>
  }

  private struct State {
    var queue = PictureQueue()
    /// The newest decoded picture, made small.
    var picture: PixelBuffer?
    /// Its number.
    var number: UInt64 = 0
    /// The picture's files, by width.
    var files: [Int: StillPicture] = [:]
    var requests: [Request] = []
    var isOpen = true
  }

  /// The widths of files: of a tile among many, and of a large one.
  static let widths = [320, 640]
  /// More requests than this at a time get the last picture.
  private static let mostRequests = 64

  private let painter: PicturePainter
  private let makeDecoders: @Sendable () -> [VideoCodec: VideoDecoderFactory]
  /// The factories, made with the first picture.
  private let decoders = Mutex<[VideoCodec: VideoDecoderFactory]?>(nil)
  private let requestKeyFrame: @Sendable () -> Void
  /// Distinguishes this stream from an earlier one of its name.
  private let id: String
  private let state = Mutex(State())

  /// - Parameters:
  ///   - decoders: makes the factories of decoders; called once, when the first still picture is asked for.
  ///   - requestKeyFrame: requests a key frame of the publisher; any thread.
  init(
    painter: PicturePainter, decoders: @escaping @Sendable () -> [VideoCodec: VideoDecoderFactory],
    requestKeyFrame: @escaping @Sendable () -> Void
  ) {
    self.painter = painter
    makeDecoders = decoders
    self.requestKeyFrame = requestKeyFrame
    id = String(UInt32.random(in: 0 ... .max), radix: 36)
  }

  var newest: String? { state.withLock { $0.queue.number > 0 ? tag($0.queue.number) : nil } }

  private func tag(_ number: UInt64) -> String { "\(id)-\(number)" }

  /// A frame of the stream; on the loop.
  func take(_ frame: ReceivedFrame) {
    let isAwaited = state.withLock { state in
      state.queue.take(frame, now: MonotonicClock.now())
      return state.queue.isReady && !state.requests.isEmpty
    }
    if isAwaited { painter.paint(self) }
  }

  func picture(width: Int) async -> StillPicture? {
    let width = Self.widths.first { $0 >= width } ?? Self.widths[Self.widths.count - 1]
    return await withCheckedContinuation { continuation in
      let now = MonotonicClock.now()
      let step = state.withLock { state -> (answer: StillPicture??, asks: Bool) in
        guard state.isOpen, state.queue.number > 0 else { return (.some(nil), false) }
        if state.files[width] == nil, state.picture == nil { state.queue.repeatPicture() }
        let asks = state.queue.want(now: now)
        if state.queue.isCurrent, let file = state.files[width] { return (file, asks) }
        let isMade = state.picture != nil && state.files[width] == nil
        guard state.queue.isReady || isMade || state.queue.isAwaiting(now), state.requests.count < Self.mostRequests
        else {
          return (.some(state.files[width]), asks)
        }
        state.requests.append(
          Request(width: width, deadline: now + PictureQueue.patience, continuation: continuation))
        return (nil, asks)
      }
      if step.asks { requestKeyFrame() }
      painter.paint(self)
      if let answer = step.answer { continuation.resume(returning: answer) }
    }
  }

  /// The stream has ended.
  func end() {
    let requests = state.withLock { state in
      let requests = state.requests
      state = State(isOpen: false)
      return requests
    }
    for request in requests { request.continuation.resume(returning: nil) }
  }

  // MARK: - The painter's thread

  /// Decodes what has come, and answers requests.
  func paint(in workshop: inout PictureWorkshop) {
    let job = state.withLock { state in state.requests.isEmpty ? nil : state.queue.next() }
    guard let job else { return }
    if !job.frames.isEmpty { decode(job.frames, job.number, in: &workshop) }
    let wanted = state.withLock { state -> (PixelBuffer, UInt64, [Int])? in
      guard let picture = state.picture else { return nil }
      let widths = Set(state.requests.map(\.width)).filter { state.files[$0] == nil }
      return widths.isEmpty ? nil : (picture, state.number, Array(widths))
    }
    if let (picture, number, widths) = wanted {
      for width in widths {
        guard let bytes = workshop.encoder.webP(picture, width: width) else { continue }
        let file = StillPicture(webP: bytes, tag: "\(tag(number))-\(width)")
        state.withLock { state in if state.number == number { state.files[width] = file } }
      }
    }
    answer { !$0.queue.isAwaiting(MonotonicClock.now()) }
  }

  private func decode(_ frames: [ReceivedFrame], _ number: UInt64, in workshop: inout PictureWorkshop) {
    let factories = decoders.withLock { known in
      let factories = known ?? makeDecoders()
      known = factories
      return factories
    }
    do throws(VideoDecoderError) {
      let shown = try workshop.decode(frames, of: self, factories)
      let small = shown.flatMap { workshop.encoder.shrink($0, width: Self.widths[Self.widths.count - 1]) }
      state.withLock { state in
        guard state.isOpen else { return }
        state.queue.finish(number)
        guard let small else { return }
        (state.picture, state.number, state.files) = (small, number, [:])
      }
    } catch {
      workshop.release(self)
      state.withLock { $0.queue.forget() }
    }
  }

  /// Answers requests that have waited long enough, and ends a decoder that is not needed.
  /// - Returns: false when no still pictures are asked for any more.
  func look(_ now: Timestamp, _ workshop: inout PictureWorkshop) -> Bool {
    answer { _ in
      true
    } where: {
      $0.deadline <= now
    }
    let (isWatched, isAtRest) = state.withLock { state in
      let (isWatched, isAtRest) = (state.isOpen && state.queue.isWatched(now), state.queue.isAtRest(now))
      if !isWatched || isAtRest { state.queue.forget() }
      if !isWatched { state.picture = nil }
      return (isWatched, isAtRest)
    }
    if !isWatched || isAtRest { workshop.release(self) }
    return isWatched
  }

  private func answer(
    if isTime: (State) -> Bool, where isDue: (Request) -> Bool = { _ in true }
  ) {
    let answers = state.withLock { state -> [(Request, StillPicture?)] in
      guard isTime(state) else { return [] }
      let due = state.requests.filter(isDue)
      state.requests.removeAll(where: isDue)
      return due.map { ($0, state.files[$0.width]) }
    }
    for (request, file) in answers { request.continuation.resume(returning: file) }
  }
}
