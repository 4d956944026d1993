import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct Pacing {
  @Test func `a frame of ten kilobytes leaves whole and at once`() throws {
    let pair = try connectedPair(loss: 0)
    let left = send(frameSize: 10_000, on: pair)
    #expect(left.reduce(0) { $0 + $1.bytes.count } > 10_000)
    #expect(Set(left.map(\.time)).count == 1)
  }

  @Test func `a key frame of 200 kilobytes leaves at two and a half times the target`() throws {
    let pair = try connectedPair(loss: 0)
    let left = send(frameSize: 200_000, on: pair)
    let time = left.last!.time - left.first!.time
    let rate = pair.sender.peer.statistics.targetBitrate.scaled(by: 2.5)
    #expect(abs(time.seconds / rate.time(forBytes: 200_000 - 12_000).seconds - 1) < 0.4)
    // In groups, so that few calls send it.
    #expect(Set(left.map(\.time)).count < 60)
    #expect(left.count { $0.time == left.first!.time } * 1_200 < 40_000)
  }

  @Test func `a key frame of 200 kilobytes is spread at high loss`() throws {
    let pair = try connectedPair(loss: 0.2)
    let rate = pair.sender.peer.statistics.targetBitrate
    let left = send(frameSize: 200_000, on: pair)
    let time = left.last!.time - left.first!.time
    #expect(time.seconds > 0.8 * rate.scaled(by: 2.5).time(forBytes: 200_000 - 12_000).seconds)
    #expect(left.count { $0.time == left.first!.time } * 1_200 <= 14_400)
  }

  private func connectedPair(loss: Double) throws -> PeerPair {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    pair.network[pair.mediaDirection].loss = loss
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(4))
    pair.sender.source!.nextTime = .distantFuture
    pair.network.setConditions(.delayed(.milliseconds(20)))
    pair.run(for: .milliseconds(600))
    return pair
  }

  /// The datagrams that leave for one key frame.
  private func send(frameSize: Int, on pair: PeerPair) -> [PeerPair.Departure] {
    pair.recordsDepartures = true
    pair.sender.followsTargetBitrate = false
    pair.sender.source!.targetBitrate = nil
    pair.sender.source!.keyFrameSize = frameSize
    pair.sender.source!.needsKeyFrame = true
    let frame = pair.sender.source!.next(pair.now)
    pair.sender.source!.nextTime = .distantFuture
    pair.send(frame, from: pair.options.sender)
    pair.run(for: .seconds(8))
    let media = pair.departures.filter { $0.header != nil }
    guard let timestamp = media.last?.header?.timestamp, let ssrc = media.last?.header?.ssrc else { return [] }
    return media.filter { $0.header?.timestamp == timestamp && $0.header?.ssrc == ssrc }
  }
}
