import CPulse
import RTCNet
import RTCMedia
import RTCPrimitives

/// One stream of recorded sound, on its connection's thread.
final class PulseRecording {
  enum State {
    case opening
    case running
    case ended(PulseError)
  }

  static let format = AudioFormat.opus
  /// How much sound the server sends at once: 20 ms, in bytes.
  private static let fragmentSize: UInt32 = 48_000 / 50 * 2 * 4

  private(set) var state = State.opening
  /// The device that was asked for.
  let openedDevice: String
  /// Whether the server has moved the stream to another device. Its sound is held back until the owner has decided
  /// whether it may be used: a server that loses an output may give its monitor's streams a microphone.
  private(set) var hasMoved = false
  private var clock = CaptureClock()
  private let connection: PulseConnection
  private let stream: OpaquePointer
  private let deliver: (AudioFrame) -> Void

  /// Begins to open a stream.
  /// - Parameters:
  ///   - index: of the only stream that is recorded of what `device`, an output's monitor, hears; nil: all of it.
  ///   - deliver: gets the sound, from inside the connection's `pump`.
  init(
    _ connection: PulseConnection, device: String, _ purpose: PulsePurpose, ofStream index: UInt32? = nil,
    deliver: @escaping (AudioFrame) -> Void
  ) throws(PulseError) {
    guard let stream = purpose.stream(connection) else { throw connection.lastError }
    if let index, pa_stream_set_monitor_stream(stream, index) < 0 {
      pa_stream_unref(stream)
      throw connection.lastError
    }
    self.connection = connection
    self.stream = stream
    self.deliver = deliver
    openedDevice = device
    let own = Unmanaged.passUnretained(self).toOpaque()
    pa_stream_set_state_callback(stream, streamStateChanged, own)
    pa_stream_set_read_callback(stream, soundArrived, own)
    var flags = PA_STREAM_ADJUST_LATENCY.rawValue | PA_STREAM_AUTO_TIMING_UPDATE.rawValue
    if index == nil {
      pa_stream_set_moved_callback(stream, streamMoved, own)
    } else {
      // PipeWire says that such a stream has moved as soon as it is there. Without the flag it would give it the default
      // microphone when the program's stream ends.
      flags |= PA_STREAM_DONT_MOVE.rawValue
    }
    var buffer = pa_buffer_attr(
      maxlength: .max, tlength: .max, prebuf: .max, minreq: .max, fragsize: Self.fragmentSize)
    if pa_stream_connect_record(stream, device, &buffer, pa_stream_flags_t(rawValue: flags)) < 0 {
      state = .ended(connection.lastError)
    }
  }

  deinit {
    pa_stream_set_state_callback(stream, nil, nil)
    pa_stream_set_read_callback(stream, nil, nil)
    pa_stream_set_moved_callback(stream, nil, nil)
    pa_stream_disconnect(stream)
    pa_stream_unref(stream)
  }

  /// The present device.
  var device: String { pa_stream_get_device_name(stream).map { String(cString: $0) } ?? openedDevice }

  /// Allows the sound of the device to which the server has moved the stream.
  func acceptMove() {
    guard hasMoved else { return }
    hasMoved = false
    clock = CaptureClock()
  }

  fileprivate func noteState() {
    switch pa_stream_get_state(stream) {
    case PA_STREAM_READY: state = .running
    case PA_STREAM_FAILED, PA_STREAM_TERMINATED: state = .ended(connection.lastError)
    default: break
    }
  }

  fileprivate func noteMove() {
    hasMoved = true
    connection.hasDeviceChanges = true
  }

  fileprivate func read() {
    while pa_stream_readable_size(stream) > 0 {
      var data: UnsafeRawPointer?
      var size = 0
      guard pa_stream_peek(stream, &data, &size) == 0, size > 0 else { return }
      let count = size / (MemoryLayout<Float>.size * Self.format.channels)
      // A hole has a size and no data: its time passes.
      guard let data, !hasMoved else {
        clock.skip(count)
        pa_stream_drop(stream)
        continue
      }
      let samples = [Float](unsafeUninitializedCapacity: count * Self.format.channels) { memory, initialized in
        UnsafeMutableRawBufferPointer(memory).copyMemory(
          from: UnsafeRawBufferPointer(start: data, count: memory.count * MemoryLayout<Float>.size))
        initialized = memory.count
      }
      let time = clock.time(ofSamples: count, arrivedAt: MonotonicClock.now(), deviceDelay: deviceDelay)
      pa_stream_drop(stream)
      deliver(AudioFrame(format: Self.format, samples: samples, captureTime: time))
    }
  }

  /// The delay of sound in the device. A monitor has it before the listener does: then it is negative. Nil until the
  /// server has reported it.
  private var deviceDelay: TimeDelta? {
    guard let timing = pa_stream_get_timing_info(stream)?.pointee else { return nil }
    let limit: pa_usec_t = 2_000_000
    return .microseconds(Int64(min(timing.source_usec, limit)) - Int64(min(timing.sink_usec, limit)))
  }
}

// As the connection's: on its thread, and not after the recording was released.

private func recording(_ context: UnsafeMutableRawPointer?) -> PulseRecording {
  Unmanaged<PulseRecording>.fromOpaque(context!).takeUnretainedValue()
}

private func streamStateChanged(_: OpaquePointer?, _ own: UnsafeMutableRawPointer?) { recording(own).noteState() }

private func soundArrived(_: OpaquePointer?, _: Int, _ own: UnsafeMutableRawPointer?) { recording(own).read() }

private func streamMoved(_: OpaquePointer?, _ own: UnsafeMutableRawPointer?) { recording(own).noteMove() }
