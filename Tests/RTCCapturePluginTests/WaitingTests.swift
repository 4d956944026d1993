import Foundation
import RTCCapturePlugin
import Synchronization
import Testing

@Suite(.serialized) struct WaitingTests {
  @Test func `a push that waits for a slow consumer sleeps until it is its turn`() throws {
    let wakeUps = Mutex<Int?>(nil)
    let earlier = Self.threads()
    let onlooker = Onlooker(onPicture: { number in
      guard number == 0 else { return }
      // The second picture waits, and the third push for its place, while the first is looked at.
      let own = Self.ownThread
      let others = { Self.threads().subtracting(earlier).filter { $0 != own }.map(Activity.init) }
      let limit = ContinuousClock.now + .seconds(10)
      var before = others()
      while before.isEmpty || !before.allSatisfy(\.isAsleep) {
        guard ContinuousClock.now < limit else { return }
        before = others()
      }
      // To look that often takes a tenth of a second and more, in which whoever waits by turns would have woken up each time.
      for _ in 0..<200 { _ = others() }
      let after = others()
      guard after.allSatisfy(\.isAsleep) else { return }
      wakeUps.withLock { $0 = after.map(\.sleeps).reduce(0, +) - before.map(\.sleeps).reduce(0, +) }
    })
    let stage = try Stage(try PluginWorkshop.breaker(), [("do", "good")], onlooker: onlooker)
    stage.start()
    #expect(stage.wait { $0.pictures.count >= 3 })
    stage.stop()
    // A wait that looks after itself now and then is one.
    #expect(wakeUps.withLock { $0 }.map { $0 <= 5 } == true)
  }

  private static var ownThread: Int {
    let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
    return link?.split(separator: "/").last.flatMap { Int($0) } ?? 0
  }

  /// The threads of this process.
  private static func threads() -> Set<Int> {
    Set((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task"))?.compactMap(Int.init) ?? [])
  }

  /// The kernel's figures of a thread.
  private struct Activity {
    var isAsleep = false
    /// How often it has gone to sleep by itself.
    var sleeps = 0

    init(_ thread: Int) {
      let status = (try? String(contentsOfFile: "/proc/self/task/\(thread)/status", encoding: .utf8)) ?? ""
      for line in status.split(separator: "\n") {
        let words = line.split(whereSeparator: \.isWhitespace)
        if words.first == "State:" { isAsleep = words[1] == "S" }
        if words.first == "voluntary_ctxt_switches:" { sleeps = Int(words[1]) ?? 0 }
      }
    }
  }
}
