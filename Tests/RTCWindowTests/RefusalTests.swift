import Glibc
import RTCMedia
import RTCWindow
import Testing
import XvfbKit

extension CallWindowTests {
  @Suite struct RefusalTests {
    @Test func `without a display the error says what is missing`() async throws {
      setenv("DISPLAY", "", 1)
      await #expect {
        _ = try await CallWindow.open(title: "Nowhere")
      } throws: { error in
        guard case .noDisplay(let sentence)? = error as? WindowError else { return false }
        return sentence.contains("neither DISPLAY nor WAYLAND_DISPLAY is set")
      }
    }

    @Test func `a display that does not answer is named`() async throws {
      let display = try XvfbDisplay()
      display.end()
      setenv("DISPLAY", display.name, 1)
      await #expect {
        _ = try await CallWindow.open(title: "Nowhere")
      } throws: { error in
        guard case .noDisplay(let sentence)? = error as? WindowError else { return false }
        return sentence.contains("X display \(display.name) cannot be opened")
      }
    }

    @Test(arguments: [Drawing.byProcessor, .byOpenGL])
    func `a picture beyond 8K is refused once, in words, and the next is shown`(_ drawing: Drawing) async throws {
      let stage = try await Stage(drawing)
      let video = stage.window.addVideo(name: "alice")
      let size = PixelSize(width: 8200, height: 8200)
      // Never touched, so never given by the system.
      let bytes = size.width * size.height
      let memory = UnsafeRawPointer(calloc(bytes * 3 / 2, 1)!)
      let address = UInt(bitPattern: memory)
      let planes = [(memory, 8200), (memory + bytes, 4100), (memory + bytes * 5 / 4, 4100)]
      let buffer = PixelBuffer(format: .i420, size: size, planes: planes) {
        free(UnsafeMutableRawPointer(bitPattern: address))
      }
      let huge = VideoFrame(
        buffer: try #require(buffer), captureTime: .init(nanoseconds: 0), colorSpace: .bt601Limited)
      video.show(huge)
      guard case .unshowable(video: "alice", let sentence) = await stage.event() else {
        Issue.record("not refused"); return
      }
      #expect(
        sentence
          == "The picture of alice cannot be shown: it has 8200x8200 pixels, and 8192x4608 is the most; send a smaller picture."
      )
      video.show(huge)
      let card = TestCard()
      video.show(card.frame())
      await stage.expect([(card, .stage)])
      try stage.press("m")
      #expect(await stage.event() == .toggleMicrophone)
      await stage.window.close()
    }

    @Test(arguments: [Drawing.byProcessor, .byOpenGL]) func `an 8K picture is shown`(_ drawing: Drawing) async throws {
      let stage = try await Stage(drawing)
      let video = stage.window.addVideo(name: "alice")
      let buffer = PixelBuffer.allocate(format: .i420, size: PixelSize(width: 7680, height: 4320)) { plane, bytes, _ in
        for index in 0..<bytes.count where plane == 0 { bytes[index] = 235 }
        for index in 0..<bytes.count where plane != 0 { bytes[index] = 128 }
      }
      let frame = VideoFrame(
        buffer: try #require(buffer), captureTime: .init(nanoseconds: 0), colorSpace: .bt709Limited)
      video.show(frame)
      await stage.expect("white") { shot in
        distance(shot.pixel(320, 240), 0xffffff) < 4 && shot.pixel(320, 10) == 0 ? nil : hex(shot.pixel(320, 240))
      }
      await stage.window.close()
    }
  }
}
