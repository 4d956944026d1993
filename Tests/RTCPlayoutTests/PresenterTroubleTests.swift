import RTCEngine
import RTCMedia
import RTCPlayout
import RTCPrimitives
import Testing

@Suite struct PresentingInTrouble {
  @Test func `an error asks for a key frame, again and again until one comes`() {
    let screen = VirtualScreen()
    for index in 0..<20 { screen.arrive(index, at: Double(index) / 10, key: index == 0, isDamaged: index == 5) }
    for index in 20..<60 { screen.arrive(index, at: Double(index) / 10, key: index == 40) }
    screen.run()
    #expect(screen.numbers == Array(0..<5) + Array(40..<60))
    let first = screen.requests.first.map(screen.seconds) ?? 0
    #expect(abs(first - 0.504) < 0.001)
    #expect(screen.requests.count >= 3)
    #expect(zip(screen.requests.dropFirst(), screen.requests).allSatisfy { $0 - $1 >= .milliseconds(500) })
    #expect(screen.presenter.statistics.framesDropped == 34 && screen.presenter.statistics.decoderErrors == 1)
  }

  @Test func `a request that is lost while the screen rests is made again`() {
    let screen = VirtualScreen()
    for index in 0..<3 { screen.arrive(index, at: Double(index) / 10, key: index == 0, isDamaged: index == 2) }
    screen.arrive(3, at: 4, key: true)
    screen.run()
    #expect(screen.numbers == [0, 1, 3] && (4...6).contains(screen.requests.count))
  }

  @Test func `a viewer that comes late asks at once and waits`() {
    let screen = VirtualScreen()
    for index in 7..<20 { screen.arrive(index, at: Double(index) / 10, key: index == 12) }
    screen.run()
    #expect(screen.numbers == Array(12..<20))
    #expect(screen.requests.map(screen.seconds) == [0.7])
  }

  @Test func `a gap that nobody noticed before is an error of the decoder's`() {
    let screen = VirtualScreen()
    for index in [0, 1, 2, 4, 5] { screen.arrive(index, at: Double(index) / 10, key: index == 0) }
    screen.arrive(6, at: 0.6, key: true)
    screen.run()
    #expect(screen.numbers == [0, 1, 2, 6] && screen.requests.count == 1)
  }

  @Test func `another codec goes on with its key frame`() {
    let screen = VirtualScreen()
    for index in 0..<5 { screen.arrive(index, at: Double(index) / 10, key: index == 0) }
    for index in 5..<15 { screen.arrive(index, at: Double(index) / 10, key: index == 8, codec: .vp9) }
    screen.run()
    #expect(screen.numbers == Array(0..<5) + Array(8..<15))
    #expect(screen.presenter.statistics.codec == .vp9)
  }

  @Test func `a codec that nobody decodes is dropped, and no key frame would help`() {
    let screen = VirtualScreen(codecs: [.vp8])
    for index in 0..<600 { screen.arrive(index, at: Double(index) / 10, key: index % 5 == 0, codec: .av1) }
    screen.run()
    #expect(screen.shown.isEmpty && screen.presenter.statistics.framesDropped == 600)
    #expect(screen.requests.isEmpty)
    for index in 600..<610 { screen.arrive(index, at: Double(index) / 10, key: index == 605) }
    screen.run()
    #expect(screen.numbers == Array(605..<610) && screen.requests.count == 1)
  }

  @Test func `a decoder that is too slow catches up at key frames, and something is shown all the time`() {
    let screen = VirtualScreen(decodeTime: .milliseconds(60))
    for index in 0..<600 { screen.arrive(index, at: Double(index) / 30, key: index % 60 == 0) }
    screen.run()
    let statistics = screen.presenter.statistics
    #expect(statistics.decoderErrors == 0 && statistics.framesDropped > 100)
    #expect(zip(screen.shown.dropFirst(), screen.shown).allSatisfy { $0.time - $1.time < .milliseconds(500) })
    for shown in screen.shown { #expect(screen.seconds(shown.time) - Double(shown.number) / 30 < 3) }
  }

  @Test func `no more pictures wait than are allowed, and what is left out costs a key frame`() {
    let screen = VirtualScreen(decodeTime: .seconds(30))
    for index in 0..<1_000 { screen.arrive(index, at: Double(index) / 30, key: index == 0) }
    screen.run(seconds: 70)
    let statistics = screen.presenter.statistics
    #expect(statistics.framesReceived == 1_000 && statistics.framesDropped >= 690)
    #expect(!screen.requests.isEmpty)
  }

  @Test func `pictures that show nothing are no trouble`() {
    var presenter = VideoPresenter(codecs: [.vp8])
    let now = Timestamp.zero + .seconds(1)
    let isNew = presenter.insert(
      ReceivedFrame(codec: .vp8, data: [1], isKeyFrame: true, timestamp: RTPTimestamp(0), received: now))
    #expect(isNew)
    guard case .decode(let frame, isFirst: true) = presenter.step(now) else {
      Issue.record("the frame is to be decoded")
      return
    }
    presenter.noteDecoded(frame, .decoded(nil, nil), began: now, ended: now + .milliseconds(4))
    guard case .wait(.distantFuture) = presenter.step(now + .milliseconds(4)) else {
      Issue.record("nothing is to be done")
      return
    }
    #expect(presenter.statistics.framesDecoded == 1 && presenter.statistics.framesShown == 0)
    #expect(presenter.statistics.firstDecoded == nil)
  }
}
