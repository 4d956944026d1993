import RTCEngine
import RTCPrimitives
import RTCTestKit
import Testing

/// Sending after a pause.
@Suite struct RestTests {
  private func bed(_ change: (inout CongestionBed.Options) -> Void) -> CongestionBed {
    var options = CongestionBed.Options()
    options.duration = .seconds(40)
    options.flows[0].delay = .milliseconds(25)
    options.flows[0].pauses = [.seconds(20)..<(.seconds(30))]
    change(&options)
    return CongestionBed(options)
  }

  @Test func `feedback that is missing from the first packet after a rest is noticed`() {
    var bed = bed { $0.outages = [.seconds(29)..<(.seconds(34))] }
    bed.run()
    let targets = bed.meters[0].slots.map(\.target)
    #expect(targets[299] > 2_000_000)
    #expect(targets[315] <= targets[299] / 2)
    #expect(bed.meters[0].slots[315].reason == .feedback)
  }

  @Test func `an estimator that rests is not woken before something is sent`() {
    var bed = bed { _ in }
    bed.run(until: .zero + .seconds(25))
    #expect(bed.flows[0].rate.nextDeadline == .distantFuture)
    bed.run(until: .zero + .milliseconds(30_040))
    #expect(bed.flows[0].rate.nextDeadline < .zero + .milliseconds(30_200))
  }
}
