import Glibc
import RTCMedia
import RTCTestKit
import RTCWindow
import Testing
import XvfbKit

extension CallWindowTests {
  @Suite struct LifeTests {
    @Test func `the window's close button closes it, says so, and ends the events`() async throws {
      let stage = try await Stage()
      stage.client.askToClose(stage.xWindow)
      #expect(await stage.event() == .closed)
      #expect(await stage.event() == nil)
      #expect(stage.client.shownWindows.isEmpty)
      // Late callers do no harm.
      let video = stage.window.addVideo(name: "alice")
      video.show(TestCard().frame())
      video.videoDidEnd()
      stage.window.setTitle("late")
      await stage.window.close()
    }

    @Test func `keys ask to mute and to close, and full screen comes and goes`() async throws {
      let stage = try await Stage()
      try stage.press("m")
      #expect(await stage.event() == .toggleMicrophone)
      try stage.press("v")
      #expect(await stage.event() == .toggleCamera)
      try stage.press("f")
      #expect(await stage.event() == .fullScreen(true))
      try stage.press("Escape")
      #expect(await stage.event() == .fullScreen(false))
      try stage.press("q")
      #expect(await stage.event() == .closed)
      #expect(await stage.event() == nil)
    }

    @Test func `muting is said in the title`() async throws {
      let stage = try await Stage()
      stage.window.setTitle("Call with alice")
      stage.window.setMuted(microphone: true, camera: true)
      // Titles are written in the order of what is shown and typed.
      try stage.press("m")
      #expect(await stage.event() == .toggleMicrophone)
      #expect(stage.client.title(stage.xWindow) == "Call with alice – microphone off – camera off")
      await stage.window.close()
    }

    @Test func `a second window is refused while the first is open, and can be opened after it`() async throws {
      let stage = try await Stage()
      await #expect(throws: WindowError.alreadyOpen) { try await CallWindow.open(title: "Second") }
      await stage.window.close()
      let second = try await CallWindow.open(title: "Second")
      await second.close()
      await second.close()
    }

    @Test func `a window that nobody holds closes itself`() async throws {
      let display = try openDisplay()
      defer { display.end() }
      var window: CallWindow? = try await CallWindow.open(title: "Alone")
      let events = try #require(window?.events)
      window = nil
      #expect(await events.next() == nil)
    }

    @Test(arguments: [Drawing.byProcessor, .byOpenGL])
    func `opening and closing twenty times leaves no file descriptor open`(_ drawing: Drawing) async throws {
      let display = try openDisplay()
      defer { display.end() }
      var connections = 0
      for turn in 0..<20 {
        let window = try await CallWindow.open(
          title: "Turn \(turn)", size: PixelSize(width: 320, height: 240), drawing: drawing)
        window.addVideo(name: "alice").show(TestCard().frame())
        await window.close()
        // The first turn loads libraries that stay.
        if turn == 1 { connections = openSockets() }
      }
      #expect(openSockets() <= connections)
    }

    @Test func `a window that another program destroys ends with a sentence at the next picture`() async throws {
      let stage = try await Stage()
      let video = stage.window.addVideo(name: "alice")
      video.show(TestCard().frame())
      await stage.expect([(TestCard(), .stage)])
      stage.client.destroy(stage.xWindow)
      for shift in 0..<3 { video.show(TestCard(shift: shift).frame()) }
      guard case .lost(let sentence) = await stage.event() else { Issue.record("no such event"); return }
      #expect(sentence.contains("took the window away"))
      #expect(await stage.event() == nil)
    }
  }
}

/// How many descriptors of this process are sockets to a display.
private func openSockets() -> Int {
  (0..<1024).count { descriptor in
    var address = sockaddr_un()
    var length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let status = withUnsafeMutableBytes(of: &address) { bytes in
      getpeername(Int32(descriptor), bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), &length)
    }
    guard status == 0, address.sun_family == AF_UNIX else { return false }
    let path = withUnsafeBytes(of: address.sun_path) { String(decoding: $0.filter { $0 != 0 }, as: UTF8.self) }
    return path.contains(".X11-unix")
  }
}
