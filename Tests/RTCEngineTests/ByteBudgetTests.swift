import RTCEngine
import RTCMedia
import RTCPrimitives
import Testing

/// B10: what the packets of one remote peer's videos may take that wait to become frames.
@Suite struct ByteBudgetTests {
  /// A video whose first packet never comes, so that all that follow wait.
  private struct Video {
    var stream: VideoReceiveStream
    var number = SequenceNumber(1_000)
    var frames: [ReceivedFrame] = []

    init(_ source: UInt32, _ memory: ByteBudget?) {
      stream = VideoReceiveStream(ssrc: SSRC(source), first: SequenceNumber(999), now: .zero, memory: memory)
    }

    /// A packet of a delta frame of VP8, or a whole key frame of one packet.
    mutating func receive(isKeyFrame: Bool = false) -> VideoReceiveStream.Outcome {
      number = SequenceNumber(number.value &+ 1)
      let payload: [UInt8] =
        isKeyFrame
        ? [0x10, 0x10, 0, 0, 0x9D, 0x01, 0x2A, 64, 0, 48, 0, 0, 0] : [0x00] + [UInt8](repeating: 7, count: 1_000)
      let header = VideoReceiveStream.Header(
        number: number, timestamp: RTPTimestamp(isKeyFrame ? 6_000 : 3_000), marker: isKeyFrame)
      return stream.receive(header: header, payload: payload.span, isRepair: false, now: .zero, frames: &frames)
    }
  }

  @Test func `B10: all videos of a peer together take no more than its budget`() {
    let process = ByteBudget(bytes: 64 << 20)
    let memory = ByteBudget(bytes: PeerLimits.waitingBytes, within: process)
    var videos = (1...32).map { Video($0, memory) }
    for _ in 0..<2_000 {
      for index in videos.indices { _ = videos[index].receive() }
      #expect(memory.taken <= PeerLimits.waitingBytes && process.taken == memory.taken)
    }
    #expect(memory.taken > PeerLimits.waitingBytes / 4, "they do wait")
    // A key frame is shown by each that has a place, and those without get one when others are gone.
    var last = videos.removeLast()
    videos = []
    for _ in 0..<3 where last.frames.isEmpty { _ = last.receive(isKeyFrame: true) }
    #expect(last.frames.count == 1)
    last = Video(1, nil)
    #expect(memory.taken == 0 && process.taken == 0, "all is given back")
  }

  @Test func `B10: peers share what the process has`() {
    let process = ByteBudget(bytes: 1 << 20)
    var first = Video(1, ByteBudget(bytes: 4 << 20, within: process))
    for _ in 0..<2_000 { _ = first.receive() }
    #expect(process.taken <= 1 << 20 && process.taken > 0)
    var second = Video(2, ByteBudget(bytes: 4 << 20, within: process))
    for _ in 0..<2_000 { _ = second.receive() }
    #expect(process.taken <= 1 << 20)
  }
}
