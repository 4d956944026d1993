import Dispatch
import Glibc
import RTCMedia
import RTCTestKit
import RTCWindow
import Testing
import XvfbKit

extension CallWindowTests {
  @Suite struct LifeTests {
    @Test("The window's close button closes it, says so, and ends the events")
    func closeButton() async throws {
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

    @Test("Keys ask to mute and to close, and full screen comes and goes")
    func keys() async throws {
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

    @Test("Muting is said in the title")
    func title() async throws {
      let stage = try await Stage()
      stage.window.setTitle("Call with alice")
      stage.window.setMuted(microphone: true, camera: true)
      // Titles are written in the order of what is shown and typed.
      try stage.press("m")
      #expect(await stage.event() == .toggleMicrophone)
      #expect(stage.client.title(stage.xWindow) == "Call with alice – microphone off – camera off")
      await stage.window.close()
    }

    @Test("A second window is refused while the first is open, and can be opened after it")
    func oneAtATime() async throws {
      let stage = try await Stage()
      await #expect(throws: WindowError.alreadyOpen) { try await CallWindow.open(title: "Second") }
      await stage.window.close()
      let second = try await CallWindow.open(title: "Second")
      await second.close()
      await second.close()
    }

    @Test("A window that nobody holds closes itself")
    func letGo() async throws {
      let display = try XvfbDisplay()
      setenv("DISPLAY", display.name, 1)
      var window: CallWindow? = try await CallWindow.open(title: "Alone")
      let events = try #require(window?.events)
      window = nil
      #expect(await events.next() == nil)
    }

    @Test(
      "Opening and closing twenty times leaves no file descriptor open", arguments: [Drawing.byProcessor, .byOpenGL])
    func noLeaks(_ drawing: Drawing) async throws {
      let display = try XvfbDisplay()
      setenv("DISPLAY", display.name, 1)
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

    @Test(
      "A vanished X server ends the window with a sentence, and another can be opened",
      arguments: [Drawing.byProcessor, .byOpenGL])
    func lostDisplay(_ drawing: Drawing) async throws {
      let stage = try await Stage(drawing)
      let video = stage.window.addVideo(name: "alice")
      let card = TestCard()
      video.show(card.frame())
      await stage.expect([(card, .stage)])
      stage.display.end()
      // Woken from both sides: by the connection's end and by a picture.
      video.show(card.frame())
      let lost = CallWindow.Event.lost(
        "The display went away, or took the window with it. Open it again when the display is back.")
      #expect(await stage.event() == lost)
      #expect(await stage.event() == nil)
      let next = try await Stage(drawing)
      let again = next.window.addVideo(name: "alice")
      again.show(card.frame())
      await next.expect([(card, .stage)])
      await next.window.close()
    }

    @Test("A display that vanishes while the window is being closed does not hold that up", arguments: 0..<8)
    func lostWhileClosing(_ turn: Int) async throws {
      let display = try XvfbDisplay()
      setenv("DISPLAY", display.name, 1)
      let window = try await CallWindow.open(title: "Turn \(turn)", size: PixelSize(width: 320, height: 240))
      window.addVideo(name: "alice").show(TestCard().frame())
      async let closing: Void = window.close()
      display.end()
      await closing
    }

    @Test("A display that vanishes just after it gave the window the keyboard ends the window, and not the process")
    func lostWithFocus() async throws {
      let stage = try await Stage()
      let video = stage.window.addVideo(name: "alice")
      video.show(TestCard().frame())
      await stage.expect([(TestCard(), .stage)])
      let (window, client) = (stage.xWindow, stage.client)
      // Nothing is drawn any more, by which the loss would be noticed before the news is read.
      client.unmap(window)
      let (holds, feed) = AsyncStream.makeStream(of: Bool.self)
      var isHeld = holds.makeAsyncIterator()
      let goOn = DispatchSemaphore(value: 0)
      // Until the window's thread, and not this one, is the last to let a picture go.
      repeat { video.show(heldFrame(feed, until: goOn)) } while await isHeld.next() == false
      client.tellOfFocus(window)
      stage.display.end()
      goOn.signal()
      guard case .lost = await stage.event() else { return #expect(Bool(false), "no such event") }
      #expect(await stage.event() == nil)
    }

    @Test("A window that another program destroys ends with a sentence at the next picture")
    func destroyedWindow() async throws {
      let stage = try await Stage()
      let video = stage.window.addVideo(name: "alice")
      video.show(TestCard().frame())
      await stage.expect([(TestCard(), .stage)])
      stage.client.destroy(stage.xWindow)
      for shift in 0..<3 { video.show(TestCard(shift: shift).frame()) }
      guard case .lost(let sentence) = await stage.event() else { return #expect(Bool(false), "no such event") }
      #expect(sentence.contains("went away"))
      #expect(await stage.event() == nil)
    }
  }
}

/// A picture that holds the thread that lets it go, unless that is this one, and says whether it does.
private func heldFrame(_ feed: AsyncStream<Bool>.Continuation, until goOn: DispatchSemaphore) -> VideoFrame {
  let own = UInt(pthread_self())
  let buffer = TestCard().buffer {
    guard UInt(pthread_self()) != own else {
      feed.yield(false)
      return
    }
    feed.yield(true)
    _ = goOn.wait(timeout: .now() + .seconds(20))
  }
  return VideoFrame(buffer: buffer, captureTime: .init(nanoseconds: 0), colorSpace: .bt601Limited)
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
