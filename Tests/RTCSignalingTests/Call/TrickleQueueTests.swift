import FeatureKit
import RTCPrimitives
import RTCSignaling
import Testing

@Suite struct TrickleQueueTests {
  private static func candidate(_ number: Int, of fragment: String?) -> ICECandidateInit {
    ICECandidateInit(
      candidate: "candidate:\(number) 1 udp 1 192.0.2.\(number) 9 typ host", sdpMid: "0", usernameFragment: fragment)
  }

  private static func sdp(_ fragments: String...) -> String {
    "v=0\r\n" + fragments.map { "a=ice-ufrag:\($0)\r\n" }.joined()
  }

  @Test(.feature("S0.54")) func `a candidate waits for its description, and then goes at once`() {
    var queue = TrickleQueue()
    #expect(queue.found(Self.candidate(1, of: "one")) == [])
    #expect(queue.found(Self.candidate(2, of: "one")) == [])
    #expect(queue.sent(Self.sdp("one")) == [Self.candidate(1, of: "one"), Self.candidate(2, of: "one")])
    #expect(queue.found(Self.candidate(3, of: "one")) == [Self.candidate(3, of: "one")])
  }

  @Test func `candidates of a restart wait for its offer, and those behind them too`() {
    var queue = TrickleQueue()
    _ = queue.sent(Self.sdp("one", "two"))
    #expect(queue.found(Self.candidate(1, of: "two")) == [Self.candidate(1, of: "two")])
    #expect(queue.found(Self.candidate(2, of: "new")) == [])
    #expect(queue.found(ICECandidateInit(candidate: "", usernameFragment: nil)) == [])
    #expect(
      queue.sent(Self.sdp("new")) == [
        Self.candidate(2, of: "new"), ICECandidateInit(candidate: "", usernameFragment: nil),
      ])
  }

  @Test func `one without a fragment waits for any description`() {
    var queue = TrickleQueue()
    #expect(queue.found(Self.candidate(1, of: nil)) == [])
    #expect(queue.sent(Self.sdp("one")) == [Self.candidate(1, of: nil)])
  }

  @Test func `what followed the last description is known, for when that is said again`() {
    var queue = TrickleQueue()
    _ = queue.sent(Self.sdp("one"))
    _ = queue.found(Self.candidate(1, of: "one"))
    _ = queue.sent(Self.sdp("two"))
    #expect(queue.followers == [])
    _ = queue.found(Self.candidate(2, of: "two"))
    _ = queue.found(Self.candidate(3, of: "two"))
    #expect(queue.followers == [Self.candidate(2, of: "two"), Self.candidate(3, of: "two")])
  }

  @Test func `a flood of candidates without a description stays bounded`() {
    var queue = TrickleQueue()
    for number in 0..<5_000 { _ = queue.found(Self.candidate(number, of: "one")) }
    #expect(queue.sent(Self.sdp("one")).count == 256)
    #expect(queue.followers.count == 256)
  }
}
