public import RTCMedia
import RTCPeer
import Synchronization

/// The picture that we send in calls. Any thread.
public final class LocalVideoTrack: Sendable {
  private let track: OutgoingVideoTrack
  private let previews: PreviewSinks
  private let onMuted: @Sendable (Bool) -> Void

  init(_ track: OutgoingVideoTrack, previews: PreviewSinks, onMuted: @escaping @Sendable (Bool) -> Void) {
    self.track = track
    self.previews = previews
    self.onMuted = onMuted
  }

  /// Whether the video is sent. Remote peers are notified of changes; after a pause a key frame follows.
  public var isEnabled: Bool {
    get { track.isEnabled }
    set {
      guard track.isEnabled != newValue else { return }
      track.isEnabled = newValue
      onMuted(!newValue)
    }
  }

  /// Shows the picture as it is captured, whether it is sent or not. The sink is called on the source's thread.
  public func add(_ sink: any VideoSink) { previews.add(sink) }

  /// Hands it no more pictures.
  public func remove(_ sink: any VideoSink) { previews.remove(sink) }
}

/// The sound that we send in calls. Any thread.
public final class LocalAudioTrack: Sendable {
  private let track: OutgoingAudioTrack
  private let onMuted: @Sendable (Bool) -> Void

  init(_ track: OutgoingAudioTrack, onMuted: @escaping @Sendable (Bool) -> Void) {
    self.track = track
    self.onMuted = onMuted
  }

  /// Whether the audio is sent. Remote peers are notified of changes.
  public var isEnabled: Bool {
    get { track.isEnabled }
    set {
      guard track.isEnabled != newValue else { return }
      track.isEnabled = newValue
      onMuted(!newValue)
    }
  }
}

/// The sinks that are shown the captured picture on this side.
package final class PreviewSinks: Sendable {
  private struct State {
    var sinks: [any VideoSink] = []
    var watch: @Sendable (_ isShown: Bool) -> Void = { _ in }
  }

  private let state = Mutex(State())

  func add(_ sink: any VideoSink) { change { $0.append(sink) } }
  func remove(_ sink: any VideoSink) { change { $0.removeAll { $0 === sink } } }
  func show(_ frame: VideoFrame) { for sink in state.withLock({ $0.sinks }) { sink.show(frame) } }

  /// Notifies all sinks that the video has ended. The sinks stay registered for the next source.
  func end() { for sink in state.withLock({ $0.sinks }) { sink.videoDidEnd() } }

  /// Calls `watch` now and at each change, with whether there is a sink. `watch` must not call back.
  func watch(_ watch: @escaping @Sendable (_ isShown: Bool) -> Void) {
    state.withLock { state in
      state.watch = watch
      watch(!state.sinks.isEmpty)
    }
  }

  private func change(_ body: (inout [any VideoSink]) -> Void) {
    state.withLock { state in
      body(&state.sinks)
      state.watch(!state.sinks.isEmpty)
    }
  }
}
