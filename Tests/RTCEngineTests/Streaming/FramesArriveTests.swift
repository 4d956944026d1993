import RTCEngine
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct FramesArrive {
  @Test(arguments: [0, 0.02, 0.1, 0.3], [1, 2, 3, 4] as [UInt64])
  func `frames arrive as they left, in order, whatever the loss`(_ loss: Double, _ seed: UInt64) throws {
    var options = PeerPair.Options()
    options.seed = seed
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    var conditions = NetworkConditions.delayed(.milliseconds(20))
    conditions.loss = loss
    pair.network.setConditions(conditions)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(20))
    let chain = FrameChain(pair.receiver.frames)
    #expect(chain.isSound)
    let made = Int(pair.sender.source!.nextNumber)
    #expect(made >= 500)
    let expected = loss == 0 ? made - 1 : made * (loss <= 0.1 ? 95 : 80) / 100
    #expect(chain.numbers.count >= expected, "\(pair.sender.peer.statistics)")
    #expect(pair.areConnected)
  }
}
