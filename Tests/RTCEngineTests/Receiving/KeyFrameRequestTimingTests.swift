import RTCEngine
import RTCPrimitives
import Testing

@Suite struct KeyFrameRequestTiming {
  private let start = Timestamp.zero + .seconds(5)

  /// The moments of requests within `seconds`, asked for at every millisecond.
  private func run(_ seconds: Int64, roundTrip: TimeDelta, feedback: FeedbackMechanisms)
    -> [(time: TimeDelta, request: RTCEngine.KeyFrameRequests.Request)]
  {
    var requests = RTCEngine.KeyFrameRequests()
    var made: [(TimeDelta, RTCEngine.KeyFrameRequests.Request)] = []
    for millisecond in 0..<seconds * 1_000 {
      let now = start + .milliseconds(millisecond)
      if let request = requests.ask(now, roundTrip: roundTrip, feedback: feedback) {
        made.append((now - start, request))
      }
    }
    return made
  }

  @Test func `requests in vain come ever more rarely`() {
    let made = run(20, roundTrip: .milliseconds(40), feedback: .pli)
    #expect(made.allSatisfy { $0.request == .pictureLoss })
    let pauses = zip(made.dropFirst(), made).map { $0.time - $1.time }
    #expect(pauses.first == RTCEngine.KeyFrameRequests.leastInterval)
    #expect(zip(pauses.dropFirst(), pauses).allSatisfy { $0 >= $1 })
    #expect(pauses.last == RTCEngine.KeyFrameRequests.longestInterval)
  }

  @Test func `no request comes before an answer can`() {
    let made = run(10, roundTrip: .milliseconds(900), feedback: .pli)
    #expect(zip(made.dropFirst(), made).allSatisfy { $0.time - $1.time >= .milliseconds(1_800) })
  }

  @Test func `FIR serves where PLI does not, each with another number`() {
    let only = run(3, roundTrip: .zero, feedback: .fir).map(\.request)
    #expect(only.prefix(3) == [.fullIntra(1), .fullIntra(2), .fullIntra(3)])
    let both = run(10, roundTrip: .zero, feedback: [.pli, .fir]).map(\.request)
    #expect(both.prefix(4) == [.pictureLoss, .pictureLoss, .pictureLoss, .fullIntra(1)])
  }

  @Test func `a key frame makes the next request as quick as the first`() {
    var requests = RTCEngine.KeyFrameRequests()
    var now = start
    for _ in 0..<8 {
      now = max(now, requests.earliest(roundTrip: .zero))
      _ = requests.ask(now, roundTrip: .zero, feedback: .pli)
    }
    #expect(requests.earliest(roundTrip: .zero) == now + .milliseconds(1_800))
    requests.keyFrameReceived()
    #expect(requests.earliest(roundTrip: .zero) == now + RTCEngine.KeyFrameRequests.leastInterval)
  }
}
