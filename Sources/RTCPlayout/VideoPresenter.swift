package import RTCEngine
package import RTCMedia
package import RTCPrimitives

/// From coded pictures as they come to pictures as they are seen: when each is decoded, when it is shown, what is left
/// out, and when only a key frame helps. Used by one thread, which does as `step` says; reads no clock but the one given.
///
/// Pictures are decoded a little ahead and wait decoded for their moment. One that comes after a rest is shown at once:
/// there is no motion to keep even.
package final class VideoPresenter {
  /// What to do next.
  package enum Step {
    case show(VideoFrame, timestamp: RTPTimestamp)
    case requestKeyFrame
    /// Nothing before this moment, or before another picture comes.
    case wait(until: Timestamp)
  }

  private enum Progress {
    /// At the beginning, and after an error.
    case awaitingKeyFrame
    /// Pictures come that there is no decoder for.
    case unsupported
    case decoding(any VideoDecoder)
  }

  private struct Ready {
    var frame: VideoFrame
    var timestamp: RTPTimestamp
    var showTime: Timestamp
    var isLate: Bool
  }

  /// Decoded pictures that wait at most: they are large.
  package static let mostReady = 3
  /// Pictures further apart than this make no motion.
  package static let rest = TimeDelta.milliseconds(150)
  /// A picture that waits so much longer than it should is overdue.
  private static let overdue = TimeDelta.milliseconds(200)
  /// However late pictures are, one is shown so often.
  private static let leastRate = TimeDelta.milliseconds(200)
  private static let firstPause = TimeDelta.milliseconds(500)
  private static let longestPause = TimeDelta.seconds(8)

  private let decoders: [VideoCodec: VideoDecoderFactory]
  private let clock: () -> Timestamp
  private var backlog = FrameBacklog()
  private var ready: [Ready] = []
  private var progress = Progress.awaitingKeyFrame
  private var timing: VideoPlayoutTiming
  private var freezeDetector = FreezeDetector()
  private var timeline = CaptureTimeline()
  /// The picture decoded last.
  private var lastDecoded: RTPTimestamp?
  private var lastShown: Timestamp?
  private var keyFrameAsked: Timestamp?
  /// Requests for key frames since a picture was last decoded.
  private var requests = 0
  private var counts = VideoPlayoutStatistics()

  /// - Parameters:
  ///   - decoders: what makes a decoder for each codec that is taken.
  ///   - clock: the one that `ReceivedFrame.received` is read from.
  package init(
    decoders: [VideoCodec: VideoDecoderFactory], timing: VideoPlayoutTiming.Options = VideoPlayoutTiming.Options(),
    clock: @escaping () -> Timestamp
  ) {
    self.decoders = decoders
    self.clock = clock
    self.timing = VideoPlayoutTiming(timing)
  }

  /// Added to the delay that the network asks for, to wait for the sound; 0…2 s.
  package var addedDelay: TimeDelta {
    get { timing.addedDelay }
    set { timing.addedDelay = newValue }
  }

  package var statistics: VideoPlayoutStatistics {
    var result = counts
    result.framesDropped += backlog.dropped
    result.freezes = freezeDetector.freezes
    result.frozen = freezeDetector.frozen
    result.delay = timing.statistics.delay
    result.targetDelay = timing.target
    return result
  }

  /// Takes a whole picture; they come in decoding order.
  package func insert(_ frame: ReceivedFrame) {
    counts.framesReceived += 1
    if let playoutDelay = frame.playoutDelay { timing.requested = playoutDelay }
    timing.noteArrival(frame.timestamp, at: frame.received)
    backlog.append(frame)
  }

  /// The sender has paused or was muted: what comes now is no freeze.
  package func notePause() { freezeDetector.notePause() }

  /// Decodes what there is to decode, one picture a call, and says what to do then. To be called again at once after
  /// anything but `.wait`.
  package func step() -> Step {
    while true {
      let now = clock()
      if let due = takeDue(now) { return due }
      if wantsKeyFrame(now) { return .requestKeyFrame }
      guard ready.count < Self.mostReady, !backlog.isEmpty else { return .wait(until: nextDeadline) }
      dropOverdue(now)
      decode(backlog.removeFirst(), now)
    }
  }

  // MARK: - Showing

  private func takeDue(_ now: Timestamp) -> Step? {
    while let first = ready.first, first.showTime <= now {
      ready.removeFirst()
      let isNewerDue = ready.first.map { $0.showTime <= now } ?? false
      let isStarving = lastShown.map { now - $0 >= Self.leastRate } ?? true
      if isNewerDue || first.isLate && !(ready.isEmpty && backlog.isEmpty), !isStarving {
        counts.framesSkipped += 1
        continue
      }
      lastShown = now
      freezeDetector.noteShown(at: now)
      counts.framesShown += 1
      return .show(first.frame, timestamp: first.timestamp)
    }
    return nil
  }

  private func dropOverdue(_ now: Timestamp) {
    guard let first = backlog.first, now - first.received > timing.target + Self.overdue else { return }
    _ = backlog.dropToNewestKeyFrame()
  }

  // MARK: - Key frames

  private var needsKeyFrame: Bool {
    if case .awaitingKeyFrame = progress, counts.framesReceived > 0 { return true }
    return backlog.needsKeyFrame
  }

  /// Asked for at once, and again while pictures come that cannot be used.
  private func wantsKeyFrame(_ now: Timestamp) -> Bool {
    guard needsKeyFrame, !backlog.frames.contains(where: \.isKeyFrame) else { return false }
    if let keyFrameAsked, now < keyFrameAsked + requestPause { return false }
    keyFrameAsked = now
    requests += 1
    counts.keyFrameRequests += 1
    return true
  }

  private var requestPause: TimeDelta { min(Self.longestPause, Self.firstPause * Int64(1 << min(6, requests / 3))) }

  private var nextDeadline: Timestamp {
    let shown = ready.first?.showTime ?? .distantFuture
    // A request may be lost, and a screen that rests sends nothing that would remind of it.
    guard needsKeyFrame, let keyFrameAsked else { return shown }
    return min(shown, keyFrameAsked + requestPause)
  }

  // MARK: - Decoding

  private func decode(_ frame: ReceivedFrame, _ now: Timestamp) {
    guard let decoder = decoder(for: frame) else {
      counts.framesDropped += 1
      return
    }
    do throws(VideoDecoderError) {
      let picture = try decoder.decode(frame.data)
      let end = clock()
      requests = 0
      counts.framesDecoded += 1
      if frame.isKeyFrame { counts.keyFramesDecoded += 1 }
      counts.decodeTime = counts.decodeTime + (end - now)
      counts.codec = frame.codec
      timing.noteDecoding(end - now)
      progress = .decoding(decoder)
      if let picture {
        counts.firstDecoded = counts.firstDecoded ?? end
        schedule(picture, of: frame, by: decoder, end)
      }
    } catch {
      counts.decoderErrors += 1
      progress = .awaitingKeyFrame
    }
  }

  /// Nil when the picture cannot be decoded: it is no key frame and one is needed, or the codec is unknown.
  private func decoder(for frame: ReceivedFrame) -> (any VideoDecoder)? {
    if case .decoding(let decoder) = progress, decoder.codec == frame.codec { return decoder }
    guard let make = decoders[frame.codec] else {
      progress = .unsupported
      return nil
    }
    progress = .awaitingKeyFrame
    guard frame.isKeyFrame else { return nil }
    do throws(VideoDecoderError) {
      return try make()
    } catch {
      counts.decoderErrors += 1
      return nil
    }
  }

  /// What the header extension says goes before what the bitstream says. But FFmpeg's decoders, when the bitstream says full
  /// range, hand out limited range and say so.
  private func colorSpace(of frame: ReceivedFrame, by decoder: any VideoDecoder) -> ColorSpace {
    if frame.colorSpace?.range == .full, frame.codec == .h264 || frame.codec == .av1, let own = decoder.colorSpace {
      return own
    }
    return frame.colorSpace ?? decoder.colorSpace ?? .bt601Limited
  }

  private func schedule(_ picture: PixelBuffer, of frame: ReceivedFrame, by decoder: any VideoDecoder, _ now: Timestamp)
  {
    let interval = lastDecoded.map { TimeDelta.nanoseconds(Int64(frame.timestamp.distance(from: $0)) * 100_000 / 9) }
    lastDecoded = frame.timestamp
    counts.size = picture.size
    let decision = timing.schedule(frame.timestamp, now: now)
    var (showTime, isLate) = (decision.showTime, decision.isLate)
    let isHeldBack = timing.requested.map { $0.minimum > .zero } ?? false
    if interval.map({ $0 >= Self.rest || $0 < .zero }) ?? true, !isHeldBack {
      (showTime, isLate) = (max(now, ready.last?.showTime ?? now), false)
    }
    let shown = VideoFrame(
      buffer: picture, captureTime: timeline.time(of: frame), rotation: frame.rotation,
      colorSpace: colorSpace(of: frame, by: decoder))
    isLate = isLate || now - frame.received > timing.target + Self.overdue
    ready.append(Ready(frame: shown, timestamp: frame.timestamp, showTime: showTime, isLate: isLate))
  }
}
