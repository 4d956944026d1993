import RTCCapture
import RTCMedia
import Synchronization

/// One plugin for the two sources made of it: started by the first that starts, stopped by the last that stops.
final class PluginCore: Sendable {
  /// Starts the plugin, which pushes into the feed. Blocks for as long as that takes.
  typealias Starter = @Sendable (PluginFormat, PluginFeed) throws(CaptureError) -> any RunningPlugin

  struct Session: Sendable {
    let feed: PluginFeed
    let plugin: any RunningPlugin
  }

  private struct State {
    var users = 0
    var session: Session?
  }

  let description: PluginDescription
  let settings: PluginSettings
  let report: PluginReport
  private let starter: Starter
  /// Held while the plugin starts and stops, so that neither happens beside the other.
  private let state = Mutex(State())

  init(
    _ description: PluginDescription, settings: PluginSettings, report: PluginReport, starter: @escaping Starter
  ) {
    self.description = description
    self.settings = settings
    self.report = report
    self.starter = starter
  }

  /// Starts the plugin unless it runs. Each success is followed by one `leave`.
  func join(_ wanted: PluginFormat) throws(CaptureError) -> Session {
    let result = state.withLock { state -> Result<Session, CaptureError> in
      if state.users > 0, let session = state.session {
        state.users += 1
        return .success(session)
      }
      let feed = PluginFeed()
      do throws(CaptureError) {
        let session = Session(feed: feed, plugin: try starter(wanted, feed))
        state.session = session
        state.users = 1
        return .success(session)
      } catch {
        feed.close()
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// The session stays known after its end, so that the plugin's late pushes are recognised.
  func leave() {
    state.withLock { state in
      state.users -= 1
      guard state.users == 0, let session = state.session else { return }
      session.feed.close()
      session.plugin.stop()
    }
  }
}
