import RTCMedia

/// The sink of a plugin in this process: the feed itself.
final class FeedSink: PluginSink {
  private let feed: PluginFeed
  private let report: PluginReport

  init(_ feed: PluginFeed, _ report: PluginReport) {
    self.feed = feed
    self.report = report
  }

  func offer(_ frame: VideoFrame, memory: PluginMemory?) -> PushResult {
    let result = feed.offer(frame)
    if case .taken = result { report.count { $0.pictures += 1 } }
    return result
  }

  func offer(_ sound: AudioFrame) -> PushResult {
    let result = feed.offer(sound)
    if case .taken = result { report.count { $0.sounds += 1 } }
    return result
  }

  func makeMemory(byteCount: Int) -> PluginMemory? { PluginMemory.own(byteCount: byteCount) }
  func note(_ fault: PluginFault) { report.note(fault) }
  func noteBusy() { report.count { $0.busy += 1 } }
  func tell(_ notice: String) { report.tell(notice) }
  func end(_ reason: CaptureEnd) { feed.end(reason) }
}
