import FeatureKit
import RTCPrimitives
import RTCSignaling
import Testing

/// A client's session on a clock that moves only when told, against a hub that says what the test wants.
private struct SessionBench {
  var session: HubSession
  var now = Timestamp.zero
  var told: [HubClientEvent] = []
  var sent: [String] = []
  var connects = 0
  var disconnects = 0
  var pings = 0

  init(
    name: String? = "alice", token: String? = nil, seed: UInt64 = 1,
    _ change: (inout HubSession.Options) -> Void = { _ in }
  ) {
    var options = HubSession.Options()
    change(&options)
    session = HubSession(
      address: HubAddress("ws://hub.example")!, name: name, token: token, secret: "0123456789abcdef0123456789abcdef",
      options: options, seed: seed)
  }

  mutating func handle(_ input: HubSession.Input) {
    for action in session.handle(input, now: now) {
      switch action {
      case .connect: connects += 1
      case .send(let text): sent.append(text)
      case .ping: pings += 1
      case .disconnect: disconnects += 1
      case .report(let event): told.append(event)
      }
    }
  }

  mutating func hear(_ json: String) { handle(.received(Array(json.utf8))) }

  mutating func register(resumed: Bool = false, rooms: String = "") {
    handle(.opened)
    hear(#"{"type":"registered","id":"alice","secret":"s","resumed":\#(resumed),"rooms":[\#(rooms)],"iceServers":[]}"#)
  }

  /// Started, registered, and nothing of it remembered.
  mutating func begin() {
    handle(.start)
    register()
    take()
  }

  mutating func pass(_ time: TimeDelta) {
    let end = now + time
    while let due = session.deadline, due <= end {
      now = max(now, due)
      handle(.deadline)
    }
    now = end
  }

  mutating func take() {
    told = []
    sent = []
  }
}

@Suite struct HubSessionTests {
  @Test func `who comes back says so, and who comes for the first time does not`() {
    var bench = SessionBench()
    bench.handle(.start)
    bench.handle(.opened)
    #expect(bench.sent.count == 1 && !bench.sent[0].contains("returning"))
    bench.register()
    bench.handle(.closed(code: nil))
    bench.take()
    bench.pass(.seconds(1))
    bench.handle(.opened)
    #expect(bench.sent.count == 1 && bench.sent[0].contains(#""returning":true"#))
  }

  @Test func `it asks who is there, and again when it is back while it follows`() {
    var bench = SessionBench()
    bench.handle(.follow)
    bench.begin()
    bench.handle(.list)
    #expect(bench.sent == [#"{"type":"list","follow":true}"#])
    bench.hear(#"{"type":"present","peers":["bob",7]}"#)
    bench.hear(#"{"type":"peer-arrived","peer":"carol"}"#)
    bench.hear(#"{"type":"peer-gone","peer":"bob"}"#)
    #expect(bench.told == [.present(["bob"]), .peerArrived("carol"), .peerGone("bob")])
    bench.handle(.closed(code: nil))
    bench.take()
    bench.pass(.seconds(1))
    bench.register(resumed: true)
    #expect(bench.sent.dropFirst() == [#"{"type":"list","follow":true}"#])
  }

  @Test func `it registers with name, token and secret as soon as the connection is made`() {
    var bench = SessionBench(token: "sesame")
    bench.handle(.start)
    #expect(bench.connects == 1 && bench.sent.isEmpty)
    bench.handle(.opened)
    #expect(
      bench.sent == [
        #"{"type":"register","secret":"0123456789abcdef0123456789abcdef","id":"alice","token":"sesame"}"#
      ])
    bench.hear(
      #"{"type":"registered","id":"alice","iceServers":[{"urls":["stun:a","turn:b"],"username":"u","credential":"c"}]}"#
    )
    #expect(
      bench.told == [
        .registered(
          HubRegistration(
            id: "alice",
            iceServers: [
              ICEServer(
                [ICEServerURL(scheme: .stun, host: "a"), ICEServerURL(scheme: .turn, host: "b")], username: "u",
                credential: "c")
            ]))
      ])
  }

  @Test func `fresh credentials are told as they come`() {
    var bench = SessionBench()
    bench.begin()
    bench.hear(#"{"type":"ice-servers","iceServers":[{"urls":"turn:t","username":"9:alice","credential":"c"}]}"#)
    let server = ICEServer([ICEServerURL(scheme: .turn, host: "t")], username: "9:alice", credential: "c")
    #expect(bench.told == [.iceServers([server])])
  }

  @Test(.feature("S3.21")) func `a hub that does not answer within ten seconds ends the first attempt`() throws {
    var bench = SessionBench()
    bench.handle(.start)
    bench.pass(.seconds(9))
    #expect(bench.told.isEmpty)
    bench.handle(.opened)
    bench.pass(.seconds(2))
    let address = try #require(HubAddress("ws://hub.example"))
    #expect(bench.told == [.ended(.timeout(address, seconds: 10))])
    #expect(bench.disconnects > 0 && bench.session.deadline == nil)
  }

  @Test func `the first attempt ends with what stood in its way`() {
    for (code, error) in [
      ("bad-token", HubClientError.badToken(hadToken: false)), ("taken-name", .nameTaken("alice")),
      ("bad-name", .badName("No.")), ("too-many-peers", .refused(HubRefusal(code: "too-many-peers", message: "No."))),
    ] {
      var bench = SessionBench()
      bench.handle(.start)
      bench.handle(.opened)
      bench.hear(#"{"type":"error","code":"\#(code)","message":"No."}"#)
      #expect(bench.told == [.ended(error)])
    }
    var bench = SessionBench()
    bench.handle(.start)
    bench.handle(.failed(.unknownHost("hub.example")))
    #expect(bench.told == [.ended(.unknownHost("hub.example"))])
  }

  @Test(arguments: 0..<20 as Range<UInt64>) func `a broken connection comes back, with pauses that grow and differ`(
    seed: UInt64
  ) {
    var bench = SessionBench(seed: seed)
    bench.begin()
    bench.handle(.closed(code: nil))
    var pauses: [TimeDelta] = []
    for attempt in 1...10 {
      guard case .disconnected(_, let pause)? = bench.told.last else { Issue.record("no pause"); return }
      let longest = min(TimeDelta.milliseconds(500 << Int64(attempt)), .seconds(30))
      #expect(pause >= longest / 2 && pause <= longest)
      pauses.append(pause)
      #expect(bench.connects == attempt)
      bench.pass(pause)
      #expect(bench.connects == attempt + 1)
      bench.handle(.failed(.unknownHost("hub.example")))
    }
    #expect(Set(pauses).count > 5)
  }

  @Test func `what is sent meanwhile waits, up to a limit`() {
    var bench = SessionBench { $0.queuedMessages = 2 }
    bench.begin()
    bench.handle(.closed(code: 1006))
    for number in 1...3 { bench.handle(.send(.signal(data: "\(number)"), to: "bob")) }
    #expect(bench.sent.isEmpty)
    bench.pass(.seconds(1))
    bench.register(resumed: true)
    #expect(
      bench.sent.dropFirst() == [
        #"{"type":"signal","to":"bob","data":2}"#, #"{"type":"signal","to":"bob","data":3}"#,
      ])
  }

  @Test func `rooms are entered again where the hub has forgotten them, and left where it has not`() {
    var bench = SessionBench()
    bench.begin()
    bench.handle(.join(room: "den"))
    bench.handle(.join(room: "attic"))
    bench.handle(.closed(code: nil))
    bench.handle(.leave(room: "den"))
    bench.take()
    bench.pass(.seconds(1))
    bench.register(resumed: true, rooms: #""den""#)
    #expect(
      bench.sent.dropFirst() == [#"{"type":"leave","room":"den"}"#, #"{"type":"join","room":"attic"}"#])
  }

  @Test func `a silent hub is asked for a sign of life, then given up`() {
    var bench = SessionBench()
    bench.begin()
    bench.pass(.seconds(14))
    #expect(bench.pings == 0)
    bench.pass(.seconds(2))
    #expect(bench.pings == 1)
    bench.handle(.heard)
    bench.pass(.seconds(16))
    #expect(bench.pings == 2 && bench.told.isEmpty)
    bench.pass(.seconds(10))
    guard case .disconnected(.connectionLost, _)? = bench.told.first else { Issue.record("still there"); return }
    #expect(bench.disconnects == 1)
  }

  @Test func `messages become events, and what cannot be read becomes nothing`() {
    var bench = SessionBench()
    bench.begin()
    bench.handle(.join(room: "den"))
    for json in [
      #"{"type":"signal","from":"bob","data":{"x": 1}}"#,
      #"{"type":"candidate","from":"bob","call":"k","candidate":{"candidate":"c","sdpMid":"0","usernameFragment":"u"}}"#,
      #"{"type":"candidate","from":"bob","candidate":null}"#, #"{"type":"bye","from":"bob","reason":"busy"}"#,
      #"{"type":"peers","room":"den","peers":["bob",7]}"#, #"{"type":"peer-joined","room":"den","peer":"carol"}"#,
      #"{"type":"peer-left","room":"den","peer":"carol"}"#,
      #"{"type":"error","code":"unknown-peer","message":"No.","to":"dave"}"#, #"{"type":"pong"}"#, "", "[]", "{",
      #"{"type":"dance"}"#, #"{"type":"signal"}"#, #"{"type":7}"#, #"{"type":"peers"}"#,
    ] { bench.hear(json) }
    #expect(
      bench.told == [
        .signal(from: "bob", data: #"{"x": 1}"#, call: nil),
        .candidate(from: "bob", ICECandidateInit(candidate: "c", sdpMid: "0", usernameFragment: "u"), call: "k"),
        .candidate(from: "bob", nil, call: nil), .bye(from: "bob", reason: "busy", call: nil),
        .peers(room: "den", ["bob"]), .peerJoined(room: "den", peer: "carol"), .peerLeft(room: "den", peer: "carol"),
        .refused(HubRefusal(code: "unknown-peer", message: "No.", peer: "dave")),
      ])
  }

  @Test func `who is replaced does not come back`() {
    var bench = SessionBench()
    bench.begin()
    bench.hear(#"{"type":"error","code":"replaced","message":"No."}"#)
    bench.handle(.closed(code: 4000))
    #expect(bench.told == [.ended(.replaced)])
    #expect(bench.session.deadline == nil)
  }

  @Test func `closing says goodbye once, whatever goes on`() {
    var bench = SessionBench()
    bench.begin()
    bench.handle(.close)
    bench.handle(.close)
    bench.handle(.closed(code: 1000))
    #expect(bench.told == [.ended(nil)])
    #expect(bench.disconnects == 1)
    var pausing = SessionBench()
    pausing.begin()
    pausing.handle(.closed(code: nil))
    pausing.take()
    pausing.handle(.close)
    pausing.pass(.seconds(60))
    #expect(pausing.told == [.ended(nil)] && pausing.connects == 1)
  }

  @Test func `a session and a hub go together`() {
    var bench = SessionBench()
    var hub = HubBench()
    hub.enter(2, as: "bob")
    bench.handle(.start)
    hub.open(1)
    bench.handle(.opened)
    for text in bench.sent { hub.say(1, text) }
    for text in hub.take(1) { bench.hear(text) }
    guard case .registered(let registration)? = bench.told.last else { Issue.record("not registered"); return }
    #expect(registration.id == "alice" && !registration.isResumed)
    bench.take()
    bench.handle(.send(.signal(data: CallSignal(call: "k", .ring()).json), to: "bob"))
    for text in bench.sent { hub.say(1, text) }
    #expect(hub.take(2) == [#"{"type":"signal","from":"alice","data":{"call":"k","type":"call","media":{}}}"#])
    hub.close(1, .lost)
    bench.handle(.closed(code: nil))
    hub.say(2, #"{"type":"signal","to":"alice","data":{"call":"k","type":"accept"}}"#)
    bench.take()
    bench.pass(.seconds(1))
    hub.open(3)
    bench.handle(.opened)
    for text in bench.sent { hub.say(3, text) }
    for text in hub.take(3) { bench.hear(text) }
    guard case .registered(let second)? = bench.told.first, second.isResumed else { Issue.record("anew"); return }
    #expect(bench.told.last == .signal(from: "bob", data: #"{"call":"k","type":"accept"}"#, call: nil))
  }
}
