import Synchronization

/// Counts a plugin's events and reports them to the user. Any thread.
final class PluginReport: Sendable {
  private let counts = Mutex(PluginStatistics())
  private let onNotice: @Sendable (String) -> Void
  let name: String

  init(name: String, onNotice: @escaping @Sendable (String) -> Void) {
    self.name = name
    self.onNotice = onNotice
  }

  var statistics: PluginStatistics { counts.withLock { $0 } }

  func count(_ change: (inout PluginStatistics) -> Void) { counts.withLock { change(&$0) } }

  func note(_ fault: PluginFault) {
    let isFirst = counts.withLock { counts in
      counts.faults[fault, default: 0] += 1
      return counts.faults[fault] == 1
    }
    if isFirst { onNotice(fault.sentence(plugin: name)) }
  }

  func tell(_ sentence: String) { onNotice(sentence) }
}
