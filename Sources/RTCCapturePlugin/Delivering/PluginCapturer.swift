import RTCCapture
public import RTCMedia
import RTCNet
import RTCPrimitives

/// The pictures of a plugin. Made by `PluginSource`.
public final class PluginCapturer: VideoCapturer {
  private let core: PluginCore
  private let thread = WorkerThread()

  init(_ core: PluginCore) { self.core = core }

  /// One format: the size of the settings, else the plugin's own, else 1280 × 720, at up to the settings' frame rate.
  public var supportedFormats: [VideoFormat] {
    let size = core.settings.size ?? core.description.size ?? PixelSize(width: 1280, height: 720)
    return [VideoFormat(size: size, frameRates: 0...core.settings.frameRate, pixelFormat: .i420)]
  }

  /// Whether the plugin describes itself as a screencast.
  public var isScreencast: Bool { core.description.isScreencast }

  /// The size is a request: a plugin may deliver another, and change it with each picture. When its sound was started
  /// before, the plugin runs already, as `PluginSettings` wants it.
  public func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    let core = core
    do throws(CaptureError) {
      try thread.startCapture(name: "rtc-plugin-pic") { run in
        Self.deliver(format, of: core, to: consumer, run)
      }
    } catch {
      consumer.captureDidStart(.failure(error))
    }
  }

  /// Ends the pictures; the plugin itself stops when its sound is not in use either.
  public func stopCapture() { thread.stop() }

  private static func deliver(
    _ format: VideoFormat, of core: PluginCore, to consumer: any VideoConsumer, _ run: WorkerRun
  ) {
    let rate = min(format.frameRates.upperBound, core.settings.frameRate)
    let session: PluginCore.Session
    do throws(CaptureError) {
      guard rate > 0 else { throw .unsupportedFormat("A plugin's frame rate must be above 0, not \(rate).") }
      session = try core.join(PluginFormat(size: format.size, frameRate: rate), for: run)
    } catch {
      run.noteEnded()
      if !run.isStopped { consumer.captureDidStart(.failure(error)) }
      return
    }
    defer { core.leave() }
    session.feed.setPictureRun(run)
    defer { session.feed.setPictureRun(nil) }
    let (size, frameRate) = (session.plugin.format.size ?? format.size, session.plugin.format.frameRate)
    if run.isStopped { return }
    consumer.captureDidStart(
      .success(VideoFormat(size: size, frameRates: 0...frameRate, pixelFormat: format.pixelFormat)))
    while !run.isStopped {
      switch session.feed.nextPicture() {
      case .item(let frame): consumer.consume(frame)
      case .nothing: run.wait(until: nil)
      case .ended(let reason):
        run.noteEnded()
        return consumer.captureDidEnd(reason)
      }
    }
  }
}

/// The sound of a plugin. Made by `PluginSource`.
public final class PluginSound: AudioSource {
  private let core: PluginCore
  private let thread = WorkerThread()

  init(_ core: PluginCore) { self.core = core }

  /// Starts the plugin, unless its pictures run already, and delivers its sound; the consumer gets failures.
  public func startCapture(consumer: any AudioConsumer) {
    let core = core
    do throws(CaptureError) {
      try thread.startCapture(name: "rtc-plugin-snd") { run in Self.deliver(core, to: consumer, run) }
    } catch {
      consumer.audioCaptureDidStart(.failure(error))
    }
  }

  /// Ends the sound; the plugin itself stops when its pictures are not in use either.
  public func stopCapture() { thread.stop() }

  private static func deliver(_ core: PluginCore, to consumer: any AudioConsumer, _ run: WorkerRun) {
    let session: PluginCore.Session
    do throws(CaptureError) {
      session = try core.join(
        PluginFormat(size: core.settings.size, frameRate: core.settings.frameRate), for: run)
    } catch {
      run.noteEnded()
      if !run.isStopped { consumer.audioCaptureDidStart(.failure(error)) }
      return
    }
    defer { core.leave() }
    session.feed.setSoundRun(run)
    defer { session.feed.setSoundRun(nil) }
    if run.isStopped { return }
    consumer.audioCaptureDidStart(.success(session.plugin.format.sound))
    while !run.isStopped {
      switch session.feed.nextSound() {
      case .item(let sound): consumer.consume(sound)
      case .nothing: run.wait(until: nil)
      case .ended(let reason):
        run.noteEnded()
        return consumer.audioCaptureDidEnd(reason)
      }
    }
  }
}
