import RTCPrimitives
import RTCSCTP
import RTCTestKit
import Testing

@Suite struct MessageTests {
  @Test func `text, bytes and empty messages arrive both ways`() throws {
    let pair = VirtualPair()
    pair.start()
    let ours = try pair.open(DataChannelParameters(label: "chat", protocol: "v1"), on: .client)
    pair.run(until: { !pair.incoming(at: .server).isEmpty })
    let theirs = try #require(pair.incoming(at: .server).first)
    #expect(theirs.parameters == DataChannelParameters(label: "chat", protocol: "v1"))
    let sent: [DataChannelMessage] = [.text("grüß dich"), .text(""), .binary([]), .binary([0, 255, 1])]
    for message in sent {
      try pair.send(message, on: ours, from: .client)
      try pair.send(message, on: theirs.handle, from: .server)
    }
    pair.run(for: .seconds(1))
    #expect(pair.messages(on: theirs.handle, at: .server) == sent)
    #expect(pair.messages(on: ours, at: .client) == sent)
  }
}
