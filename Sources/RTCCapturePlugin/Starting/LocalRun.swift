import CRTCastPlugin
import Glibc
import RTCCapture
import RTCMedia
import RTCNet
import RTCPrimitives

/// A plugin started in this process.
///
/// `@unchecked Sendable`: all properties are constants; `instance` is only ever passed back to the plugin, by `stop`.
@safe
final class LocalRun: RunningPlugin, @unchecked Sendable {
  let format: PluginFormat
  let inlet: PluginInlet
  private let library: PluginLibrary
  private let handle: UInt
  private let instance: UnsafeMutableRawPointer?
  private let sink: any PluginSink
  private let patience: PluginPatience

  /// Starts the plugin on this thread; `connect` gets the inlet before, so that pushes during the start are handled.
  init(
    _ library: PluginLibrary, options: [(key: String, value: String)], wanted: PluginFormat, sink: any PluginSink,
    patience: PluginPatience, connect: (PluginInlet) -> Void
  ) throws(CaptureError) {
    for _ in 0..<library.earlyPushes { sink.note(.beforeStart) }
    let inlet = PluginInlet(library.description, frameRate: wanted.frameRate, sink: sink)
    connect(inlet)
    let handle = HostHandles.add(inlet)
    var request = rtcast_request(wanted)
    var instance: UnsafeMutableRawPointer?
    let status = unsafe CStringPairs.with(options) { options, count in
      unsafe library.start(OpaquePointer(bitPattern: handle), options, count, &request, &instance)
    }
    guard status == Int32(RTCAST_OK) else {
      inlet.close()
      inlet.noteStopped()
      HostHandles.remove(handle)
      let reason = inlet.failure ?? "it gives no reason (status \(status))"
      throw .unavailable("The plugin \(library.description.name) could not start: \(reason)")
    }
    self.library = library
    self.sink = sink
    self.patience = patience
    self.inlet = inlet
    self.handle = handle
    unsafe self.instance = unsafe instance
    format = PluginFormat(request, wanted: wanted)
  }

  // Until here a push after the stop is recognised and counted.
  deinit { HostHandles.remove(handle) }

  /// Stops the plugin on a thread of its own, which is abandoned with a notice if the plugin does not return.
  func stop() {
    let isOver = Monitor(false)
    // So that nothing is accepted from here on, whenever that thread runs.
    inlet.close()
    do throws(SystemError) {
      _ = try NamedThread(name: "rtc-plugin-down") { [self] in
        stop {}
        isOver.change { $0 = true }
      }
    } catch {
      return sink.tell("The plugin \(library.description.name) is not told to stop. \(error)")
    }
    let hasReturned = isOver.wait(until: MonotonicClock.now() + patience.stop) { $0 ? true : nil }
    if hasReturned == nil {
      sink.tell(
        "The plugin \(library.description.name) did not return from its `stop` within \(patience.stop.words); its "
          + "thread is left behind, and its author can mend this. With --isolate its process would be ended.")
    }
  }

  /// `done` is called when the plugin's `stop` has returned: before this returns, unless buffers are still on loan.
  func stop(done: @escaping @Sendable () -> Void) {
    inlet.close()
    unsafe library.halt?(instance)
    inlet.whenIdle { [self] in
      unsafe library.stop(instance)
      inlet.noteStopped()
      done()
    }
  }
}

extension rtcast_request {
  fileprivate init(_ wanted: PluginFormat) {
    self.init()
    struct_size = UInt32(MemoryLayout<rtcast_request>.size)
    width = Int32(wanted.size?.width ?? 0)
    height = Int32(wanted.size?.height ?? 0)
    frames_per_second = wanted.frameRate
    sample_rate = UInt32(wanted.sound.sampleRate)
    channels = UInt32(wanted.sound.channels)
  }
}

extension PluginFormat {
  /// The plugin's answer to `wanted`; invalid numbers are ignored.
  fileprivate init(_ answer: rtcast_request, wanted: PluginFormat) {
    self = wanted
    let size = PixelSize(width: Int(answer.width), height: Int(answer.height))
    if PictureRules.sides.contains(size.width), PictureRules.sides.contains(size.height) { self.size = size }
    let rate = answer.frames_per_second
    if rate.isFinite, rate > 0, rate < wanted.frameRate { frameRate = rate }
    let sound = AudioFormat(sampleRate: Int(answer.sample_rate), channels: Int(answer.channels))
    if SoundRules.rates.contains(sound.sampleRate), SoundRules.channelCounts.contains(sound.channels) {
      self.sound = sound
    }
  }
}

/// Pairs of text as C wants them, for the time of one call.
private enum CStringPairs {
  static func with<Result>(
    _ pairs: [(key: String, value: String)], _ body: (UnsafePointer<rtcast_option>?, UInt32) -> Result
  ) -> Result {
    let options = unsafe pairs.map {
      unsafe rtcast_option(key: UnsafePointer(strdup($0.key)), value: UnsafePointer(strdup($0.value)))
    }
    defer {
      unsafe options.forEach {
        unsafe free(UnsafeMutablePointer(mutating: $0.key))
        unsafe free(UnsafeMutablePointer(mutating: $0.value))
      }
    }
    return unsafe options.withUnsafeBufferPointer { unsafe body($0.baseAddress, UInt32($0.count)) }
  }
}
