import RTCEngine
import RTCPrimitives
import RTCTestKit
import RTCast
import Synchronization
import Testing

/// The output of `RateLog`, and its replay by `RateLogReplay`.
@Suite struct RateLogTests {
  private final class Lines: Sendable {
    let text = Mutex("")
    func take(_ lines: String) { text.withLock { $0 += lines } }
    var all: [Substring] { text.withLock { $0 }.split(separator: "\n") }
  }

  /// A cast on virtual time over a path that shrinks, loses, grows again, and falls silent for a while.
  private static func record(_ algorithm: RateControlAlgorithm, seed: UInt64) throws -> [Substring] {
    let lines = Lines()
    let log = try RateLog(now: .zero + .seconds(1_000)) { lines.take($0) }
    var options = PeerPair.Options()
    options.seed = seed
    options.configure = { side, configuration in
      guard side == .offerer else { return }
      configuration.makeEstimator = algorithm.makeEstimator
      configuration.rateLog = log.sink(
        for: "viewer", algorithm, configuration.bitrates, now: .zero + .seconds(1_000))
    }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(
      interval: .milliseconds(40), frameSize: 5_000, keyFrameSize: 20_000, from: pair.now)
    for (rate, loss) in [(3_000, 0.0), (400, 0.0), (400, 0.1), (4_000, 0.01)] {
      var conditions = NetworkConditions.delayed(.milliseconds(25))
      conditions.rate = .kilobitsPerSecond(Int64(rate))
      conditions.loss = loss
      pair.network[pair.mediaDirection] = conditions
      pair.run(for: .seconds(6))
    }
    pair.sender.source = nil
    pair.run(for: .seconds(5))
    log.close()
    return lines.all
  }

  @Test(arguments: RateControlAlgorithm.allCases, [1, 2, 3] as [UInt64])
  func `a recorded cast replays to the same decisions`(algorithm: RateControlAlgorithm, seed: UInt64) throws {
    let lines = try Self.record(algorithm, seed: seed)
    var replay: RateLogReplay?
    var feedbacks = 0
    for (index, text) in lines.enumerated() {
      let line = try #require(try RateLogLine.parse(Array(text.utf8)))
      #expect(line.text == text)
      switch line.content {
      case .opened(let named, let limits, let origin):
        #expect(named == algorithm && origin == 1_000)
        replay = RateLogReplay(named, limits, origin: origin)
      case .entry(let entry):
        if case .feedback = entry { feedbacks += 1 }
        replay?.take(entry, at: line.time, line: index + 1)
      case .dropped: Issue.record("nothing may be missing")
      }
    }
    replay?.end(line: lines.count)
    let done = try #require(replay)
    #expect(done.difference == nil)
    #expect(done.decisions > 0 && feedbacks > 100)
  }

  @Test func `a decision that was changed is found, with its line`() throws {
    var replay: RateLogReplay?
    let lines = try Self.record(.stepped, seed: 1)
    let changed = try #require(lines.lastIndex { $0.contains("\"event\":\"estimate\"") })
    for (index, text) in lines.enumerated() {
      var line = try #require(try RateLogLine.parse(Array(text.utf8)))
      if case .opened(let algorithm, let limits, let origin) = line.content {
        replay = RateLogReplay(algorithm, limits, origin: origin)
      }
      if index == changed, case .entry(.estimate(var estimate)) = line.content {
        estimate.target = .bitsPerSecond(estimate.target.bitsPerSecond + 1)
        line.content = .entry(.estimate(estimate))
      }
      if case .entry(let entry) = line.content { replay?.take(entry, at: line.time, line: index + 1) }
    }
    #expect(replay?.difference?.line == changed + 1)
  }

  @Test func `a decision that was left out is found at the next input`() throws {
    var replay = RateLogReplay(.stepped, BitrateLimits(), origin: 0)
    replay.take(.started(BitrateLimits()), at: .zero, line: 1)
    replay.take(.routeChanged, at: .zero, line: 2)
    #expect(replay.difference?.line == 2)
    #expect(replay.difference?.recorded == nil)
  }

  @Test func `a log that is not written fast enough says what is missing`() throws {
    let gate = Mutex(())
    let lines = Lines()
    var log: RateLog?
    try gate.withLock { _ in
      // The first batch waits for the gate; all others wait behind it.
      log = try RateLog(now: .zero) { text in
        gate.withLock { _ in }
        lines.take(text)
      }
      let sink = log!.sink(for: "viewer", .stepped, BitrateLimits(), now: .zero)
      for number in 0..<RateLog.maximumWeight * 3 { sink(.routeChanged, .zero + .microseconds(Int64(number))) }
    }
    log?.close()
    let entries = lines.all
    let dropped = try entries.map { try RateLogLine.parse(Array($0.utf8)) }
      .reduce(0) { sum, line in if case .dropped(let count)? = line?.content { sum + count } else { sum } }
    #expect(dropped > 0)
    let kept = entries.count { $0.contains("route_changed") }
    #expect(kept + dropped == RateLog.maximumWeight * 3)
  }

  @Test func `nothing is written once the log is closed`() throws {
    let lines = Lines()
    let log = try RateLog(now: .zero) { lines.take($0) }
    let sink = log.sink(for: "viewer", .gcc, BitrateLimits(), now: .zero)
    log.close()
    sink(.routeChanged, .zero)
    log.close()
    #expect(lines.all.count == 1)
  }

  // MARK: Hostile lines

  @Test(
    arguments: [
      ("", "it is not JSON: it is empty"), ("{", "it is not JSON"), ("[]", "it is no object, but a list"),
      (#"{"t_ms":1,"viewer":"a"}"#, "event is missing"),
      (#"{"t_ms":1,"event":"rtt","rtt_ms":1}"#, "viewer is missing"),
      (#"{"viewer":"a","event":"route_changed"}"#, "t_ms is missing"),
      (#"{"t_ms":1e300,"viewer":"a","event":"route_changed"}"#, "t_ms is not what it can be"),
      (#"{"t_ms":1,"viewer":"a","event":"rtt","rtt_ms":-1}"#, "rtt_ms is not what it can be"),
      (#"{"t_ms":1,"viewer":"a","event":"rtt","rtt_ms":null}"#, "rtt_ms is not what it can be"),
      (#"{"t_ms":1,"viewer":"a","event":"loss","expected":5,"lost":6}"#, "lost is not what it can be"),
      (#"{"t_ms":1,"viewer":"a","event":"loss","expected":0.5,"lost":0}"#, "expected is not what it can be"),
      (#"{"t_ms":1,"viewer":"a","event":"remote_maximum","rate_bps":1e18}"#, "rate_bps is not what it can be"),
      (
        #"{"t_ms":1,"viewer":"a","event":"feedback","sent_bytes":0,"in_flight_bytes":0,"queued_bytes":0,"#
          + #""last_sent_ms":0,"packets":[]}"#, "packets is not what it can be"
      ),
      (
        #"{"t_ms":1,"viewer":"a","event":"feedback","sent_bytes":0,"in_flight_bytes":0,"queued_bytes":0,"#
          + #""last_sent_ms":0,"packets":[[1,0,9,"video",null],[1,0,9,"video",null]]}"#,
        "packets[1] is not what it can be"
      ),
      (
        #"{"t_ms":1,"viewer":"a","event":"feedback","sent_bytes":0,"in_flight_bytes":0,"queued_bytes":0,"#
          + #""last_sent_ms":0,"packets":[[1,0,70000,"video",null]]}"#, "packets[0] is not what it can be"
      ),
    ]) func `a line that is none is refused with the reason`(text: String, problem: String)
  {
    let error = #expect(throws: RateLogLineError.self) { try RateLogLine.parse(Array(text.utf8)) }
    #expect(error?.problem.hasPrefix(problem) == true, "\(error?.problem ?? "")")
  }

  @Test func `an event of a later version is passed over`() throws {
    #expect(try RateLogLine.parse(Array(#"{"t_ms":1,"viewer":"a","event":"l4s"}"#.utf8)) == nil)
  }
}
