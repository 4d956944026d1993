import RTCEngine
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct KeyFramesOnRequest {
  @Test func `an application's request for a key frame reaches the source once, however often it asks within a moment`()
    throws
  {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(2))
    let before = pair.sender.keyFrameRequests.count
    for _ in 0..<5 {
      pair.perform(pair.options.sender.other, .requestKeyFrame(nil))
      pair.run(for: .milliseconds(10))
    }
    pair.run(for: .milliseconds(100))
    #expect(pair.sender.keyFrameRequests.count == before + 1)
    #expect(pair.sender.peer.statistics.video.pliCount == 1)
    #expect(FrameChain(pair.receiver.frames).keyFrames == 2)
    pair.run(for: .seconds(1))
    pair.perform(pair.options.sender.other, .requestKeyFrame(nil))
    pair.run(for: .seconds(1))
    #expect(pair.sender.keyFrameRequests.count == before + 2)
  }

  @Test func `where PLI is not agreed, FIR does the same`() throws {
    var options = PeerPair.Options()
    options.rewrite = { _, description in
      description.split(separator: "\r\n").filter { !$0.hasSuffix("nack pli") }.joined(separator: "\r\n") + "\r\n"
    }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(1))
    for _ in 0..<3 {
      pair.perform(pair.options.sender.other, .requestKeyFrame(nil))
      pair.run(for: .seconds(1))
    }
    #expect(pair.sender.peer.statistics.video.firCount == 3)
    #expect(pair.sender.peer.statistics.video.pliCount == 0)
    #expect(FrameChain(pair.receiver.frames).keyFrames == 4)
  }

  @Test func `the first request of a rest in which nothing is missing is let pass, the second is served`() throws {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(1))
    pair.sender.source = nil
    pair.run(for: .seconds(3))
    let before = pair.sender.keyFrameRequests.count
    pair.perform(pair.options.sender.other, .requestKeyFrame(nil))
    pair.run(for: .seconds(1))
    #expect(pair.sender.keyFrameRequests.count == before)
    pair.perform(pair.options.sender.other, .requestKeyFrame(nil))
    pair.run(for: .seconds(1))
    #expect(pair.sender.keyFrameRequests.count == before + 1)
  }

  @Test func `behind a media server the first request of a rest is served too`() throws {
    var options = PeerPair.Options()
    options.configure = { _, configuration in configuration.ignoresRedundantPLI = false }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(1))
    pair.sender.source = nil
    pair.run(for: .seconds(3))
    let before = pair.sender.keyFrameRequests.count
    pair.perform(pair.options.sender.other, .requestKeyFrame(nil))
    pair.run(for: .seconds(1))
    #expect(pair.sender.keyFrameRequests.count == before + 1)
  }

  @Test func `a frame left out by the source is answered by a request, and nothing undecodable leaves`() throws {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(1))
    _ = pair.sender.source!.next(pair.now)  // made, never handed over
    pair.run(for: .seconds(1))
    let chain = FrameChain(pair.receiver.frames)
    #expect(chain.isSound && chain.keyFrames == 2)
    #expect(pair.sender.peer.statistics.video.framesSkipped == 1)
  }

  @Test func `a source that never makes the key frame is asked again, but not for every frame`() throws {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(interval: .milliseconds(10), from: pair.now)
    pair.run(for: .seconds(1))
    pair.sender.answersKeyFrameRequests = false
    let before = pair.sender.keyFrameRequests.count
    _ = pair.sender.source!.next(pair.now)
    pair.run(for: .seconds(1))
    #expect((3...4).contains(pair.sender.keyFrameRequests.count - before))
  }

  @Test func `an empty frame is nothing to send and breaks nothing`() throws {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    var source = SyntheticVideo(from: pair.now)
    pair.send(source.next(pair.now), from: .offerer)
    var empty = source.next(pair.now)
    empty.data = []
    pair.send(empty, from: .offerer)
    pair.send(source.next(pair.now), from: .offerer)
    pair.run(for: .seconds(1))
    #expect(pair.receiver.frames.count == 2)
  }
}
