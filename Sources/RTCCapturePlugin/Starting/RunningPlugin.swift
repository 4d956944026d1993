import RTCMedia

/// A plugin that was started, in this process or in another, and pushes into a feed.
protocol RunningPlugin: AnyObject, Sendable {
  /// The format that it announced.
  var format: PluginFormat { get }

  /// Ends it; nothing is taken after this has returned.
  func stop()
}
