public import RTCEngine
public import RTCMedia
public import RTCNet
public import RTCPrimitives
import Synchronization

/// One incoming video on its way to screens: fed with whole pictures by the connection's thread, it decodes them on a
/// thread of its own and hands each to its sinks at its moment. Ends with `end`, or when nobody holds it any more.
public final class VideoPlayout: Sendable {
  /// A moment of the sender's that is seen at a moment of ours: what lip sync compares.
  public struct Shown: Hashable, Sendable {
    /// At 90 kHz.
    public var timestamp: RTPTimestamp
    public var time: Timestamp
  }

  private let share: VideoPlayoutShare

  /// Starts the decoding thread.
  ///
  /// - Parameters:
  ///   - decoders: what makes a decoder for each codec that is taken; used on that thread only.
  ///   - clock: the one `ReceivedFrame.received` is read from.
  ///   - requestKeyFrame: called on the decoding thread when nothing but a key frame helps; must not wait.
  public init(
    decoders: [VideoCodec: VideoDecoderFactory], clock: @escaping @Sendable () -> Timestamp = { MonotonicClock.now() },
    requestKeyFrame: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    let share = VideoPlayoutShare(event: try WakeEvent(), requestKeyFrame: requestKeyFrame)
    self.share = share
    _ = try NamedThread(name: "decode") {
      VideoPlayoutRun(share, VideoPresenter(decoders: decoders, clock: clock), clock).run()
    }
  }

  deinit { end() }

  // MARK: In

  /// Takes a whole picture; in decoding order, from the connection's thread. Returns at once.
  public func receive(_ frame: ReceivedFrame) { share.receive(frame) }

  /// The sender has paused or muted the video: the time until the next picture is no freeze.
  public func notePause() { share.change { $0.hasPaused = true } }

  /// No picture follows; what waits is not shown any more. The sinks are told soon, on the decoding thread.
  public func end() {
    share.change { door in if case .running = door.life { door.life = .ending } }
  }

  // MARK: Wishes

  /// Shows the video to `sink` as well, the present picture at once. After the end it is told so at once.
  public func add(_ sink: any VideoSink) {
    let isOver = share.change { door in
      if case .ended = door.life { return true }
      door.sinks.append(sink)
      door.newSinks.append(sink)
      return false
    }
    if isOver { sink.videoDidEnd() }
  }

  /// A call that is under way may be the sink's last.
  public func remove(_ sink: any VideoSink) {
    share.change { door in
      door.sinks.removeAll { $0 === sink }
      door.newSinks.removeAll { $0 === sink }
    }
  }

  /// Added to the delay that the network asks for, to wait for the sound; 0…2 s.
  public var addedDelay: TimeDelta {
    get { share.look { $0.addedDelay } }
    set { share.change { $0.addedDelay = newValue } }
  }

  // MARK: Reading

  public var statistics: VideoPlayoutStatistics { share.look { $0.statistics } }

  /// What was handed to the sinks last; nil before the first picture.
  public var lastShown: Shown? { share.look { $0.shown } }
}
