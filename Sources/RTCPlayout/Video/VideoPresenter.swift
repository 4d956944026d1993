package import RTCEngine
package import RTCMedia
package import RTCPrimitives

/// Decides for received frames when each is decoded, when it is shown, which are left out, and when a key frame is
/// needed. It decodes nothing and reads no clock: its owner performs the actions of `step`.
///
/// Frames are decoded a little ahead and wait decoded for their time. A frame after a pause is shown at once, since
/// there is no motion to keep even.
package struct VideoPresenter: Sendable {
  /// The next action.
  package enum Step: Sendable {
    /// Decode it and report to `noteDecoded`. `isFirst`: with a new decoder, for it is the first of its codec or of those
    /// after an error.
    case decode(ReceivedFrame, isFirst: Bool)
    case show(VideoFrame, timestamp: RTPTimestamp)
    case requestKeyFrame
    /// Nothing to do before this time, or before another frame arrives.
    case wait(until: Timestamp)
  }

  /// The result of decoding a frame.
  package enum Outcome: Sendable {
    /// The samples, nil if the frame shows nothing, and their colour space in the bitstream.
    case decoded(PixelBuffer?, ColorSpace?)
    case refused
    /// There is no decoder for the codec.
    case noDecoder
  }

  private enum Progress {
    /// At the beginning, and after an error.
    case awaitingKeyFrame
    /// Frames come that there is no decoder for.
    case unsupported
    case decoding(VideoCodec)
  }

  private struct Ready {
    var frame: VideoFrame
    var timestamp: RTPTimestamp
    var showTime: Timestamp
    var isLate: Bool
  }

  /// Decoded frames that wait at most: they are large.
  package static let mostReady = 3
  /// Frames further apart than this make no motion.
  package static let rest = TimeDelta.milliseconds(150)
  /// A frame that waits so much longer than it should is overdue.
  private static let overdue = TimeDelta.milliseconds(200)
  /// However late frames are, one is shown so often.
  private static let leastRate = TimeDelta.milliseconds(200)
  private static let firstPause = TimeDelta.milliseconds(500)
  private static let longestPause = TimeDelta.seconds(8)

  /// The codecs with decoders.
  private let codecs: Set<VideoCodec>
  private var buffer = FrameBuffer()
  private var ready: [Ready] = []
  private var progress = Progress.awaitingKeyFrame
  private var timing: VideoPlayoutTiming
  private var freezeDetector = FreezeDetector()
  private var timeline = CaptureTimeline()
  /// The frame decoded last.
  private var lastDecoded: RTPTimestamp?
  private var lastShown: Timestamp?
  private var keyFrameAsked: Timestamp?
  /// Requests for key frames since a frame was last decoded.
  private var requests = 0
  private var counts = VideoPlayoutStatistics()

  /// - Parameter codecs: what there are decoders for.
  package init(codecs: Set<VideoCodec>, timing: VideoPlayoutTiming.Options = VideoPlayoutTiming.Options()) {
    self.codecs = codecs
    self.timing = VideoPlayoutTiming(timing)
  }

  /// Added to the delay that the network asks for, to wait for the sound; 0…2 s.
  package var addedDelay: TimeDelta {
    get { timing.addedDelay }
    set { timing.addedDelay = newValue }
  }

  package var statistics: VideoPlayoutStatistics {
    var result = counts
    result.framesDropped += buffer.dropped
    result.freezes = freezeDetector.freezes
    result.frozen = freezeDetector.frozen
    result.delay = timing.statistics.delay
    result.targetDelay = timing.target
    return result
  }

  /// Takes a whole frame; they come in decoding order.
  /// - Returns: true when no other waits to be decoded, so that `step` may say otherwise than before.
  package mutating func insert(_ frame: ReceivedFrame) -> Bool {
    defer { buffer.append(frame) }
    counts.framesReceived += 1
    if let playoutDelay = frame.playoutDelay { timing.requested = playoutDelay }
    timing.noteArrival(frame.timestamp, at: frame.received)
    return buffer.isEmpty
  }

  /// The sender has paused or was muted: the gap is not a freeze.
  package mutating func notePause() { freezeDetector.notePause() }

  /// No frame follows: what waits is left out.
  package mutating func removeAll() { buffer.removeAll() }

  /// Says what to do at `now`. To be called again at once when that is done, or at the moment that `.wait` names.
  package mutating func step(_ now: Timestamp) -> Step {
    while true {
      if let due = takeDue(now) { return due }
      if wantsKeyFrame(now) { return .requestKeyFrame }
      guard ready.count < Self.mostReady, !buffer.isEmpty else { return .wait(until: nextDeadline) }
      dropOverdue(now)
      let frame = buffer.removeFirst()
      if let isFirst = prepare(for: frame) { return .decode(frame, isFirst: isFirst) }
      counts.framesDropped += 1
    }
  }

  // MARK: - Showing

  private mutating func takeDue(_ now: Timestamp) -> Step? {
    while let first = ready.first, first.showTime <= now {
      ready.removeFirst()
      let isNewerDue = ready.first.map { $0.showTime <= now } ?? false
      let isStarving = lastShown.map { now - $0 >= Self.leastRate } ?? true
      if isNewerDue || first.isLate && !(ready.isEmpty && buffer.isEmpty), !isStarving {
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

  private mutating func dropOverdue(_ now: Timestamp) {
    guard let first = buffer.first, now - first.received > timing.target + Self.overdue else { return }
    _ = buffer.dropToNewestKeyFrame()
  }

  // MARK: - Key frames

  private var needsKeyFrame: Bool {
    if case .awaitingKeyFrame = progress, counts.framesReceived > 0 { return true }
    return buffer.needsKeyFrame
  }

  /// Asked for at once, and again while frames come that cannot be used.
  private mutating func wantsKeyFrame(_ now: Timestamp) -> Bool {
    guard needsKeyFrame, !buffer.hasKeyFrame else { return false }
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

  /// True when the frame is the first for its decoder; nil when it cannot be decoded: it is no key frame and one is needed,
  /// or the codec is unknown.
  private mutating func prepare(for frame: ReceivedFrame) -> Bool? {
    if case .decoding(let codec) = progress, codec == frame.codec { return false }
    guard codecs.contains(frame.codec) else {
      progress = .unsupported
      return nil
    }
    progress = .awaitingKeyFrame
    return frame.isKeyFrame ? true : nil
  }

  /// The frame that `step` said to decode was, between two moments.
  package mutating func noteDecoded(_ frame: ReceivedFrame, _ outcome: Outcome, began: Timestamp, ended: Timestamp) {
    switch outcome {
    case .decoded(let picture, let colorSpace):
      requests = 0
      counts.framesDecoded += 1
      if frame.isKeyFrame { counts.keyFramesDecoded += 1 }
      counts.decodeTime = counts.decodeTime + (ended - began)
      counts.codec = frame.codec
      timing.noteDecoding(ended - began)
      progress = .decoding(frame.codec)
      guard let picture else { return }
      counts.firstDecoded = counts.firstDecoded ?? ended
      schedule(picture, of: frame, meaning: colorSpace, ended)
    case .refused:
      counts.decoderErrors += 1
      progress = .awaitingKeyFrame
    case .noDecoder:
      counts.decoderErrors += 1
      counts.framesDropped += 1
      progress = .awaitingKeyFrame
    }
  }

  /// The header extension has priority over the bitstream. However, if the bitstream says full range, FFmpeg's decoders
  /// output limited range and say so.
  private static func colorSpace(of frame: ReceivedFrame, own: ColorSpace?) -> ColorSpace {
    if frame.colorSpace?.range == .full, frame.codec == .h264 || frame.codec == .av1, let own { return own }
    return frame.colorSpace ?? own ?? .bt601Limited
  }

  private mutating func schedule(
    _ picture: PixelBuffer, of frame: ReceivedFrame, meaning own: ColorSpace?, _ now: Timestamp
  ) {
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
      colorSpace: Self.colorSpace(of: frame, own: own))
    isLate = isLate || now - frame.received > timing.target + Self.overdue
    ready.append(Ready(frame: shown, timestamp: frame.timestamp, showTime: showTime, isLate: isLate))
  }
}

/// The capture time of each frame, as a viewer can know it: the sender's steps from the arrival of the first one on.
struct CaptureTimeline: Sendable {
  /// Further from its arrival than this, a frame is of another timeline.
  private static let leap = TimeDelta.seconds(3)

  private var last: (timestamp: RTPTimestamp, time: Timestamp)?

  mutating func time(of frame: ReceivedFrame) -> Timestamp {
    var time = frame.received
    if let last {
      let steps = Int64(frame.timestamp.distance(from: last.timestamp))
      let expected = last.time + .nanoseconds(steps * 100_000 / 9)
      if abs((expected - frame.received).nanoseconds) < Self.leap.nanoseconds { time = min(expected, frame.received) }
    }
    last = (frame.timestamp, time)
    return time
  }
}
