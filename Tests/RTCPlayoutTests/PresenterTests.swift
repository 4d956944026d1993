import FeatureKit
import RTCEngine
import RTCMedia
import RTCPlayout
import RTCPrimitives
import RTCWire
import Testing

@Suite struct Presenting {
  @Test func `motion that comes unevenly is shown evenly`() {
    let screen = VirtualScreen()
    var random = SeededGenerator(seed: 5)
    var last = 0.0
    for index in 0..<900 {
      let sent = Double(index) / 30
      last = max(last, sent + DelayTrace.gaussian.delay(sent, &random) / 1_000)
      screen.arrive(index, at: last, sent: sent, key: index == 0)
    }
    screen.run()
    let steps = zip(screen.shown.dropFirst(300), screen.shown.dropFirst(299)).map {
      ($0.time - $1.time).seconds * 1_000
    }
    #expect(screen.numbers == screen.numbers.sorted() && screen.numbers.count > 850)
    #expect(steps.filter { abs($0 - 33.3) > 10 }.count < steps.count / 8)
  }

  @Test(.feature("S4.31", "S4.36")) func `a screen at five pictures a second is shown as it comes`() {
    let screen = VirtualScreen()
    var random = SeededGenerator(seed: 6)
    var arrivals: [Double] = []
    for index in 0..<200 {
      let sent = Double(index) / 5
      arrivals.append(sent + DelayTrace.wifi.delay(sent, &random) / 1_000)
      screen.arrive(index, at: arrivals[index], sent: sent, key: index == 0)
    }
    screen.run()
    #expect(screen.numbers == Array(0..<200))
    for (index, shown) in screen.shown.enumerated() {
      #expect(screen.seconds(shown.time) - arrivals[index] < 0.005, "picture \(index)")
    }
  }

  @Test func `what comes after a rest does not wait, even when the network was bad`() {
    let screen = VirtualScreen()
    var random = SeededGenerator(seed: 7)
    var last = 0.0
    for index in 0..<300 {
      let sent = Double(index) / 30
      last = max(last, sent + DelayTrace.wifi.delay(sent, &random) / 1_000)
      screen.arrive(index, at: last, sent: sent, key: index == 0)
    }
    screen.arrive(300, at: 20.1, sent: 20)
    screen.run()
    #expect(screen.numbers.last == 300)
    #expect(screen.seconds(screen.shown.last!.time) < 20.105)
  }

  @Test func `a sender that wants no delay gets none`() {
    let screen = VirtualScreen()
    var random = SeededGenerator(seed: 8)
    var arrivals: [Double] = []
    for index in 0..<300 {
      let sent = Double(index) / 30
      arrivals.append(max(arrivals.last ?? 0, sent + DelayTrace.gaussian.delay(sent, &random) / 1_000))
      screen.arrive(index, at: arrivals[index], sent: sent, key: index == 0, playoutDelay: .immediate)
    }
    screen.run()
    #expect(screen.numbers.count >= 290)
    for shown in screen.shown { #expect(screen.seconds(shown.time) - arrivals[shown.number] < 0.009) }
  }

  @Test func `a delay that the sender asks for is kept by slow pictures too`() {
    let screen = VirtualScreen()
    let delay = PlayoutDelay(minimum: .milliseconds(200), maximum: .milliseconds(400))
    for index in 0..<20 { screen.arrive(index, at: Double(index) / 4, key: index == 0, playoutDelay: delay) }
    screen.run()
    #expect(screen.shown.allSatisfy { abs(screen.seconds($0.time) - Double($0.number) / 4 - 0.2) < 0.01 })
  }

  @Test func `waiting for the sound delays motion`() {
    let screen = VirtualScreen()
    screen.presenter.addedDelay = .milliseconds(120)
    for index in 0..<300 { screen.arrive(index, at: Double(index) / 30, key: index == 0) }
    screen.run()
    let late = screen.shown.suffix(100).map { screen.seconds($0.time) - Double($0.number) / 30 }
    #expect(late.allSatisfy { (0.12...0.16).contains($0) })
  }

  @Test func `pictures that come too late are decoded and not shown`() {
    let screen = VirtualScreen()
    for index in 0..<90 { screen.arrive(index, at: Double(index) / 30, key: index == 0) }
    // Nothing for half a second, then all of it.
    for index in 90..<105 { screen.arrive(index, at: 3.5, sent: Double(index) / 30) }
    for index in 105..<150 { screen.arrive(index, at: Double(index) / 30) }
    screen.run()
    let statistics = screen.presenter.statistics
    #expect(statistics.framesDecoded == 150 && statistics.framesDropped == 0)
    #expect(statistics.framesSkipped >= 5)
    #expect(statistics.firstDecoded == .zero + .seconds(1_000) + .milliseconds(4))
    #expect(screen.numbers == screen.numbers.sorted() && screen.numbers.last == 149)
    #expect(statistics.freezes == 1 && statistics.frozen > .milliseconds(400))
  }
}
