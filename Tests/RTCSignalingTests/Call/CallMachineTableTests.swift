import RTCPrimitives
import RTCSignaling
import Testing

/// Every state meets every input.
@Suite struct CallMachineTableTests {
  private typealias Input = CallMachine.Input
  private typealias Start = CallBench.Start

  private static func signal(_ body: CallSignal.Body, call: String = "c", from peer: String = "bob") -> Input {
    .signal(CallSignal(call: call, body), from: peer)
  }

  private static let candidate = ICECandidateInit(candidate: "candidate:1 1 udp 1 192.0.2.1 9 typ host", sdpMid: "0")

  private static let inputs: [(name: String, input: Input, at: Timestamp)] = [
    ("call the same", .call(peer: "bob", id: "n"), .zero),
    ("call another", .call(peer: "carol", id: "n"), .zero),
    ("call oneself", .call(peer: "me", id: "n"), .zero),
    ("accept", .answer(accept: true), .zero),
    ("reject", .answer(accept: false), .zero),
    ("hang up", .hangUp, .zero),
    ("they ring", signal(.ring()), .zero),
    ("they ring anew", signal(.ring(), call: "n"), .zero),
    ("another rings", signal(.ring(), call: "n", from: "carol"), .zero),
    ("we seem to ring", signal(.ring(), call: "n", from: "me"), .zero),
    ("they accept", signal(.accept), .zero),
    ("they accept an old call", signal(.accept, call: "old"), .zero),
    ("another accepts our call", signal(.accept, from: "carol"), .zero),
    ("they reject", signal(.reject(reason: "rejected")), .zero),
    ("they are busy", signal(.reject(reason: "busy")), .zero),
    ("they cannot", signal(.reject(reason: "unsupported")), .zero),
    ("they reject for a reason of their own", signal(.reject(reason: "asleep")), .zero),
    ("they reject an old call", signal(.reject(reason: "busy"), call: "old"), .zero),
    ("they offer", signal(.description(kind: "offer", sdp: "v=0")), .zero),
    ("they answer", signal(.description(kind: "answer", sdp: "v=0")), .zero),
    ("they offer in an old call", signal(.description(kind: "offer", sdp: "v=0"), call: "old"), .zero),
    ("they answer in an old call", signal(.description(kind: "answer", sdp: "v=0"), call: "old"), .zero),
    ("they mute", signal(.mute(kind: "audio", isMuted: true)), .zero),
    ("they end", signal(.end), .zero),
    ("they end an old call", signal(.end, call: "old"), .zero),
    ("another ends our call", signal(.end, from: "carol"), .zero),
    ("a candidate", .candidate(candidate, from: "bob", call: "c"), .zero),
    ("the last candidate", .candidate(nil, from: "bob", call: nil), .zero),
    ("a candidate of an old call", .candidate(candidate, from: "bob", call: "old"), .zero),
    ("bye", .bye(from: "bob", call: "c"), .zero),
    ("bye to all", .bye(from: "bob", call: nil), .zero),
    ("bye to an old call", .bye(from: "bob", call: "old"), .zero),
    ("another's bye", .bye(from: "carol", call: nil), .zero),
    ("unknown peer", .undelivered(to: "bob", code: "unknown-peer"), .zero),
    ("no words", .undelivered(to: "bob", code: "incompatible"), .zero),
    ("another unknown", .undelivered(to: "carol", code: "unknown-peer"), .zero),
    ("they leave", .left("bob"), .zero),
    ("another leaves", .left("carol"), .zero),
    ("no hub", .signalingEnded("it is gone"), .zero),
    ("media connects", .connected, .zero),
    ("media is interrupted", .connectionInterrupted, .zero),
    ("media is closed", .connectionClosed, .zero),
    ("media is lost", .connectionLost("silence"), .zero),
    ("media fails", .connectionFailed("no codec"), .zero),
    ("too early", .deadline, .zero),
    ("after the ring", .deadline, CallBench.ring),
    ("after the answer", .deadline, CallBench.answer),
    ("after connecting", .deadline, CallBench.connect),
  ]

  /// The expected actions; inputs that are not listed have none.
  private static let expected: [Start: [String: [String]]] = [
    .idle: free,
    .ended: free,
    .calling: calling,
    .rung: rung,
    .connectingOut: connecting,
    .connectingIn: connecting,
    .connected: connected.merging(["media is interrupted": ["reconnecting c"]]) { _, new in new },
    .reconnecting: connected.merging(["media connects": ["connected c"]]) { _, new in new },
  ]

  private static let oneself = ["misuse: \(CallMisuse.callingOneself)"]
  private static let nothing = ["misuse: \(CallMisuse.nothingToAnswer)"]
  private static let inCall = ["misuse: \(CallMisuse.inCall)"]
  private static let busy = ["reject n as busy to carol"]
  private static let dismissed = ["hang up old to bob"]
  private static func over(_ word: String) -> [String] { ["ended c: \(word)"] }
  private static func told(_ word: String) -> [String] { ["hang up c to bob", "ended c: \(word)"] }
  private static func closed(_ word: String) -> [String] { ["close", "ended c: \(word)"] }
  private static func shut(_ word: String) -> [String] { ["hang up c to bob", "close", "ended c: \(word)"] }

  private static let free: [String: [String]] = [
    "call the same": ["ringing n as caller", "ring n to bob"],
    "call another": ["ringing n as caller", "ring n to carol"],
    "call oneself": oneself,
    "accept": nothing, "reject": nothing,
    "they ring": ["ringing c as callee"],
    "they ring anew": ["ringing n as callee"],
    "another rings": ["ringing n as callee"],
    "they accept": ["hang up c to bob"],
    "they accept an old call": dismissed,
    "another accepts our call": ["hang up c to carol"],
    "they offer": ["hang up c to bob"],
    "they offer in an old call": dismissed,
  ]

  private static let calling: [String: [String]] = [
    "call the same": inCall, "call another": inCall, "call oneself": oneself,
    "accept": nothing, "reject": nothing,
    "hang up": told("hung up"),
    // Ours is the greater name: their call counts, and it is taken without asking, for we wanted it.
    "they ring": ["accept c to bob", "connecting c", "open c with bob as callee"],
    "they ring anew": ["accept n to bob", "connecting n", "open n with bob as callee"],
    "another rings": busy,
    "they accept": ["connecting c", "open c with bob as caller"],
    "they accept an old call": dismissed,
    "another accepts our call": ["hang up c to carol"],
    "they reject": over("rejected"),
    "they are busy": over("busy"),
    "they cannot": over("unsupported"),
    "they reject for a reason of their own": over("rejected"),
    "they offer in an old call": dismissed,
    "they end": over("hung up remotely"),
    "bye": over("hung up remotely"), "bye to all": over("hung up remotely"),
    "unknown peer": over("unknown peer"),
    "no words": over("unsupported"),
    "they leave": over("vanished"),
    "no hub": over("signaling lost"),
    "after the ring": told("no answer"),
    "after the answer": told("no answer"),
  ]

  private static let rung: [String: [String]] = [
    "call the same": ["accept c to bob", "connecting c", "open c with bob as callee"],
    "call another": inCall, "call oneself": oneself,
    "accept": ["accept c to bob", "connecting c", "open c with bob as callee"],
    "reject": ["reject c as rejected to bob", "ended c: hung up"],
    "hang up": ["reject c as rejected to bob", "ended c: hung up"],
    "they ring anew": ["ended c: hung up remotely", "ringing n as callee"],
    "another rings": busy,
    "they accept an old call": dismissed,
    "another accepts our call": ["hang up c to carol"],
    "they reject": over("rejected"),
    "they are busy": over("busy"),
    "they cannot": over("unsupported"),
    "they reject for a reason of their own": over("rejected"),
    "they offer in an old call": dismissed,
    "they end": over("hung up remotely"),
    "bye": over("hung up remotely"), "bye to all": over("hung up remotely"),
    "they leave": over("vanished"),
    "no hub": over("signaling lost"),
    "after the answer": told("missed"),
  ]

  private static let connecting: [String: [String]] = connected.merging([
    "unknown peer": closed("vanished"),
    "no words": closed("unsupported"),
    "no hub": closed("signaling lost"),
    "media connects": ["connected c"],
    "after the ring": shut("connect timeout"),
    "after the answer": shut("connect timeout"),
    "after connecting": shut("connect timeout"),
  ]) { _, new in new }

  private static let connected: [String: [String]] = [
    "call the same": inCall, "call another": inCall, "call oneself": oneself,
    "accept": nothing, "reject": nothing,
    "hang up": shut("hung up"),
    "they ring anew": ["close", "ended c: hung up remotely", "ringing n as callee"],
    "another rings": busy,
    "they accept an old call": dismissed,
    "another accepts our call": ["hang up c to carol"],
    "they reject": closed("rejected"),
    "they are busy": closed("busy"),
    "they cannot": closed("unsupported"),
    "they reject for a reason of their own": closed("rejected"),
    "they offer": ["pass offer"],
    "they answer": ["pass answer"],
    "they offer in an old call": dismissed,
    "they mute": ["audio muted"],
    "they end": closed("hung up remotely"),
    "a candidate": ["pass a candidate"],
    "the last candidate": ["pass the end of candidates"],
    "bye": closed("hung up remotely"), "bye to all": closed("hung up remotely"),
    "they leave": closed("vanished"),
    "media is closed": shut("hung up remotely"),
    "media is lost": shut("connection lost"),
    "media fails": shut("failed"),
  ]

  @Test(arguments: CallBench.Start.allCases)
  private func `every input in every state does what it should, and nothing else`(start: Start) {
    for (name, input, time) in Self.inputs {
      var bench = CallBench(start)
      bench.now = time
      #expect(bench.act(input) == Self.expected[start]?[name] ?? [], "\(start.rawValue): \(name)")
    }
    let names = Set(Self.inputs.map(\.name))
    #expect(Self.expected[start]?.keys.filter { !names.contains($0) } == [])
  }
}
