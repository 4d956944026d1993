import Dispatch
import Glibc
import RTCCapturePlugin
import Synchronization
import Testing

@Suite(.serialized) struct WaitingTests {
  @Test func aPushThatWaitsForASlowConsumerTakesNoTimeOfTheProcessor() throws {
    let spent = Mutex<clock_t?>(nil)
    let onlooker = Onlooker(onPicture: { number in
      guard number == 0 else { return }
      // The second picture waits, and the third push for its place, while the first takes half a second.
      let before = clock()
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(500))
      spent.withLock { $0 = clock() - before }
    })
    let stage = try Stage(try PluginWorkshop.breaker(), [("do", "good")], onlooker: onlooker)
    stage.start()
    #expect(stage.wait { $0.pictures.count >= 3 })
    stage.stop()
    #expect(spent.withLock { $0 ?? .max } < CLOCKS_PER_SEC / 5)
  }
}
