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

  @Test func `S0.56, S0.57: an interface that goes down is a lost network, and up again a returned one`() {
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

  @Test func `a watch begins, says nothing without a cause, and ends when told or let go of`() throws {
    let watch = try NetworkWatch { _ in }
    watch.stop()
    watch.stop()
    _ = try NetworkWatch { _ in }
  }
}
