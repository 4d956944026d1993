import RTCNet
import RTCPrimitives
import Synchronization
import Testing

/// The group of multicast DNS, on the links of this machine.
@Suite(.timeLimit(.minutes(1))) struct MDNSSocketTests {
  /// The interfaces by which the group is reached.
  private static let links: [UInt32] = {
    let all = (try? NetworkInterfaces.addresses()) ?? []
    return Array(Set(all.filter { $0.isUp && !$0.isLoopback && $0.address.isV4 }.map(\.index)))
  }()

  @Test(.enabled(if: !links.isEmpty))
  func `a question is heard by the others of the link, and their answer by who asked`()
    throws
  {
    let (near, far) = (try LoopFixture(), try LoopFixture())
    let answers = Inbox<String>()
    let listening = Inbox<Bool>()
    let ends = Ends()
    let links = Self.links
    far.loop.post { [loop = far.loop] in
      ends.far = try? MDNSSocket(isV6: false, interfaces: links, on: loop) { message, _ in
        // Others of the link may ask as well.
        guard message.count > 12 + 20, message[2] & 0x80 == 0, message[13] == UInt8(ascii: "r") else { return }
        ends.far?.send(Ends.answer.span)
      }
      listening.append(ends.far != nil)
    }
    #expect(listening.wait(for: 1) == [true])
    near.loop.post { [loop = near.loop] in
      ends.near = try? MDNSSocket(isV6: false, interfaces: links, on: loop) { message, _ in
        for (name, address) in MDNSMessage.addresses(in: message) where name.hasPrefix("rtcast-test") {
          answers.append("\(name) \(address)")
        }
      }
      if let question = MDNSMessage.question(for: "rtcast-test.local") { ends.near?.send(question.span) }
    }
    #expect(answers.wait(for: 1).first == "rtcast-test.local 192.0.2.7")
    near.loop.post { ends.near?.close() }
    far.loop.post { ends.far?.close() }
    near.loop.stop()
    far.loop.stop()
  }

  private final class Ends: @unchecked Sendable {
    // Why unchecked: each is used on its loop's thread alone.
    var near: MDNSSocket?
    var far: MDNSSocket?

    static let answer: [UInt8] =
      [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0, 11] + Array("rtcast-test".utf8) + [5] + Array("local".utf8)
      + [0, 0, 1, 0x80, 1, 0, 0, 0, 120, 0, 4, 192, 0, 2, 7]
  }
}
