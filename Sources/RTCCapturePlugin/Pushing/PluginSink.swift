import RTCMedia

/// Whether a push was taken. Unless it is `taken`, nothing of it may be kept.
enum PushResult: Sendable {
  case taken
  /// There is no room now; the inlet's `noteRoom` reports when there is.
  case busy
  /// Nothing is accepted any more.
  case stopped
}

/// Receives valid pushes of an inlet: the feed of this process, or the channel to another. Any thread; it never waits
/// for a consumer.
protocol PluginSink: AnyObject, Sendable {
  /// - Parameter memory: the borrowed memory that the frame lies in; nil when it is the plugin's own.
  func offer(_ frame: VideoFrame, memory: PluginMemory?) -> PushResult
  func offer(_ sound: AudioFrame) -> PushResult
  /// Memory for a picture to lend; nil when there is none.
  func makeMemory(byteCount: Int) -> PluginMemory?
  func note(_ fault: PluginFault)
  func noteBusy()
  func tell(_ notice: String)
  func end(_ reason: CaptureEnd)
}
