import RTCEngine
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct VideoReceiveStreamTests {
  /// A stream and the pictures it has made.
  private struct Receiver {
    var stream: VideoReceiveStream
    var frames: [ReceivedFrame] = []
    var now = Timestamp.zero + .seconds(1)

    init(first: UInt16) { stream = VideoReceiveStream(ssrc: SSRC(1), first: SequenceNumber(first), now: now) }

    @discardableResult
    mutating func take(
      _ number: Int, frame: UInt32, isFirst: Bool = true, isLast: Bool = true, isKey: Bool = false,
      isRepair: Bool = false, payload: [UInt8]? = nil
    ) -> VideoReceiveStream.Outcome {
      let descriptor: [UInt8] = [isFirst ? 0x10 : 0x00]
      let data =
        isFirst
        ? SyntheticVideo.bytes(number: UInt64(frame), isKeyFrame: isKey, count: 40) : [UInt8](repeating: 7, count: 40)
      let bytes = payload ?? (descriptor + data)
      return stream.receive(
        header: VideoReceiveStream.Header(
          number: SequenceNumber(UInt16(truncatingIfNeeded: number)), timestamp: RTPTimestamp(frame * 3_000),
          marker: isLast),
        payload: bytes.span, isRepair: isRepair, now: now, frames: &frames)
    }

    var timestamps: [UInt32] { frames.map { $0.timestamp.value / 3_000 } }
  }

  @Test func `pictures come in order across the wrap`() {
    var receiver = Receiver(first: 65_534)
    receiver.take(65_534, frame: 0, isLast: false, isKey: true)
    receiver.take(65_537, frame: 1)
    receiver.take(65_536, frame: 0, isFirst: false)
    #expect(receiver.frames.isEmpty)
    receiver.take(65_535, frame: 0, isFirst: false, isLast: false)
    #expect(receiver.timestamps == [0, 1])
    #expect(receiver.frames[0].data.count == 120 && receiver.frames[0].isKeyFrame && !receiver.frames[1].isKeyFrame)
  }

  @Test func `nothing is shown before a key frame`() {
    var receiver = Receiver(first: 10)
    for n in 0..<5 { receiver.take(10 + n, frame: UInt32(n)) }
    #expect(receiver.frames.isEmpty && receiver.stream.needsKeyFrame)
    #expect(receiver.stream.keyFrameWantedAt == receiver.now + VideoReceiveStream.keyFramePatience)
    receiver.take(15, frame: 5, isKey: true)
    #expect(receiver.timestamps == [5])
    #expect(receiver.stream.keyFrameWantedAt == nil)
  }

  @Test func `a key frame in repair is waited for`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, isLast: false, isKey: true)
    receiver.take(12, frame: 0, isFirst: false)
    #expect(receiver.stream.keyFrameWantedAt == nil && receiver.stream.missing.count == 1)
    receiver.take(11, frame: 0, isFirst: false, isLast: false, isRepair: true)
    #expect(receiver.timestamps == [0] && receiver.stream.missing.isEmpty)
  }

  @Test func `a key frame that was overtaken is repaired too`() {
    var receiver = Receiver(first: 13)
    receiver.take(13, frame: 0, isFirst: false)
    receiver.take(11, frame: 0, isFirst: false, isLast: false)
    receiver.take(9, frame: 0, isLast: false, isKey: true)
    // Neither place before the first packet seen is forgotten.
    #expect(receiver.stream.missing.count == 2 && receiver.stream.keyFrameWantedAt == nil)
    receiver.take(12, frame: 0, isFirst: false, isLast: false)
    receiver.take(14, frame: 1)
    #expect(receiver.frames.isEmpty)
    receiver.take(10, frame: 0, isFirst: false, isLast: false, isRepair: true)
    #expect(receiver.timestamps == [0, 1] && receiver.stream.missing.isEmpty)
  }

  @Test func `a whole key frame makes the wait needless`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, isKey: true)
    receiver.take(12, frame: 2)  // 11 is lost
    #expect(receiver.timestamps == [0])
    receiver.take(13, frame: 3, isKey: true)
    #expect(receiver.timestamps == [0, 3] && receiver.stream.missing.isEmpty)
    let outcome = receiver.take(11, frame: 1, isRepair: true)
    #expect(outcome == .late)
    receiver.take(14, frame: 4)
    #expect(receiver.timestamps == [0, 3, 4])
  }

  @Test func `failed repair ends in the wish for a key frame`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, isKey: true)
    receiver.take(12, frame: 2)
    while let next = receiver.stream.missing.nextRequest {
      receiver.now = next
      _ = receiver.stream.repairsDue(receiver.now, roundTrip: .milliseconds(20), frames: &receiver.frames)
    }
    #expect(receiver.stream.needsKeyFrame && receiver.stream.keyFrameWantedAt == receiver.now)
    receiver.take(13, frame: 3)
    receiver.take(14, frame: 4, isKey: true)
    #expect(receiver.timestamps == [0, 4])
  }

  @Test func `behind a key frame that comes after repair has failed what is missing is missed again`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, isKey: true)
    receiver.take(14, frame: 4)
    while let next = receiver.stream.missing.nextRequest {
      receiver.now = next
      _ = receiver.stream.repairsDue(receiver.now, roundTrip: .milliseconds(20), frames: &receiver.frames)
    }
    #expect(receiver.stream.needsKeyFrame)
    receiver.take(12, frame: 2, isKey: true)
    #expect(receiver.timestamps == [0, 2] && receiver.stream.missing.count == 1)
    receiver.take(13, frame: 3, isRepair: true)
    #expect(receiver.timestamps == [0, 2, 3, 4] && receiver.stream.missing.isEmpty)
  }

  @Test func `padding is passed over`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, isKey: true)
    receiver.take(11, frame: 0, payload: [])
    receiver.take(13, frame: 1)
    receiver.take(12, frame: 0, payload: [])
    receiver.take(14, frame: 2)
    #expect(receiver.timestamps == [0, 1, 2])
  }

  @Test func `an unreadable payload does not freeze the picture`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, isKey: true)
    let outcome = receiver.take(11, frame: 1, payload: [0x80])
    #expect(outcome == .malformed)
    receiver.take(12, frame: 2)
    #expect(receiver.timestamps == [0, 2] || receiver.stream.keyFrameWantedAt != nil)
    receiver.take(13, frame: 3, isKey: true)
    #expect(receiver.timestamps.last == 3)
  }

  @Test func `a picture the sender gave up does not freeze the next`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, isKey: true)
    receiver.take(11, frame: 1, isLast: false)
    receiver.take(12, frame: 2)
    #expect(receiver.timestamps == [0] && receiver.stream.keyFrameWantedAt != nil)
    receiver.take(13, frame: 3, isLast: false, isKey: true)
    receiver.take(14, frame: 3, isFirst: false)
    #expect(receiver.timestamps == [0, 3])
  }

  @Test func `duplicates are not delivered twice`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, isLast: false, isKey: true)
    let outcome = receiver.take(10, frame: 0, isLast: false, isKey: true)
    #expect(outcome == .late)
    receiver.take(11, frame: 0, isFirst: false)
    let outcome2 = receiver.take(10, frame: 0, isKey: true, isRepair: true)
    #expect(outcome2 == .late)
    #expect(receiver.timestamps == [0])
  }

  @Test func `an old repair does not disturb`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, isKey: true)
    for n in 1..<3_000 { receiver.take(10 + n, frame: UInt32(n)) }
    let outcome = receiver.take(11, frame: 1, isRepair: true)
    #expect(outcome == .late)
    receiver.take(3_010, frame: 3_000)
    #expect(receiver.frames.count == 3_001)
  }

  @Test func `a leap forward starts again from a key frame`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, isKey: true)
    receiver.take(10_000, frame: 1)
    #expect(receiver.stream.keyFrameWantedAt == receiver.now && receiver.stream.missing.isEmpty)
    receiver.take(10_001, frame: 2, isKey: true)
    #expect(receiver.timestamps == [0, 2] && receiver.stream.framesReceived == 2)
  }

  @Test func `a hole older than the ring is given up`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, isKey: true)
    for n in 2..<2_100 { receiver.take(10 + n, frame: UInt32(n)) }
    #expect(receiver.stream.keyFrameWantedAt != nil)
    receiver.take(2_200, frame: 3_000, isKey: true)
    #expect(receiver.timestamps == [0, 3_000])
  }

  @Test func `a repair ahead of the stream is taken`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, isKey: true)
    receiver.take(12, frame: 2, isRepair: true)
    #expect(receiver.stream.missing.count == 1)
    receiver.take(13, frame: 3)
    #expect(receiver.stream.missing.count == 1)
    receiver.take(11, frame: 1, isRepair: true)
    #expect(receiver.timestamps == [0, 1, 2, 3])
  }

  @Test func `a frame of many packets is put together whatever their order`() {
    var receiver = Receiver(first: 10)
    let key = SyntheticVideo.bytes(number: 0, isKeyFrame: true, count: 1_100)
    let parts = (1..<2_000).map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: 1 + $0 % 1_200) }
    receiver.take(10, frame: 0, isLast: false, payload: [0x10] + key)
    for index in parts.indices.reversed() {
      receiver.take(11 + index, frame: 0, isFirst: false, isLast: index == parts.count - 1, payload: [0] + parts[index])
    }
    #expect(receiver.frames.map(\.data) == [key + parts.flatMap { $0 }])
    // What comes next is written where those were, and disturbs nothing that was handed over.
    for number in 1..<100 { receiver.take(2_009 + number, frame: UInt32(number)) }
    #expect(receiver.frames.count == 100 && receiver.frames[0].data.last == parts.last?.last)
    for (number, frame) in receiver.frames.enumerated().dropFirst() {
      #expect(SyntheticVideo.number(of: frame.data, isKeyFrame: false) == UInt64(number))
    }
  }

  @Test func `a payload longer than any datagram is refused`() {
    var receiver = Receiver(first: 10)
    receiver.take(10, frame: 0, isKey: true)
    let outcome = receiver.take(11, frame: 1, payload: [0x10, 0x11] + [UInt8](repeating: 7, count: 2_047))
    #expect(outcome == .malformed)
    #expect(receiver.stream.needsKeyFrame && receiver.timestamps == [0])
  }
}
