import CPulse
import RTCNet
import RTCMedia
import RTCPrimitives

/// One stream of played sound, on its connection's thread. The server says how much it wants, and gets just that.
final class PulsePlayback {
  enum State {
    case opening
    case running
    case ended(PulseError)
  }

  private static let bytesPerSample = 8
  private static let bytesPerMillisecond = 48 * bytesPerSample
  /// The server's buffer, in milliseconds: short enough for a conversation, long enough for a thread that wakes late.
  private static let shortestBuffer = 40
  /// The maximum for a machine that is always late, in milliseconds.
  private static let longestBuffer = 160
  /// Asked for at once: a block of sound.
  private static let request = 10
  /// The number of gaps within `gapWindow` that are not accidental.
  private static let gapLimit = 3
  private static let gapWindow = TimeDelta.seconds(10)
  /// A server that asks for nothing for so long has put the output to sleep.
  private static let longestPause = TimeDelta.milliseconds(300)

  private(set) var state = State.opening
  /// The output that was asked for; nil for the server's choice.
  let wanted: String?
  private let connection: PulseConnection
  private let stream: OpaquePointer
  private let fill: (_ sampleCount: Int, _ delay: TimeDelta) -> [Float]
  /// In milliseconds.
  private var buffer = PulsePlayback.shortestBuffer
  private var gaps: [Timestamp] = []
  private var hasPlayed = false
  /// When the server last asked, or the stream began to run.
  private var asked = Timestamp.zero

  /// Begins to open a stream.
  /// - Parameter fill: gives the sound, in stereo; called from inside the connection's `pump`.
  init(
    _ connection: PulseConnection, sink: String?, fill: @escaping (_ sampleCount: Int, _ delay: TimeDelta) -> [Float]
  ) throws(PulseError) {
    guard let stream = PulsePurpose.call.stream(connection) else { throw connection.lastError }
    self.connection = connection
    self.stream = stream
    self.fill = fill
    wanted = sink
    let own = Unmanaged.passUnretained(self).toOpaque()
    pa_stream_set_state_callback(stream, playbackStateChanged, own)
    pa_stream_set_write_callback(stream, soundWanted, own)
    pa_stream_set_underflow_callback(stream, playbackRanDry, own)
    pa_stream_set_moved_callback(stream, playbackMoved, own)
    var attributes = attributes
    let flags =
      PA_STREAM_ADJUST_LATENCY.rawValue | PA_STREAM_AUTO_TIMING_UPDATE.rawValue
      | PA_STREAM_INTERPOLATE_TIMING.rawValue
    if pa_stream_connect_playback(stream, sink, &attributes, pa_stream_flags_t(rawValue: flags), nil, nil) < 0 {
      state = .ended(connection.lastError)
    }
  }

  deinit {
    pa_stream_set_state_callback(stream, nil, nil)
    pa_stream_set_write_callback(stream, nil, nil)
    pa_stream_set_underflow_callback(stream, nil, nil)
    pa_stream_set_moved_callback(stream, nil, nil)
    pa_stream_disconnect(stream)
    pa_stream_unref(stream)
  }

  /// The present device; nil until the stream runs.
  var device: String? {
    guard case .running = state else { return nil }
    return pa_stream_get_device_name(stream).map { String(cString: $0) }
  }

  /// The time until which the sound lasts if the server requests no more; nil while the stream does not run.
  var heardUntil: Timestamp? {
    guard case .running = state else { return nil }
    return asked + Self.longestPause
  }

  /// `prebuf`: plays from the first sample on, also after it ran dry.
  private var attributes: pa_buffer_attr {
    pa_buffer_attr(
      maxlength: .max, tlength: UInt32(buffer * Self.bytesPerMillisecond), prebuf: 0,
      minreq: UInt32(Self.request * Self.bytesPerMillisecond), fragsize: .max)
  }

  fileprivate func noteState() {
    switch pa_stream_get_state(stream) {
    case PA_STREAM_READY:
      state = .running
      asked = MonotonicClock.now()
      connection.hasDeviceChanges = true
    case PA_STREAM_FAILED, PA_STREAM_TERMINATED: state = .ended(connection.lastError)
    default: break
    }
  }

  fileprivate func noteMove() { connection.hasDeviceChanges = true }

  /// The server had nothing to play for a moment. When that keeps happening, more is held.
  fileprivate func noteGap() {
    guard hasPlayed, buffer < Self.longestBuffer else { return }
    let now = MonotonicClock.now()
    gaps.removeAll { now - $0 > Self.gapWindow }
    gaps.append(now)
    guard gaps.count >= Self.gapLimit else { return }
    gaps = []
    buffer = min(Self.longestBuffer, buffer * 3 / 2)
    var attributes = attributes
    if let operation = pa_stream_set_buffer_attr(stream, &attributes, nil, nil) { pa_operation_unref(operation) }
  }

  fileprivate func write() {
    let size = pa_stream_writable_size(stream)
    // On errors it is the largest number there is.
    guard size != Int(bitPattern: UInt.max) else { return }
    let count = size / Self.bytesPerSample
    guard count > 0 else { return }
    asked = MonotonicClock.now()
    var sound = fill(count, delay)
    // The server gets the requested length, whatever the source returned.
    if sound.count < 2 * count { sound += [Float](repeating: 0, count: 2 * count - sound.count) }
    let isWritten = sound.withUnsafeBytes {
      pa_stream_write(stream, $0.baseAddress, count * Self.bytesPerSample, nil, 0, PA_SEEK_RELATIVE) == 0
    }
    if isWritten { hasPlayed = true } else { state = .ended(connection.lastError) }
  }

  /// The delay of newly written sound.
  private var delay: TimeDelta {
    var microseconds: pa_usec_t = 0
    var isNegative: Int32 = 0
    guard pa_stream_get_latency(stream, &microseconds, &isNegative) == 0 else {
      return .milliseconds(Int64(buffer))
    }
    return isNegative != 0 ? .zero : .microseconds(Int64(min(microseconds, 5_000_000)))
  }
}

// As the connection's: on its thread, and not after the playback was released.

private func playback(_ context: UnsafeMutableRawPointer?) -> PulsePlayback {
  Unmanaged<PulsePlayback>.fromOpaque(context!).takeUnretainedValue()
}

private func playbackStateChanged(_: OpaquePointer?, _ own: UnsafeMutableRawPointer?) { playback(own).noteState() }

private func soundWanted(_: OpaquePointer?, _: Int, _ own: UnsafeMutableRawPointer?) { playback(own).write() }

private func playbackRanDry(_: OpaquePointer?, _ own: UnsafeMutableRawPointer?) { playback(own).noteGap() }

private func playbackMoved(_: OpaquePointer?, _ own: UnsafeMutableRawPointer?) { playback(own).noteMove() }
