import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct Renditions {
  private func connected() throws -> PeerPair {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    return pair
  }

  private func source(_ pair: PeerPair, _ rendition: UInt32, from number: Int = 0) -> SyntheticVideo {
    var source = SyntheticVideo(from: pair.now)
    source.rendition = Rendition(rendition)
    for _ in 0..<number { _ = source.next(pair.now) }
    source.needsKeyFrame = true
    return source
  }

  private func send(_ frame: EncodedFrame, on pair: PeerPair) {
    pair.send(frame, from: .offerer)
    pair.run(for: .milliseconds(40))
  }

  @Test func `frames of another rendition pass a viewer by until its key frame comes`() throws {
    let pair = try connected()
    var (first, second) = (source(pair, 0), source(pair, 1, from: 100))
    send(first.next(pair.now), on: pair)
    second.needsKeyFrame = false
    let asked = pair.sender.keyFrameRequests.count
    send(second.next(pair.now), on: pair)
    send(first.next(pair.now), on: pair)
    #expect(FrameChain(pair.receiver.frames).numbers == [0, 1])
    #expect(pair.sender.keyFrameRequests.count == asked)
    second.needsKeyFrame = true
    send(second.next(pair.now), on: pair)
    send(first.next(pair.now), on: pair)
    send(second.next(pair.now), on: pair)
    #expect(FrameChain(pair.receiver.frames).numbers == [0, 1, 101, 102])
    #expect(FrameChain(pair.receiver.frames).isSound)
  }

  @Test func `equal numbers of two renditions are not mistaken for each other`() throws {
    let pair = try connected()
    var (first, second) = (source(pair, 0), source(pair, 1))
    send(first.next(pair.now), on: pair)
    _ = second.next(pair.now)
    second.needsKeyFrame = false
    send(second.next(pair.now), on: pair)  // number 1, but not of the rendition that has begun
    #expect(pair.receiver.frames.count == 1)
    send(first.next(pair.now), on: pair)
    #expect(FrameChain(pair.receiver.frames).numbers == [0, 1])
  }
}
