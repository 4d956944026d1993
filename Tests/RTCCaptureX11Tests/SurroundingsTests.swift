import Foundation
import Glibc
import RTCCapture
import RTCCaptureX11
import RTCMedia
import RTCNet
import RTCTestKit
import Testing
import XvfbKit

extension X11CaptureTests {
  @Suite struct SurroundingsTests {
    /// A folder of sockets, as of displays.
    private final class Folder {
      let path = "/tmp/x-\(getpid())-\(UInt32.random(in: 0 ... .max))"
      private var sockets: [Int32] = []

      init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

      deinit {
        for socket in sockets { close(socket) }
        try? FileManager.default.removeItem(atPath: path)
      }

      /// A server that accepts connections and does no more.
      func add(_ number: Int) throws { sockets.append(try UnixSocket(path: "\(path)/X\(number)").listen()) }

      /// The socket of a server that was killed.
      func addDead(_ number: Int) throws { close(try UnixSocket(path: "\(path)/X\(number)").listen()) }
    }

    private func absence(_ finding: CaptureFinding) -> String? {
      if case .nothing(let sentence) = finding { sentence } else { nil }
    }

    @Test func `a display is there when a server accepts its connections`() throws {
      let folder = try Folder()
      let surroundings = try X11Surroundings(X11CaptureOptions(display: ":47"), folder: folder.path)
      #expect(absence(surroundings.find()) == "The X display :47 does not run.")
      try folder.addDead(47)
      try folder.add(5)
      #expect(absence(surroundings.find()) == "The X display :47 does not run. These do: :5.")
      unlink("\(folder.path)/X47")
      try folder.add(47)
      #expect(absence(surroundings.find()) == nil)
      let screen = try X11Surroundings(X11CaptureOptions(display: "unix:47.0"), folder: folder.path)
      #expect(absence(screen.find()) == nil)
    }

    @Test func `a new socket in the folder is reported, also when the folder is made later`() throws {
      let folder = try Folder()
      try FileManager.default.removeItem(atPath: folder.path)
      let surroundings = try X11Surroundings(X11CaptureOptions(display: ":47"), folder: folder.path)
      #expect(absence(surroundings.find()) != nil && !surroundings.takeChanges())
      try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
      #expect(absence(surroundings.find()) != nil && !surroundings.takeChanges())
      try folder.add(47)
      let descriptor = try #require(surroundings.descriptors.first)
      var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      #expect(poll(&ready, 1, 5_000) == 1)
      #expect(surroundings.takeChanges() && !surroundings.takeChanges())
    }

    @Test func `a display that is not on this machine is not looked for in the folder`() throws {
      let folder = try Folder()
      let surroundings = try X11Surroundings(X11CaptureOptions(display: "host.example:0"), folder: folder.path)
      #expect(absence(surroundings.find()) == nil)
    }

    @Test func `a name that is none is refused at once`() {
      for name in ["nonsense", ":", ":x"] {
        #expect(throws: CaptureError.self, "\(name)") { try X11Surroundings(X11CaptureOptions(display: name)) }
      }
    }

    @Test func `the picture comes whenever the display does, and its keys are read before`() async throws {
      let reads = Monitor(0)
      // The number of a display that this test starts later.
      let number = try #require((90...99).first { access("/tmp/.X11-unix/X\($0)", F_OK) != 0 })
      let surroundings = try X11Surroundings(
        X11CaptureOptions(display: ":\(number)"), prepare: { reads.change { $0 += 1 } })
      let capturer = WaitingCapturer(surroundings, hasCursor: true)
      let collector = FrameCollector()
      capturer.startCapture(format: format(fps: 30), consumer: collector)
      defer { capturer.stopCapture() }
      guard case .stalled = await collector.next(), case .success = await collector.started() else {
        Issue.record("not started"); return
      }
      for round in 1...2 {
        let display = try XvfbDisplay(number: number)
        let frame = await collector.frame()
        #expect(frame?.size == PixelSize(width: 640, height: 480) && frame?.damage == nil)
        #expect(reads.withLock { $0 } >= round)
        display.end()
        while let event = await collector.next() { if case .stalled = event { break } }
      }
    }
  }
}
