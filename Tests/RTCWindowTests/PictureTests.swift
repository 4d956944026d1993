import FeatureKit
import RTCMedia
import RTCWindow
import Testing

extension CallWindowTests {
  @Suite struct PictureTests {
    @Test(.feature("S4.17", "S0.69"), arguments: [Drawing.byProcessor, .byOpenGL])
    func `pictures of every format are on the screen as they were drawn`(_ drawing: Drawing) async throws {
      let stage = try await Stage(drawing)
      let video = stage.window.addVideo(name: "alice")
      for (index, format) in PixelFormat.allCases.enumerated() {
        let card = TestCard(size: Stage.size, format: format, shift: index)
        video.show(card.frame())
        await stage.expect([(card, .stage)], "\(format)")
      }
      // Renderers have no texture for I444, and the processor takes RGB alone.
      let expected = PixelFormat.allCases.map { format in
        let isPlanar = format.planeCount > 1
        let isHandedOn = !isPlanar || (drawing == .byOpenGL && format != .i444)
        return (PictureUpload(from: format, to: isHandedOn ? format : .bgra), 1)
      }
      #expect(stage.window.uploads == Dictionary(uniqueKeysWithValues: expected))
      await stage.window.close()
    }

    @Test func `planes of a colour matrix that the renderer does not know become RGB`() async throws {
      let stage = try await Stage(.byOpenGL)
      let video = stage.window.addVideo(name: "alice")
      for (shift, format) in [PixelFormat.i420, .nv12].enumerated() {
        let card = TestCard(size: Stage.size, format: format, colorSpace: .bt709Full, shift: shift)
        video.show(card.frame())
        await stage.expect([(card, .stage)], "\(format)")
      }
      #expect(
        stage.window.uploads == [PictureUpload(from: .i420, to: .bgra): 1, PictureUpload(from: .nv12, to: .bgra): 1])
      await stage.window.close()
    }

    @Test(arguments: [Drawing.byProcessor, .byOpenGL]) func `each picture is shown by its own colour matrix`(
      _ drawing: Drawing
    ) async throws {
      let stage = try await Stage(drawing)
      let video = stage.window.addVideo(name: "alice")
      var shift = 0
      for format in [PixelFormat.i420, .nv12, .i444] {
        for space in [ColorSpace.bt601Limited, .bt709Limited, .bt709Full, .sRGB] {
          shift += 1
          let card = TestCard(size: Stage.size, format: format, colorSpace: space, shift: shift)
          video.show(card.frame())
          await stage.expect([(card, .stage)], "\(format) \(space)")
        }
      }
      await stage.window.close()
    }

    @Test(arguments: [Drawing.byProcessor, .byOpenGL]) func `odd sizes and odd strides are shown whole`(
      _ drawing: Drawing
    ) async throws {
      let stage = try await Stage(drawing, size: PixelSize(width: 321, height: 243))
      let video = stage.window.addVideo(name: "alice")
      for (index, format) in PixelFormat.allCases.enumerated() {
        let card = TestCard(size: PixelSize(width: 321, height: 243), format: format, shift: index, padding: 7)
        video.show(card.frame())
        await stage.expect("\(format)") { shot in
          // The window lies in the middle of the screen, or wherever the server put it.
          guard let corner = stage.windowCorner else { return "no window" }
          return card.fault(in: shot, at: PixelRect(x: corner.x, y: corner.y, width: 321, height: 243))
        }
      }
      await stage.window.close()
    }

    @Test(.feature("S0.72"), arguments: [Drawing.byProcessor, .byOpenGL]) func `rotated pictures are turned clockwise`(
      _ drawing: Drawing
    ) async throws {
      let stage = try await Stage(drawing)
      let video = stage.window.addVideo(name: "alice")
      for rotation in [VideoRotation.clockwise90, .half, .clockwise270, .none] {
        let card = TestCard(rotation: rotation)
        video.show(card.frame())
        let isUpright = rotation == .none || rotation == .half
        await stage.expect(
          [(card, isUpright ? .stage : PixelRect(x: 140, y: 0, width: 360, height: 480))], "\(rotation)")
      }
      await stage.window.close()
    }

    @Test(.feature("S1.30"), arguments: [Drawing.byProcessor, .byOpenGL])
    func `the aspect is kept, with black beside the picture`(_ drawing: Drawing) async throws {
      let stage = try await Stage(drawing)
      let video = stage.window.addVideo(name: "alice")
      let wide = TestCard(size: PixelSize(width: 320, height: 80), square: 20)
      video.show(wide.frame())
      await stage.expect([(wide, PixelRect(x: 0, y: 160, width: 640, height: 160))], "wide")
      let tall = TestCard(size: PixelSize(width: 80, height: 320), square: 20)
      video.show(tall.frame())
      await stage.expect([(tall, PixelRect(x: 260, y: 0, width: 120, height: 480))], "tall")
      await stage.window.close()
    }
  }
}
