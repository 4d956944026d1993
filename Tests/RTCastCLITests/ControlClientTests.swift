import RTCPrimitives
import Testing
import rtcast_cli

@Suite struct ControlClientTests {
  private static let now = Timestamp(nanoseconds: 1_000_000_000)

  /// The numbers of the lines that may be carried out now.
  private static func taken(_ client: inout ControlClient) -> [Int] {
    var numbers: [Int] = []
    while let line = client.next() { numbers.append(line.number) }
    return numbers
  }

  private static func answer(_ client: inout ControlClient, _ text: String, now: Timestamp) -> Bool {
    client.answer(text, now: now)
  }

  @Test func `lines are carried out in order, a bounded number at a time`() {
    var client = ControlClient()
    client.receive(String(repeating: "x\n", count: 40).utf8)
    #expect(Self.taken(&client) == Array(1...16))
    #expect(!client.wantsInput, "nothing more is read while lines wait")
    #expect(Self.answer(&client, "first", now: Self.now))
    #expect(Self.taken(&client) == [17])
    for _ in 0..<16 { #expect(Self.answer(&client, "more", now: Self.now)) }
    #expect(Self.taken(&client) == Array(18...33))
  }

  @Test func `a client that has said goodbye is answered before it is let go`() {
    var client = ControlClient()
    client.receive("one\ntwo".utf8)
    client.receiveEnd()
    #expect(Self.taken(&client) == [1, 2], "the last line needs no line feed")
    #expect(!client.isDone && !client.wantsInput)
    #expect(Self.answer(&client, "a", now: Self.now) && Self.answer(&client, "b", now: Self.now))
    #expect(client.backlog == Array("a\nb\n".utf8))
    client.sent(2, now: Self.now)
    #expect(!client.isDone)
    client.sent(2, now: Self.now)
    #expect(client.isDone)
  }

  @Test func `a client that does not read is let go, after a time or a megabyte`() {
    var client = ControlClient()
    client.receive("one\ntwo\n".utf8)
    _ = Self.taken(&client)
    #expect(client.deadline == nil)
    #expect(Self.answer(&client, "a", now: Self.now))
    #expect(client.deadline == Self.now + ControlClient.patience)
    client.sent(1, now: Self.now + .seconds(3))
    #expect(client.deadline == Self.now + .seconds(3) + ControlClient.patience, "what it reads gives it time")
    client.sent(1, now: Self.now + .seconds(4))
    #expect(client.deadline == nil)
    #expect(!Self.answer(&client, String(repeating: "x", count: ControlClient.mostBacklog), now: Self.now))
  }
}
