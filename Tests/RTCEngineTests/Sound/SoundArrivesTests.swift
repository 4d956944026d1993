import RTCEngine
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct SoundArrives {
  private func pair(seed: UInt64 = 1, video: Bool = true) throws -> PeerPair {
    var options = PeerPair.Options()
    options.seed = seed
    options.configure = { side, configuration in
      if side == .offerer { configuration.sendsAudio = .init() } else { configuration.receivesAudio = true }
      if !video {
        configuration.sendsVideo = nil
        configuration.receivesVideo = false
      }
    }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    return pair
  }

  @Test(arguments: [0, 0.05, 0.2]) func `sound and picture arrive together, with and without loss`(_ loss: Double)
    throws
  {
    let pair = try pair(seed: 3)
    pair.network[pair.mediaDirection].loss = loss
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.sender.audioSource = SyntheticAudio(from: pair.now)
    pair.run(for: .seconds(20))
    let numbers = pair.receiver.audio.map { SyntheticAudio.number(of: $0.payload) }
    #expect(numbers.allSatisfy { $0 != nil })
    let known = numbers.compactMap { $0 }
    #expect(zip(known, known.dropFirst()).allSatisfy { $0 < $1 })
    let arrived = Double(known.count) / Double(try #require(known.last) + 1)
    // What is lost comes again with the next packet, once the listener has said that much is lost.
    #expect(arrived > (1 - loss) - 0.03)
    #expect(FrameChain(pair.receiver.frames).isSound)
    #expect(pair.receiver.frames.count > (loss < 0.1 ? 480 : 300))
    let statistics = pair.sender.peer.statistics
    #expect(statistics.audio.packetsSent >= 998 && statistics.audio.framesUnfit == 0)
    #expect(statistics.audio.payloadBytesSent == statistics.audio.packetsSent * 160)
  }

  @Test func `a peer may send nothing but sound`() throws {
    let pair = try pair(video: false)
    pair.sender.audioSource = SyntheticAudio(from: pair.now)
    pair.run(for: .seconds(5))
    #expect(pair.receiver.audio.count >= 247)
    #expect(pair.receiver.peer.statistics.audioPacketsReceived == pair.receiver.audio.count)
    let roundTrip = try #require(pair.sender.peer.statistics.roundTripTime)
    #expect(abs((roundTrip - .milliseconds(40)).microseconds) < 100)
    #expect(pair.receiver.peer.statistics.drops.total == 0)
  }

  @Test func `timestamps and numbers follow the positions, and the first packet is marked`() throws {
    let pair = try pair(video: false)
    pair.sender.audioSource = SyntheticAudio(firstPosition: .init(UInt32.max) - 50_000, from: pair.now)
    pair.run(for: .seconds(3))
    let packets = pair.receiver.audio
    for (before, after) in zip(packets, packets.dropFirst()) {
      #expect(after.timestamp.distance(from: before.timestamp) == SyntheticAudio.sampleCount)
      #expect(after.number == before.number + 1)
    }
    #expect(packets.map(\.marker) == [true] + packets.dropFirst().map { _ in false })
  }

  @Test func `sound leaves at once while a large picture waits for the pacer`() throws {
    let pair = try pair()
    pair.sender.source = SyntheticVideo(keyFrameSize: 400_000, from: pair.now)
    pair.sender.audioSource = SyntheticAudio(from: pair.now)
    pair.run(for: .seconds(2))
    for packet in pair.receiver.audio {
      let number = try #require(SyntheticAudio.number(of: packet.payload))
      let first = try #require(pair.receiver.audio.first).received
      #expect(packet.received - first == .milliseconds(20) * Int64(number))
    }
  }

  @Test func `what no packet can hold is left out and counted`() throws {
    let pair = try pair(video: false)
    pair.sender.audioSource = SyntheticAudio(packetSize: 1_430, from: pair.now)
    pair.run(for: .seconds(1))
    #expect(pair.receiver.audio.isEmpty)
    #expect(pair.sender.peer.statistics.audio.framesUnfit >= 49)
    pair.sender.audioSource = SyntheticAudio(packetSize: 1_400, from: pair.now)
    pair.run(for: .seconds(1))
    #expect(pair.receiver.audio.count >= 48)
  }

  @Test func `the listener's loss is told when it changes`() throws {
    let pair = try pair(seed: 5)
    pair.sender.audioSource = SyntheticAudio(from: pair.now)
    pair.run(for: .seconds(3))
    #expect(pair.sender.audioLosses.isEmpty)
    pair.network[pair.mediaDirection].loss = 0.2
    pair.run(for: .seconds(20))
    let losses = pair.sender.audioLosses
    #expect(losses.count > 5)
    #expect(abs(losses.reduce(0, +) / Double(losses.count) - 0.2) < 0.06)
    pair.network[pair.mediaDirection].loss = 0
    pair.run(for: .seconds(3))
    #expect(pair.sender.audioLosses.last == 0)
    #expect(pair.sender.peer.statistics.audio.fractionLost == 0)
  }

  @Test func `a picture at rest costs no key frames while sound plays on`() throws {
    let pair = try pair()
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.sender.audioSource = SyntheticAudio(from: pair.now)
    pair.run(for: .seconds(2))
    pair.sender.source?.nextTime = .distantFuture
    pair.run(for: .seconds(4))
    let before = pair.sender.keyFrameRequests.count
    pair.perform(pair.options.sender.other, .requestKeyFrame(nil))
    pair.run(for: .seconds(1))
    #expect(pair.sender.keyFrameRequests.count == before)
    #expect(pair.sender.peer.statistics.video.pliCount >= 1)
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>) func `the lost end of a picture is sent again although sound goes on`(
    _ seed: UInt64
  ) throws {
    let pair = try pair(seed: seed)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.sender.audioSource = SyntheticAudio(from: pair.now)
    pair.run(for: .seconds(2))
    pair.network[pair.mediaDirection].loss = 0.3
    pair.run(for: .milliseconds(200))
    // The last picture before a rest is lost but for some of its packets.
    pair.sender.source?.nextTime = .distantFuture
    pair.network[pair.mediaDirection].loss = 0
    pair.run(for: .seconds(4))
    let last = try #require(pair.sender.source).nextNumber - 1
    let frame = try #require(pair.receiver.frames.last)
    #expect(SyntheticVideo.number(of: frame.data, isKeyFrame: frame.isKeyFrame) == last)
  }
}
