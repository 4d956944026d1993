import FeatureKit
import Foundation
import RTCNet
import RTCPrimitives
import Synchronization
import Testing

/// When the network counts as gone and as back.
@Suite struct NetworkConditionTests {
  private func interface(_ address: String, isUp: Bool = true) -> InterfaceAddress {
    let ip = IPAddress(address)!
    return InterfaceAddress(
      name: ip.isLoopback ? "lo" : "eth0", index: ip.isLoopback ? 1 : 2, address: ip, isUp: isUp,
      isLoopback: ip.isLoopback)
  }

  @Test(.feature("S0.56", "S0.57")) func `an interface that goes down is a lost network, and up again a returned one`()
  {
    let (loopback, address) = (interface("127.0.0.1"), interface("192.0.2.7"))
    var network = NetworkCondition([loopback, address])
    #expect(network.note([loopback, address]) == nil)
    #expect(network.note([loopback, interface("192.0.2.7", isUp: false)]) == .lost)
    #expect(network.note([loopback]) == nil)
    #expect(network.note([loopback, interface("fe80::1")]) == nil)
    #expect(network.note([loopback, address]) == .returned)
  }

  @Test func `another address is another network`() {
    var network = NetworkCondition([interface("192.0.2.7")])
    #expect(network.note([interface("192.0.2.7"), interface("2001:db8::1")]) == .changed)
    #expect(network.note([interface("198.51.100.1")]) == .changed)
    #expect(network.note([]) == .lost)
  }

  @Test(.feature("S0.56", "S0.57"), .timeLimit(.minutes(1)))
  func `a watch looks when there is news, and tells what has become of the network`() async throws {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    defer { close(ends[1]) }
    #expect(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
    let (one, other) = (interface("192.0.2.7"), interface("198.51.100.1"))
    let here = Mutex([one])
    let (looks, looked) = AsyncStream.makeStream(of: Void.self)
    let (changes, told) = AsyncStream.makeStream(of: NetworkChange.self)
    let watch = try NetworkWatch(
      changes: ends[0],
      addresses: {
        // What is read now is what the test gave last: it gives the next when it hears of this look.
        defer { looked.yield() }
        return here.withLock { $0 }
      }, { told.yield($0) })
    var (eachLook, eachChange) = (looks.makeAsyncIterator(), changes.makeAsyncIterator())
    await eachLook.next()
    // News of the same addresses is none.
    for addresses in [[one], [], [one], [other]] {
      here.withLock { $0 = addresses }
      #expect(write(ends[1], "!", 1) == 1)
      await eachLook.next()
    }
    #expect(await eachChange.next() == .lost)
    #expect(await eachChange.next() == .returned)
    #expect(await eachChange.next() == .changed)
    watch.stop()
    watch.stop()
    told.finish()
    #expect(await eachChange.next() == nil)
    // Its end of the line is closed with it.
    var byte: UInt8 = 0
    #expect(read(ends[1], &byte, 1) == 0)
  }

  @Test func `a watch of the machine's own network begins, and ends when it is let go of`() throws {
    func count() -> Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0 }
    let before = count()
    for _ in 0..<8 { try NetworkWatch { _ in }.stop() }
    #expect(count() < before + 8)
    for _ in 0..<8 { _ = try NetworkWatch { _ in } }
  }
}
