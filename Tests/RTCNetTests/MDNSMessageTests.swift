import RTCNet
import RTCPrimitives
import Testing

/// Multicast DNS, as far as host names need it.
@Suite struct MDNSMessageTests {
  /// As Chromium answers for a name of its own.
  private let answer: [UInt8] =
    [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0, 4] + Array("Host".utf8) + [5] + Array("local".utf8)
    + [0, 0, 1, 0x80, 1, 0, 0, 0, 120, 0, 4, 192, 0, 2, 7]

  private func read(_ message: [UInt8]) -> [String] {
    MDNSMessage.addresses(in: message.span).map { "\($0.name) \($0.address)" }
  }

  @Test func `a question asks for both IP versions`() throws {
    let question = try #require(MDNSMessage.question(for: "host.local"))
    #expect(Array(question.prefix(12)) == [0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0])
    let name: [UInt8] = [4] + Array("host".utf8) + [5] + Array("local".utf8) + [0]
    #expect(Array(question.dropFirst(12)) == name + [0, 1, 0, 1] + name + [0, 28, 0, 1])
    #expect(MDNSMessage.question(for: "") == nil && MDNSMessage.question(for: "a..local") == nil)
    #expect(MDNSMessage.question(for: String(repeating: "x", count: 64) + ".local") == nil)
  }

  @Test func `an answer gives addresses, in small letters`() { #expect(read(answer) == ["host.local 192.0.2.7"]) }

  @Test func `names in other places of the answer, IPv6 and other records are read`() {
    var message: [UInt8] = [0, 0, 0x84, 0, 0, 0, 0, 2, 0, 0, 0, 1] + answer[12...]
    message += [0xC0, 12, 0, 47, 0x80, 1, 0, 0, 0, 120, 0, 2, 1, 2]
    message +=
      [0xC0, 12, 0, 28, 0x80, 1, 0, 0, 0, 120, 0, 16, 0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [5]
    #expect(read(message) == ["host.local 192.0.2.7", "host.local 2001:db8::5"])
  }

  @Test func `questions, errors, cut messages and names without end give nothing`() throws {
    #expect(read(try #require(MDNSMessage.question(for: "host.local"))).isEmpty)
    var refused = answer
    refused[3] = 3
    #expect(read(refused).isEmpty)
    for count in 0..<answer.count { #expect(read(Array(answer.prefix(count))).isEmpty) }
    let circle: [UInt8] = [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0]
    #expect(read(circle).isEmpty)
    let many: [UInt8] = [0, 0, 0x84, 0, 0xFF, 0xFF, 0, 1, 0, 0, 0, 0] + answer[12...]
    #expect(read(many).isEmpty)
  }
}
