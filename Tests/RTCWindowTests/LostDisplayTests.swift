import Glibc
import RTCMedia
import RTCWindow
import Testing
import XvfbKit

extension CallWindowTests {
  /// A process that has lost a display opens no window any more: each of these is a process of its own.
  @Suite struct LostDisplayTests {
    @Test(arguments: [false, true]) func `a vanished X server ends the window with a sentence, and the process goes on`(
      isByOpenGL: Bool
    ) async throws {
      await #expect(processExitsWith: .success) { [isByOpenGL = isByOpenGL as Bool] in
        alarm(50)  // ends what would wait for ever
        let stage = try await Stage(isByOpenGL ? .byOpenGL : .byProcessor)
        let video = stage.window.addVideo(name: "alice")
        let card = TestCard()
        video.show(card.frame())
        await stage.expect([(card, .stage)])
        stage.display.end()
        // Woken from both sides: by the connection's end and by a picture.
        video.show(card.frame())
        let lost = await stage.event()
        guard case .lost(let sentence)? = lost, sentence.contains("went away") else {
          fatalError("\(String(describing: lost))")
        }
        guard await stage.event() == nil else { fatalError("more events") }
        // Late callers do no harm.
        video.show(card.frame())
        stage.window.setTitle("late")
        await stage.window.close()
        do throws(WindowError) {
          _ = try await CallWindow.open(title: "Next")
          fatalError("opened")
        } catch {
          guard case .refused(let sentence) = error, sentence.contains("start the program again") else {
            fatalError("\(error)")
          }
        }
      }
    }

    @Test(arguments: 0..<8) func `a display that vanishes while the window is being closed does not hold that up`(
      turn: Int
    ) async throws {
      await #expect(processExitsWith: .success) { [turn = turn as Int] in
        alarm(50)
        let display = try openDisplay()
        let window = try await CallWindow.open(title: "Turn \(turn)", size: PixelSize(width: 320, height: 240))
        window.addVideo(name: "alice").show(TestCard().frame())
        async let closing: Void = window.close()
        display.end()
        await closing
        while await window.events.next() != nil {}
      }
    }

    @Test(arguments: 0..<8)
    func `a display that vanishes while the window is being opened is an error or a lost window`(turn: Int) async throws
    {
      await #expect(processExitsWith: .success) { [turn = turn as Int] in
        alarm(50)
        let display = try openDisplay()
        // Mesa's GLX, asked for whether there is a card, has null pointers of its own to follow.
        async let opening = CallWindow.open(title: "Turn \(turn)", size: nil, drawing: .byProcessor)
        // From before the connection to after the first picture.
        let end = ContinuousClock.now + .milliseconds(turn * 6)
        while ContinuousClock.now < end { sched_yield() }
        display.end()
        do {
          let window = try await opening
          let lost = await window.events.next()
          guard case .lost? = lost else { fatalError("\(String(describing: lost))") }
        } catch {
          guard case .noDisplay(let sentence)? = error as? WindowError, sentence.contains("display") else {
            fatalError("\(error)")
          }
        }
      }
    }
  }
}
