package import RTCEngine
import RTCNet
import RTCPeer
package import RTCPrimitives

/// A record of all inputs and decisions of bandwidth estimators, as JSON lines; docs/rtc-log.md describes them, and
/// `rtcast rtc-log` draws and replays them. One log serves any number of connections. Any thread.
public final class RateLog: Sendable {
  private struct Waiting {
    var items: [Item] = []
    /// Entries and the packets in them.
    var weight = 0
    var dropped = 0
    var isClosed = false
  }

  private enum Item {
    case opened(RateControlAlgorithm, BitrateLimits, String, Timestamp)
    case entry(RateLogEntry, String, Timestamp)

    var time: Timestamp {
      switch self {
      case .opened(_, _, _, let time), .entry(_, _, let time): time
      }
    }

    var weight: Int { if case .entry(.feedback(let results, _), _, _) = self { 1 + results.count } else { 1 } }
  }

  /// The maximum that may wait to be written, in entries and packets: about 20 MB. Further entries are dropped, which
  /// the log records.
  package static let maximumWeight = 200_000

  private let waiting: Monitor<Waiting>
  private let thread: NamedThread

  /// - Parameter write: takes whole lines, one or more at a time. Called on a thread of the log's own, so it may wait.
  /// - Throws: when the system gives no thread.
  public convenience init(_ write: @escaping @Sendable (_ lines: String) -> Void) throws {
    try self.init(now: MonotonicClock.now(), write)
  }

  /// - Parameter now: the beginning of the log; times are counted from the last whole second before it.
  package init(now: Timestamp, _ write: @escaping @Sendable (_ lines: String) -> Void) throws(SystemError) {
    let waiting = Monitor(Waiting())
    self.waiting = waiting
    let origin = max(0, now.nanoseconds / 1_000_000_000)
    thread = try NamedThread(name: "rtc-rate-log") {
      while let batch = Self.next(waiting) {
        var text = ""
        for item in batch.items { text += Self.line(item, origin: origin).text + "\n" }
        if batch.dropped > 0 {
          let line = RateLogLine(time: batch.last.since(origin), connection: "", content: .dropped(batch.dropped))
          text += line.text + "\n"
        }
        write(text)
      }
    }
  }

  deinit { close() }

  /// Returns when all entries so far are written; later entries are ignored.
  public func close() {
    waiting.change { $0.isClosed = true }
    thread.join()
  }

  /// Returns a sink for the events of one connection's estimator.
  /// - Parameters:
  ///   - id: the connection's name.
  ///   - algorithm: the estimator's algorithm.
  ///   - limits: the estimator's limits.
  package func sink(
    for id: String, _ algorithm: RateControlAlgorithm, _ limits: BitrateLimits, now: Timestamp
  ) -> RateLogEntry.Sink {
    Self.add(.opened(algorithm, limits, id, now), to: waiting)
    let waiting = waiting
    return { entry, now in Self.add(.entry(entry, id, now), to: waiting) }
  }

  // MARK: - The queue

  private static func add(_ item: Item, to waiting: Monitor<Waiting>) {
    let mustWake = waiting.withLock { waiting in
      guard !waiting.isClosed else { return false }
      guard waiting.weight < maximumWeight, waiting.dropped == 0 else {
        waiting.dropped += 1
        return false
      }
      waiting.items.append(item)
      waiting.weight += item.weight
      return waiting.items.count == 1
    }
    if mustWake { waiting.change { _ in } }
  }

  private struct Batch {
    var items: [Item]
    var dropped: Int
    /// The time of the last item.
    var last: Timestamp
  }

  /// Waits for the next entries; nil once the log is closed and everything was written.
  private static func next(_ waiting: Monitor<Waiting>) -> Batch? {
    waiting.wait(until: nil) { waiting -> Batch?? in
      guard let last = waiting.items.last else { return waiting.isClosed ? .some(nil) : nil }
      let batch = Batch(items: waiting.items, dropped: waiting.dropped, last: last.time)
      waiting.items = []
      (waiting.weight, waiting.dropped) = (0, 0)
      return batch
    } ?? nil
  }

  private static func line(_ item: Item, origin: Int64) -> RateLogLine {
    switch item {
    case .opened(let algorithm, let limits, let id, let time):
      RateLogLine(
        time: time.since(origin), connection: id, content: .opened(algorithm, limits, origin: origin))
    case .entry(let entry, let id, let time):
      RateLogLine(
        time: time.since(origin), connection: id, content: .entry(entry.moved(by: .seconds(-origin))))
    }
  }
}

extension Timestamp {
  /// Counted from `origin`, in seconds of the clock.
  fileprivate func since(_ origin: Int64) -> Timestamp { self - .seconds(origin) }
}

extension RateLogEntry {
  /// A copy at another time.
  func moved(by time: TimeDelta) -> RateLogEntry {
    switch self {
    case .feedback(var results, let activity):
      for index in results.indices { results[index].packet.sendTime += time }
      return .feedback(results, activity.moved(by: time))
    case .deadline(let activity): return .deadline(activity.moved(by: time))
    default: return self
    }
  }
}

extension SendActivity {
  fileprivate func moved(by time: TimeDelta) -> SendActivity {
    var activity = self
    activity.lastSent += time
    return activity
  }
}

extension PeerConnection.Configuration {
  /// The connection's bitrate follows the network by `algorithm`, which `log` takes down.
  mutating func record(_ algorithm: RateControlAlgorithm, in log: RateLog?) {
    rateControl = algorithm
    guard let log else { return }
    let limits = bitrates
    rateLog = { log.sink(for: $0, algorithm, limits, now: MonotonicClock.now()) }
  }
}
