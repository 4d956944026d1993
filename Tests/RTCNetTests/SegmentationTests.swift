import RTCNet
import RTCPrimitives
import Testing

@Suite struct SegmentationTests {
  @Test(arguments: loopbackAddresses)
  func `equal datagrams and a shorter last one go out in one call and arrive in order`(ip: IPAddress) throws {
    let near = try LoopFixture()
    let far = try LoopFixture()
    let route = near.route(to: far, ip)
    let sent = numbered(50, size: 1200, to: route) + numbered(1, size: 77, to: route)
    near.send(sent)
    #expect(far.inbox.wait(for: 51).map(\.bytes) == sent.map(\.bytes))
    let counters = near.counters
    #expect(counters.sentDatagrams == 51)
    #expect(counters.sentBytes == 50 * 1200 + 77)
    #expect(counters.segmentedDatagrams == 51)
    #expect(counters.sendCalls == 1)
  }

  @Test(arguments: loopbackAddresses) func `with segmentation off the same arrives datagram by datagram`(ip: IPAddress)
    throws
  {
    var options = UDPPort.Options()
    options.usesSegmentation = false
    let near = try LoopFixture(options)
    let far = try LoopFixture()
    let sent = numbered(150, size: 1200, to: near.route(to: far, ip))
    near.send(sent)
    #expect(far.inbox.wait(for: 150).map(\.bytes) == sent.map(\.bytes))
    let counters = near.counters
    #expect(counters.sentDatagrams == 150)
    #expect(counters.segmentedDatagrams == 0)
    #expect(counters.sendCalls == 3)  // 64 datagrams a call
  }

  @Test func `a refusal by the kernel costs one call and is remembered`() throws {
    let near = try LoopFixture(adjust: { $0.descriptors.forEach(switchOffChecksums) })
    let far = try LoopFixture()
    let sent = numbered(50, size: 1000, to: near.route(to: far, .loopbackV4))
    near.send(sent)
    near.send(sent)
    #expect(far.inbox.wait(for: 100).map(\.bytes) == (sent + sent).map(\.bytes))
    let counters = near.counters
    #expect(counters.sentDatagrams == 100)
    #expect(counters.segmentedDatagrams == 0)
    #expect(counters.segmentationRefusals == 1)
    #expect(counters.dropped == 0)
  }

  @Test func `a batch larger than the queue arrives whole`() throws {
    let near = try LoopFixture()
    let far = try LoopFixture()
    let route = near.route(to: far, .loopbackV4)
    let sent = (0..<150).flatMap { numbered(3, size: 100 + $0, to: route) }  // rising sizes: 150 runs of three
    near.send(sent)
    #expect(far.inbox.wait(for: 450).map(\.bytes) == sent.map(\.bytes))
    #expect(near.counters.sendCalls == 3)
  }
}
