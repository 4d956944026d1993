import Glibc
import RTCNet
import RTCPrimitives
import Testing

@Suite struct UDPPortTests {
  @Test func `a taken port is refused with a sentence that says what to do`() throws {
    let first = try UDPPort()
    let error = #expect(throws: SystemError.self) { try UDPPort(.init(port: first.number)) }
    #expect(error?.errno == EADDRINUSE)
    let text = try #require(error?.description)
    #expect(
      text == "UDP port \(first.number) on 0.0.0.0: Address already in use (bind, errno 98). "
        + "Another program holds this port; stop it, choose another port, or use 0 for any free one.")
  }

  @Test func `an address of another machine is refused`() throws {
    let error = #expect(throws: SystemError.self) { try UDPPort(.init(port: 0, address: .v4(0xCB00_7109))) }
    #expect(error?.errno == EADDRNOTAVAIL)
    #expect(error?.description.hasPrefix("A free UDP port on 203.0.113.9: ") == true)
  }

  @Test func `a port bound to one address has that IP version only`() throws {
    let port = try UDPPort(.init(address: .loopbackV4))
    #expect(port.hasIPv4 && !port.hasIPv6 && port.number != 0)
  }

  @Test(.enabled(if: loopbackAddresses.count == 2)) func `both IP versions share one port number`() throws {
    let port = try UDPPort()
    #expect(port.hasIPv4 && port.hasIPv6)
    #expect(throws: SystemError.self) { try UDPPort(.init(port: port.number, address: .loopbackV6)) }
  }

  @Test func `closing gives the port back`() throws {
    let number = try { try UDPPort().number }()
    #expect(try UDPPort(.init(port: number)).number == number)
  }

  @Test func `a port of a range is one that is free, and a full range is refused`() throws {
    let first = try UDPPort(.init(address: .loopbackV4)).number
    try #require(first < 65_000)
    var options = UDPPort.Options(address: .loopbackV4)
    options.portRange = first...first + 3
    var ports: [UDPPort] = []
    while let port = try? UDPPort(options) { ports.append(port) }
    #expect(!ports.isEmpty && ports.allSatisfy { (first...first + 3).contains($0.number) })
    #expect(Set(ports.map(\.number)).count == ports.count)
    let error = #expect(throws: SystemError.self) { try UDPPort(options) }
    #expect(error?.errno == EADDRINUSE)
    #expect(error?.description.hasPrefix("A UDP port of \(first)–\(first + 3): ") == true)
  }
}
