import Dispatch
import FeatureKit
import RTCMedia
import RTCWindow
import Synchronization
import Testing
import XvfbKit

extension CallWindowTests {
  @Suite struct ChangeTests {
    @Test(arguments: [Drawing.byProcessor, .byOpenGL]) func `pictures of ever other sizes are shown, the last as it is`(
      _ drawing: Drawing
    ) async throws {
      let stage = try await Stage(drawing)
      let video = stage.window.addVideo(name: "alice")
      let formats = PixelFormat.allCases
      for turn in 0..<40 {
        let size = PixelSize(width: 16 + turn * 7 % 50, height: 9 + turn * 5 % 40)
        video.show(TestCard(size: size, square: 8, format: formats[turn % formats.count]).frame())
      }
      let card = TestCard(shift: 2)
      video.show(card.frame())
      await stage.expect([(card, .stage)])
      await stage.window.close()
    }

    @Test(.feature("S1.32", "S2.1"))
    func `of a thousand pictures in a burst from any thread the last is shown, and every lease is given back`()
      async throws
    {
      let stage = try await Stage()
      let video = stage.window.addVideo(name: "alice")
      let released = ReleaseCounter()
      let card = TestCard(size: PixelSize(width: 32, height: 24), square: 8)
      DispatchQueue.concurrentPerform(iterations: 999) { _ in
        let buffer = card.buffer { released.count.add(1, ordering: .relaxed) }
        video.show(VideoFrame(buffer: buffer, captureTime: .init(nanoseconds: 0), colorSpace: .bt601Limited))
      }
      let last = TestCard(shift: 4)
      video.show(
        VideoFrame(
          buffer: last.buffer { released.count.add(1, ordering: .relaxed) }, captureTime: .init(nanoseconds: 0),
          colorSpace: .bt601Limited))
      await stage.expect([(last, .stage)])
      await stage.window.close()
      #expect(released.count.load(ordering: .relaxed) == 1000)
    }

    @Test func `nothing is drawn while nothing changes`() async throws {
      let stage = try await Stage()
      let video = stage.window.addVideo(name: "alice")
      video.show(TestCard().frame())
      await stage.expect([(TestCard(), .stage)])
      try stage.press("v")
      #expect(await stage.event() == .toggleCamera)
      let before = stage.window.drawings
      // The thread wakes for each of these, and has nothing to draw.
      for muted in [true, false, true] {
        stage.window.setMuted(microphone: muted, camera: false)
        try stage.press("m")
        #expect(await stage.event() == .toggleMicrophone)
      }
      #expect(stage.window.drawings == before)
      await stage.window.close()
    }

    @Test(arguments: [Drawing.byProcessor, .byOpenGL]) func `a resized window is filled again`(_ drawing: Drawing)
      async throws
    {
      let stage = try await Stage(drawing)
      let video = stage.window.addVideo(name: "alice")
      let card = TestCard()
      video.show(card.frame())
      await stage.expect([(card, .stage)])
      for (width, height) in [(320, 240), (400, 400), (640, 480), (200, 100)] {
        let window = stage.xWindow
        stage.client.move(window, x: 0, y: 0)
        stage.client.resize(window, width: width, height: height)
        let place = GridLayout.fit(card.size, into: PixelRect(x: 0, y: 0, width: width, height: height))
        await stage.expect("\(width)x\(height)") { card.fault(in: $0, at: place) }
      }
      await stage.window.close()
    }

    @Test func `nobody draws in a window that is not on the screen; back on it, it shows the newest picture`()
      async throws
    {
      let stage = try await Stage()
      let video = stage.window.addVideo(name: "alice")
      video.show(TestCard().frame())
      await stage.expect([(TestCard(), .stage)])
      let window = stage.xWindow
      stage.client.unmap(window)
      await stage.expect([], "gone")
      for shift in 1..<5 { video.show(TestCard(shift: shift).frame()) }
      stage.client.map(window)
      await stage.expect([(TestCard(shift: 4), .stage)], "back")
      await stage.window.close()
    }

    @Test func `without a size the window takes the first picture's, as far as the screen allows`() async throws {
      let stage = try await Stage(size: nil)
      let video = stage.window.addVideo(name: "alice")
      let card = TestCard(size: PixelSize(width: 160, height: 120))
      video.show(card.frame())
      await stage.expect("small") { card.fault(in: $0, at: PixelRect(x: 240, y: 180, width: 160, height: 120)) }
      await stage.window.close()
      let second = try await Stage(size: nil)
      let large = TestCard(size: PixelSize(width: 1280, height: 960), square: 160)
      second.window.addVideo(name: "alice").show(large.frame())
      await second.expect([(large, .stage)], "large")
      await second.window.close()
    }
  }
}

private final class ReleaseCounter: Sendable {
  let count = Atomic(0)
}
