import Glibc
import RTCCaptureFile
import RTCIsolation
import RTCPrimitives
import Synchronization

/// Processes of the probe that read files, and what was said of them.
final class Probe: Sendable {
  /// The processes of the tests that are about something else.
  static let hosts: FileHosts? = Probe("well").hosts

  let hosts: FileHosts
  private let sink: Sink

  private final class Sink: Sendable {
    let sentences = Mutex<[String]>([])
    func take(_ sentence: String) { sentences.withLock { $0.append(sentence) } }
  }

  /// - Parameters:
  ///   - how: see `OddFile` of the probe.
  ///   - silence: how long an answer is waited for.
  ///   - request: how long all answers to a request are waited for.
  ///   - program: in place of the probe.
  init(
    _ how: String, silence: TimeDelta = .seconds(60), request: TimeDelta = .seconds(120), program: String? = nil
  ) {
    var patience = FileHosts.Patience()
    // A machine under test is busy.
    patience.start = .seconds(60)
    patience.silence = silence
    patience.request = request
    let sink = Sink()
    hosts = FileHosts(
      program: ChildProgram(executable: program ?? Self.path, arguments: ["file", how]), patience: patience,
      report: { sink.take($0) })
    self.sink = sink
  }

  var sentences: [String] { sink.sentences.withLock { $0 } }

  /// The program beside the one that runs the tests.
  private static var path: String {
    var room = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &room, room.count)
    let path = String(decoding: room[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return path[..<(path.lastIndex(of: "/") ?? path.endIndex)] + "/PluginHostProbe"
  }
}
