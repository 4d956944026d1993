import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// Frames that say what they refer to: leaving one out costs a viewer only those that need it.
@Suite struct LayeredFramesTests {
  private let now = Timestamp.zero + .seconds(1)

  private func sender(_ codec: VideoCodec = .vp8) -> VideoSender {
    var sender = VideoSender(
      identity: SendStreamIdentity(
        ssrc: SSRC(1), rtxSSRC: SSRC(2), fecSSRC: SSRC(3), cname: "c", firstSequenceNumber: SequenceNumber(1),
        timestampOffset: RTPTimestamp(0), firstPictureID: 0), track: nil)
    sender.agree(
      on: SendStreamFormat(
        mid: nil, codecs: [(VideoPayloadFormat(codec: codec), CodecPayloadTypes(media: PayloadType(96), rtx: nil))],
        extensionMap: RTPHeaderExtensionMap()))
    _ = sender.updateSending(isSecured: true)
    return sender
  }

  /// Whether frames with these numbers and references, behind key frame 0, are sent.
  private func sent(_ frames: [(number: UInt64, references: FrameReferences)]) -> [Bool] {
    var sender = sender()
    var source = SyntheticVideo()
    var key = source.next(now)
    (key.isKeyFrame, key.number) = (true, 0)
    _ = sender.send(key, now: now, rate: .megabitsPerSecond(10), roundTrip: .zero)
    return frames.map { number, references in
      var frame = source.next(now)
      (frame.isKeyFrame, frame.number, frame.references) = (false, number, references)
      let before = sender.statistics.framesSkipped
      _ = sender.send(frame, now: now, rate: .megabitsPerSecond(10), roundTrip: .zero)
      return sender.statistics.framesSkipped == before
    }
  }

  @Test func `without references a gap needs a key frame`() {
    #expect(sent([(1, .previous), (2, .previous), (4, .previous), (5, .previous)]) == [true, true, false, false])
  }

  @Test func `what refers to nothing left out is sent`() {
    // Every other frame is of the upper temporal layer, and 2 and 6 were left out.
    #expect(
      sent([(1, .frames([0])), (3, .frames([1])), (4, .frames([3])), (5, .frames([3])), (7, .frames([5]))])
        == [true, true, true, true, true])
  }

  @Test func `what refers to a frame left out needs a key frame`() {
    #expect(sent([(1, .frames([0])), (3, .frames([2])), (4, .frames([1]))]) == [true, false, false])
    #expect(sent([(1, .frames([0])), (3, .frames([1])), (4, .frames([2]))]) == [true, true, false])
  }

  @Test func `a viewer whose queue is long does without the upper layer and needs no key frame`() {
    var sender = sender()
    var source = SyntheticVideo()
    var key = source.next(now)
    (key.isKeyFrame, key.number, key.references) = (true, 0, .frames([]))
    _ = sender.send(key, now: now, rate: .megabitsPerSecond(10), roundTrip: .zero)
    // What waits takes 0.2 s at this rate.
    let rate = BitRate.kilobitsPerSecond(400)
    var skipped: [UInt64] = []
    for number in UInt64(1)...12 {
      var frame = source.next(now)
      (frame.isKeyFrame, frame.number) = (false, number)
      frame.data = [UInt8](repeating: 7, count: 2_500)
      frame.references = .frames([number <= 2 ? 0 : (number - 1) / 2 * 2])
      frame.layer.temporal = number % 2 == 1 ? 1 : 0
      let before = sender.statistics.framesSkipped
      let needsKeyFrame = sender.send(frame, now: now, rate: rate, roundTrip: .zero)
      #expect(!needsKeyFrame)
      if sender.statistics.framesSkipped > before { skipped.append(number) }
    }
    #expect(skipped.count >= 3 && skipped.allSatisfy { $0 % 2 == 1 }, "\(skipped)")
    #expect(!sender.needsKeyFrame)
  }

  @Test func `packets of layered VP9 say what each frame needs of those that were sent`() throws {
    var sender = sender(.vp9)
    var source = SyntheticVideo()
    source.codec = .vp9
    var descriptors: [VP9PayloadDescriptor] = []
    // 3 is left out before it comes here.
    let frames: [(number: UInt64, references: [UInt64], layer: UInt8)] = [
      (0, [], 0), (1, [0], 1), (2, [0], 0), (4, [2], 0), (5, [4], 1), (6, [4], 0), (7, [6], 0),
    ]
    for (number, references, layer) in frames {
      var frame = source.next(now)
      (frame.isKeyFrame, frame.number, frame.references) = (number == 0, number, .frames(references))
      frame.layer.temporal = layer
      frame.data = [UInt8](repeating: 7, count: 100)
      let needsKeyFrame = sender.send(frame, now: now, rate: .megabitsPerSecond(10), roundTrip: .zero)
      #expect(!needsKeyFrame)
      let descriptor = nextDescriptor(&sender)
      descriptors.append(try #require(descriptor))
    }
    #expect(descriptors.map { Array($0.references) } == [[], [1], [2], [1], [1], [2], [1]])
    #expect(descriptors.map { $0.layer?.temporal } == [0, 1, 0, 0, 1, 0, 0])
    #expect(
      descriptors.allSatisfy(\.isFlexible)
        && descriptors.map(\.startsKeyFrame) == [true] + Array(repeating: false, count: 6))
  }

  private func nextDescriptor(_ sender: inout VideoSender) -> VP9PayloadDescriptor? {
    var datagram = [UInt8](repeating: 0, count: 1_500)
    var span = datagram.mutableSpan
    let moment = DepartureFields(now: now, transportNumber: TransportSequenceNumber(1))
    guard case .written(let count, _, _)? = sender.writeUnprotected(into: &span, at: moment),
      let header = RTPHeader(parsing: datagram.span.extracting(0..<count))
    else { return nil }
    var reader = ByteReader(datagram.span.extracting(header.payload))
    return VP9PayloadDescriptor(parsing: &reader)
  }

  @Test func `a frame that is not newer or reaches too far back is not sent`() {
    #expect(sent([(1, .previous), (1, .frames([0]))]) == [true, false])
    #expect(sent([(63, .frames([0])), (64, .frames([0]))]) == [true, true])
    #expect(sent([(64, .frames([0])), (65, .frames([0]))]) == [true, false])
    #expect(sent([(200, .frames([0])), (201, .frames([200]))]) == [true, true])
  }
}
