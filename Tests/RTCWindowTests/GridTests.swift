import FeatureKit
import RTCMedia
import RTCWindow
import Testing

extension CallWindowTests {
  @Suite struct GridTests {
    @Test(.feature("S0.69")) func `a video is black before its first picture and after its end`() async throws {
      let stage = try await Stage()
      await stage.expect([], "no video")
      let video = stage.window.addVideo(name: "alice")
      let card = TestCard()
      video.show(card.frame())
      await stage.expect([(card, .stage)], "a video")
      video.videoDidEnd()
      await stage.expect([], "an ended video")
      // Nobody asks for what comes late.
      video.show(card.frame())
      _ = stage.window.addVideo(name: "bob")
      stage.window.preview.show(TestCard(size: PixelSize(width: 32, height: 32), square: 16).frame())
      await stage.expect("only the preview") { $0.pixel(100, 100) == 0 && $0.pixel(580, 420) != 0 ? nil : "not so" }
      await stage.window.close()
    }

    @Test(.feature("S3.18"))
    func `several videos share the window, each in its place, and close ranks when one leaves`() async throws {
      let stage = try await Stage()
      let cards = (0..<4).map { TestCard(shift: $0) }
      let videos = cards.indices.map { stage.window.addVideo(name: "peer \($0)") }
      for (video, card) in zip(videos, cards) { video.show(card.frame()) }
      let places = [(0, 0), (320, 0), (0, 240), (320, 240)].map { x, y in
        PixelRect(x: x, y: y, width: 320, height: 240)
      }
      await stage.expect(Array(zip(cards, places)).map { (card: $0, place: $1) }, "four")
      #expect(stage.client.title(stage.xWindow) == "Stage – peer 0, peer 1, peer 2, peer 3")
      videos[1].videoDidEnd()
      // The last row is centred.
      let left = [
        (cards[0], places[0]), (cards[2], places[1]), (cards[3], PixelRect(x: 160, y: 240, width: 320, height: 240)),
      ]
      await stage.expect(left.map { (card: $0.0, place: $0.1) }, "three")
      videos[0].videoDidEnd()
      videos[3].videoDidEnd()
      await stage.expect([(cards[2], .stage)], "one")
      await stage.window.close()
    }

    @Test(.feature("S1.15", "S1.28", "S4.31"))
    func `the local picture lies in a corner, over the others, until it ends or its key is pressed`() async throws {
      let stage = try await Stage()
      let video = stage.window.addVideo(name: "alice")
      let bright = TestCard(shift: 3)
      let card = TestCard(size: PixelSize(width: 160, height: 120), square: 40, shift: 1)
      video.show(bright.frame())
      stage.window.preview.show(card.frame())
      let place = PixelRect(x: 640 - 12 - 160, y: 480 - 12 - 120, width: 160, height: 120)
      await stage.expect("a preview") { card.fault(in: $0, at: place) }
      try stage.press("p")
      #expect(await stage.event() == .previewHidden(true))
      await stage.expect([(bright, .stage)], "hidden")
      try stage.press("p")
      #expect(await stage.event() == .previewHidden(false))
      await stage.expect("shown again") { card.fault(in: $0, at: place) }
      stage.window.preview.videoDidEnd()
      await stage.expect([(bright, .stage)], "ended")
      await stage.window.close()
    }

    @Test func `the local picture can be dragged to another corner`() async throws {
      let stage = try await Stage()
      let card = TestCard(size: PixelSize(width: 160, height: 120))
      stage.window.preview.show(card.frame())
      await stage.expect([(card, PixelRect(x: 468, y: 348, width: 160, height: 120))], "bottom right")
      try stage.display.run(
        "xdotool", "mousemove", "500", "400", "mousedown", "1", "mousemove", "300", "300", "mousemove", "100", "60",
        "mouseup", "1")
      await stage.expect([(card, PixelRect(x: 12, y: 12, width: 160, height: 120))], "top left")
      await stage.window.close()
    }
  }
}
