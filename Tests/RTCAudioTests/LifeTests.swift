import FeatureKit
import Foundation
import Glibc
import RTCAudio
import RTCMedia
import RTCPrimitives
import Synchronization
import Testing

extension PulseTests {
  @Suite struct LifeTests {
    private func number(ofThreads name: String) -> Int {
      let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
      return tasks.count { task in
        (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)) == name + "\n"
      }
    }

    /// True as soon as there is no thread of that name; a stopped one is gone a moment after it has called its consumer last.
    private func ends(_ name: String) -> Bool {
      let limit = ContinuousClock.now + .seconds(10)
      while number(ofThreads: name) > 0 {
        guard ContinuousClock.now < limit else { return false }
        sched_yield()
      }
      return true
    }

    private func entries(_ path: String) -> Int {
      guard let directory = opendir(path) else { return 0 }
      defer { closedir(directory) }
      var count = 0
      while readdir(directory) != nil { count += 1 }
      return count
    }

    @Test(.feature("S1.22")) func `an absent server is refused with what to do`() throws {
      let collector = SoundCollector()
      let source = PulseAudioSource(.desktop, server: "unix:/nonexistent/pulse/native")
      for attempt in 1...3 {
        source.startCapture(consumer: collector)
        #expect(collector.wait { $0.starts.count == attempt })
      }
      source.stopCapture()
      guard case .failure(.unavailable(let sentence)) = collector.now.starts[0] else {
        Issue.record("not refused"); return
      }
      for word in ["unix:/nonexistent/pulse/native", "PulseAudio", "or PipeWire", "`pactl info`", "PULSE_SERVER"] {
        #expect(sentence.contains(word))
      }
      #expect(throws: CaptureError.unavailable(sentence)) {
        try PulseDevices.list(server: "unix:/nonexistent/pulse/native")
      }
    }

    @Test func `a server that does not answer is given up`() throws {
      var template = Array("/tmp/rtcast-mute-XXXXXX".utf8CString)
      #expect(mkdtemp(&template) != nil)
      let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let path = "\(directory)/native"
      let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      defer {
        close(listener)
        unlink(path)
        rmdir(directory)
      }
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      let isListening = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 && listen(listener, 4) == 0
        }
      }
      #expect(isListening)
      let collector = SoundCollector()
      let source = PulseAudioSource(.desktop, server: "unix:\(path)", startLimit: .milliseconds(300))
      source.startCapture(consumer: collector)
      #expect(collector.wait { !$0.starts.isEmpty })
      source.stopCapture()
      guard case .failure(.unavailable(let sentence)) = collector.now.starts[0] else {
        Issue.record("not refused"); return
      }
      #expect(sentence.contains("does not answer"))
    }

    @Test(.feature("S4.4", "S4.10")) func `started and stopped any number of times, nothing is left behind`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"))
      let source = PulseAudioSource(.desktop, server: server.address)
      func round(hearing: Bool) {
        let collector = SoundCollector()
        source.startCapture(consumer: collector)
        if hearing {
          #expect(collector.wait { !$0.frames.isEmpty })
          #expect(number(ofThreads: "rtc-pulse") == 1)
        }
        source.stopCapture()
        #expect(ends("rtc-pulse"))
        let count = collector.now.frames.count
        source.stopCapture()
        #expect(collector.now.frames.count == count && collector.now.ends.isEmpty)
      }
      round(hearing: true)
      let (threads, files) = (entries("/proc/self/task"), entries("/proc/self/fd"))
      for number in 0..<40 { round(hearing: number % 4 == 0) }
      // Half of one a round: what others of this process open and close meanwhile does not count.
      #expect(entries("/proc/self/task") <= threads + 20)
      #expect(entries("/proc/self/fd") <= files + 20)
    }

    @Test func `a source that runs cannot be started again`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"))
      let source = PulseAudioSource(.desktop, server: server.address)
      let (first, second) = (SoundCollector(), SoundCollector())
      source.startCapture(consumer: first)
      source.startCapture(consumer: second)
      #expect(second.now.starts == [.failure(.alreadyStarted)])
      #expect(first.wait { !$0.frames.isEmpty })
      source.stopCapture()
      #expect(second.now.frames.isEmpty)
    }

    @Test func `a source may be stopped, and started again, from inside a callback`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"))
      let source = PulseAudioSource(.desktop, server: server.address)
      let again = SoundCollector()
      let first = SoundCollector {
        source.stopCapture()
        source.startCapture(consumer: again)
      }
      source.startCapture(consumer: first)
      #expect(again.wait { $0.frames.count > 3 })
      #expect(first.now.frames.count == 1)
      source.stopCapture()
    }
  }
}
