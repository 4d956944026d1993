import RTCNet
import RTCPrimitives
import Testing

private actor Resident {
  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private var total = 0

  init(on loop: EventLoop) { self.loop = loop }

  func add(_ n: Int) -> (total: Int, onLoop: Bool) {
    total += n
    return (total, loop.isOnLoop)
  }

  nonisolated func addFromLoop(_ n: Int) -> Int { assumeIsolated { $0.add(n).total } }
}

@Suite(.timeLimit(.minutes(1))) struct LoopActorTests {
  @Test func `an actor on the loop runs there`() async throws {
    let fixture = try LoopFixture()
    let resident = Resident(on: fixture.loop)
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<200 { group.addTask { await resident.add(1).onLoop } }
      for await onLoop in group { #expect(onLoop) }
    }
    #expect(await resident.add(0).total == 200)
  }

  @Test func `work on the loop may enter the actor at once`() async throws {
    let fixture = try LoopFixture()
    let resident = Resident(on: fixture.loop)
    let total = await withCheckedContinuation { continuation in
      fixture.loop.post { continuation.resume(returning: resident.addFromLoop(5)) }
    }
    #expect(total == 5)
  }

  @Test func `an actor still answers after its loop has stopped`() async throws {
    let fixture = try LoopFixture()
    let resident = Resident(on: fixture.loop)
    _ = await resident.add(1)
    fixture.loop.stop()
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 { group.addTask { await resident.add(1).onLoop } }
      for await onLoop in group { #expect(onLoop) }
    }
    #expect(await resident.add(0).total == 51)
  }

  @Test func `an actor is on its loop while that stops`() async throws {
    for _ in 0..<100 {
      let fixture = try LoopFixture()
      let resident = Resident(on: fixture.loop)
      await withTaskGroup(of: Bool.self) { group in
        group.addTask {
          fixture.loop.stop()
          return true
        }
        for _ in 0..<20 { group.addTask { await resident.add(1).onLoop } }
        for await onLoop in group { #expect(onLoop) }
      }
      #expect(await resident.add(0).total == 20)
    }
  }
}
