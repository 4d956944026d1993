import RTCEngine
import RTCPrimitives
package import RTCast

/// Reads an untrusted rate log, in pieces of any size. Errors are kept with their line numbers; the other lines count.
package struct RateLogReader {
  /// The records of one connection.
  package struct Connection {
    package var series: RateSeries
    package var replay: RateLogReplay
    /// Entries are missing from this line on, so that no replay can be the same.
    package var gap: Int?
    fileprivate var lastTime: Timestamp
  }

  package struct BadLine: Hashable, Sendable {
    /// From 1.
    package var number: Int
    /// Half a sentence.
    package var problem: String
  }

  /// In the order in which they began.
  package private(set) var connections: [Connection] = []
  /// The first bad lines; `badLineCount` is their number.
  package private(set) var badLines: [BadLine] = []
  package private(set) var badLineCount = 0
  package private(set) var lineCount = 0

  /// Longer lines are bad; a feedback speaks of at most 65 535 packets, with at most 64 characters for each.
  package static let longestLine = 4 << 20
  package static let keptBadLines = 10
  private static let maximumConnections = 10_000

  private var splitter = LineSplitter(longestLine: longestLine)
  private var indices: [String: Int] = [:]

  package init() {}

  package mutating func take(_ bytes: some Sequence<UInt8>) {
    for line in splitter.take(bytes) { take(line) }
  }

  /// Ends the input. A last line without a line feed was cut off when its writer ended, unless it is complete.
  package mutating func end() {
    if let line = splitter.end() { take(line) }
    lineCount = splitter.count
    for index in connections.indices where connections[index].gap == nil {
      connections[index].replay.end(line: lineCount)
    }
  }

  private mutating func take(_ line: LineSplitter.Line) {
    lineCount = line.number
    guard let bytes = line.bytes else { return refuse("it is longer than \(Self.longestLine) bytes") }
    do throws(RateLogLineError) {
      guard let parsed = try RateLogLine.parse(bytes) else { return }
      try take(parsed)
    } catch {
      refuse(error.problem)
    }
  }

  private mutating func refuse(_ problem: String) {
    badLineCount += 1
    if badLines.count < Self.keptBadLines { badLines.append(BadLine(number: lineCount, problem: problem)) }
    // Its connection is unknown.
    noteGap()
  }

  private mutating func noteGap() {
    for index in connections.indices where connections[index].gap == nil { connections[index].gap = lineCount }
  }

  private mutating func take(_ parsed: RateLogLine) throws(RateLogLineError) {
    switch parsed.content {
    case .dropped: noteGap()
    case .opened(let algorithm, let limits, let origin):
      guard indices[parsed.connection] == nil else {
        throw RateLogLineError(problem: "the viewer \(parsed.connection.printable) has been opened before")
      }
      guard connections.count < Self.maximumConnections else {
        throw RateLogLineError(problem: "there are more than \(Self.maximumConnections) viewers")
      }
      indices[parsed.connection] = connections.count
      connections.append(
        Connection(
          series: RateSeries(id: parsed.connection, algorithm: algorithm, began: parsed.time),
          replay: RateLogReplay(algorithm, limits, origin: origin), lastTime: parsed.time))
    case .entry(let entry):
      guard let index = indices[parsed.connection] else {
        throw RateLogLineError(problem: "the viewer \(parsed.connection.printable) has not been opened")
      }
      guard parsed.time >= connections[index].lastTime else {
        throw RateLogLineError(problem: "its time lies before that of an earlier line")
      }
      connections[index].lastTime = parsed.time
      connections[index].series.take(entry, at: parsed.time)
      if connections[index].gap == nil { connections[index].replay.take(entry, at: parsed.time, line: lineCount) }
    }
  }
}
