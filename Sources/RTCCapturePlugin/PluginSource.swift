public import RTCMedia

/// A plugin as a source of pictures, sound, or both.
///
/// By default it runs in this process: without copies and another process, but a crash of the plugin ends the program.
/// Isolated, it runs in a child process, pictures come through shared memory, and the child is restarted when it ends,
/// at most five times a minute, while viewers keep the last picture.
///
/// A plugin that does not return from its entry function or its `start` within 10 s, or from its `stop` within 2 s, is
/// abandoned with a notice: in this process its thread continues as long as the program does, a child process is ended.
public final class PluginSource: Sendable {
  /// The plugin's description, read before it was started.
  public let description: PluginDescription
  private let core: PluginCore
  private let capturer: PluginCapturer?
  private let sound: PluginSound?

  /// Loads the plugin and reads its description; starts nothing.
  ///
  /// - Parameters:
  ///   - path: the shared library; `PluginSearch` finds one by name.
  ///   - isolation: the program that runs it in a child process; nil runs it in this one.
  ///   - onNotice: sentences for the user: the first fault of each kind, the plugin's messages, the ends of its
  ///     process. Called on any thread.
  public convenience init(
    path: String, settings: PluginSettings = PluginSettings(), isolation: PluginHostProgram? = nil,
    onNotice: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(CaptureError) {
    try self.init(
      path: path, settings: settings, isolation: isolation, patience: PluginPatience(), onNotice: onNotice)
  }

  /// - Parameter patience: how long to wait for a plugin that does not return.
  package init(
    path: String, settings: PluginSettings, isolation: PluginHostProgram?, patience: PluginPatience,
    onNotice: @escaping @Sendable (String) -> Void
  ) throws(CaptureError) {
    let starter: PluginCore.Starter
    let report: PluginReport
    if let isolation {
      description = try isolation.describe(path)
      report = PluginReport(name: description.name, onNotice: onNotice)
      starter = { [description, report] wanted, start throws(CaptureError) in
        try IsolatedRun(
          path: path, program: isolation, options: settings.options, description: description, wanted: wanted,
          start: start, report: report, patience: patience)
      }
    } else {
      let library = try PluginLibrary.load(path, patience: patience.start)
      description = library.description
      report = PluginReport(name: description.name, onNotice: onNotice)
      starter = { [report] wanted, start throws(CaptureError) in
        try LocalRun(
          library, options: settings.options, wanted: wanted, sink: FeedSink(start.feed, report), patience: patience,
          connect: { inlet in
            start.feed.setRoom(
              PluginFeed.Room(
                forPicture: { [weak inlet] in inlet?.noteRoom() }, forSound: { [weak inlet] _ in inlet?.noteRoom() }))
          })
      }
    }
    core = PluginCore(description, settings: settings, report: report, patience: patience, starter: starter)
    capturer = description.hasPictures ? PluginCapturer(core) : nil
    sound = description.hasSound ? PluginSound(core) : nil
  }

  /// Pictures and sound of the plugin; it runs while either is used.
  public var source: MediaSource { MediaSource(video: capturer, audio: sound) }

  /// Since this was made. Any thread.
  public var statistics: PluginStatistics { core.report.statistics }
}
