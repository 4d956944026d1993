import RTCNet
import RTCPrimitives
import Synchronization
import Testing

@Suite struct EventLoopTests {
  @Test func `posted work runs on the loop in each poster's order`() throws {
    let fixture = try LoopFixture()
    let ran = Inbox<(poster: Int, number: Int, onLoop: Bool)>()
    let loop = fixture.loop
    let threads = try (0..<8).map { poster in
      try NamedThread(name: "poster") {
        for number in 0..<1000 { loop.post { ran.append((poster, number, loop.isOnLoop)) } }
      }
    }
    threads.forEach { $0.join() }
    let all = ran.wait(for: 8_000)
    for poster in 0..<8 {
      #expect(all.filter { $0.poster == poster }.map(\.number) == Array(0..<1000))
    }
    #expect(all.allSatisfy { $0.onLoop })
    #expect(!loop.isOnLoop)
  }

  @Test func `work posted on the loop runs after what was posted before`() throws {
    let fixture = try LoopFixture()
    let loop = fixture.loop
    let order = Inbox<Int>()
    loop.post {
      loop.post {
        loop.post { order.append(3) }
        order.append(2)
      }
      order.append(1)
    }
    #expect(order.wait(for: 3) == [1, 2, 3])
  }

  @Test func `stopping runs and flushes all that was posted before, and takes nothing after`() throws {
    let near = try LoopFixture()
    let far = try LoopFixture()
    let ran = Inbox<Int>()
    for i in 0..<500 { near.loop.post { ran.append(i) } }
    near.send(numbered(1, size: 10, to: near.route(to: far, .loopbackV4)))
    near.loop.stop()
    #expect(ran.all == Array(0..<500))
    #expect(far.inbox.wait(for: 1).count == 1)
    #expect(!near.loop.post {})
    near.loop.stop()
  }

  @Test func `a loop stops while datagrams keep coming`() throws {
    let near = try LoopFixture(echoes: true)
    let far = try LoopFixture(echoes: true)
    near.send(numbered(64, size: 1000, to: near.route(to: far, .loopbackV4)))
    _ = near.inbox.wait(for: 1_000)  // the two keep the datagrams in the air for ever
    near.loop.stop()
    far.loop.stop()
    #expect(near.inbox.all.count >= 1_000)
  }

  @Test func `a loop may stop itself`() throws {
    let fixture = try LoopFixture()
    let loop = fixture.loop
    let after = Inbox<Bool>()
    loop.post {
      loop.stop()
      loop.post { after.append(true) }
    }
    #expect(after.wait(for: 1) == [true])
    loop.stop()
    #expect(!loop.post {})
  }

  @Test func `a stopped loop lets go of what it watched`() throws {
    final class Watched: LoopSource {
      private let event: WakeEvent
      var descriptor: Int32 { event.descriptor }
      init() throws { event = try WakeEvent() }
      func ready(_ readiness: Poller.Readiness, now: Timestamp) {}
    }
    final class Remains: Sendable {
      nonisolated(unsafe) weak var source: Watched?
    }
    let (fixture, remains) = (try LoopFixture(), Remains())
    fixture.loop.post { [loop = fixture.loop] in
      do {
        let source = try Watched()
        unsafe remains.source = source
        _ = try loop.watch(source)
      } catch {
        Issue.record(error)
      }
    }
    fixture.loop.stop()
    #expect(unsafe remains.source == nil)
  }

  @Test func `a stopped loop gives its port back`() throws {
    let number = try {
      let fixture = try LoopFixture()
      fixture.loop.stop()
      return fixture.loop.port
    }()
    #expect(try UDPPort(.init(port: number)).number == number)
  }
}
