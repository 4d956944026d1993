import FeatureKit
import RTCCapture
import RTCEngine
import RTCast
import Testing

/// Which algorithm the bitrates of a real call come from: its log replays with that algorithm, decision for decision, and
/// with no other.
@Suite(.timeLimit(.minutes(1)), .serialized) struct RateControlChoiceTests {
  @Test(.feature("S0.44", "S0.45", "S0.46"), arguments: RateControlAlgorithm.allCases)
  func `the algorithm of a call's configuration decides its bitrates`(algorithm: RateControlAlgorithm) async throws {
    let chosen = try CallConfiguration(json: #"{"rateControl": "\#(algorithm.rawValue)"}"#.utf8, file: "call.json")
    let (written, feed) = AsyncStream.makeStream(of: String.self)
    let log = try RateLog { feed.yield($0) }
    try await CallBench.run { bench in
      let alice = try await bench.peer("alice") {
        $0.rateControl = chosen.rateControl
        $0.rateLog = log
      }
      var bob = try await bench.peer("bob")
      try await alice.calls.startVideoRecording(videoCapturer: SyntheticCapturer(pattern: .noise))
      try await alice.calls.sendCallRequest(to: "bob")
      _ = try await bob.waitToRing()
      try await bob.calls.answerCallRequest(accept: true)
      var (replay, lines, feedbacks) = (RateLogReplay?.none, 0, 0)
      var hasEnded = false
      for await text in written {
        for line in text.split(separator: "\n") {
          lines += 1
          let line = try #require(try RateLogLine.parse(Array(line.utf8)))
          switch line.content {
          case .opened(let named, let limits, let origin):
            #expect(named == algorithm)
            replay = RateLogReplay(algorithm, limits, origin: origin)
          case .entry(let entry):
            if case .feedback = entry { feedbacks += 1 }
            replay?.take(entry, at: line.time, line: lines)
          case .dropped: Issue.record("Nothing may be missing.")
          }
        }
        if feedbacks >= 20, !hasEnded {
          hasEnded = true
          await alice.calls.disconnect()
          log.close()
          feed.finish()
        }
      }
      replay?.end(line: lines)
      let done = try #require(replay)
      #expect(done.difference == nil)
      #expect(done.decisions > 0)
      await bob.calls.disconnect()
    }
  }
}
