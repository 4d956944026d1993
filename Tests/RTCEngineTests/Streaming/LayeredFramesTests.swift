import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// Frames that say what they refer to: leaving one out costs a viewer only those that need it.
@Suite struct LayeredFramesTests {
  private let now = Timestamp.zero + .seconds(1)

  private func stream() -> VideoSendStream {
    VideoSendStream(
      identity: SendStreamIdentity(
        ssrc: SSRC(1), rtxSSRC: SSRC(2), fecSSRC: SSRC(3), cname: "c", firstSequenceNumber: SequenceNumber(1),
        timestampOffset: RTPTimestamp(0), firstPictureID: 0),
      format: SendStreamFormat(
        mid: nil, codecs: [(.vp8, CodecPayloadTypes(media: PayloadType(96), rtx: nil))],
        extensionMap: RTPHeaderExtensionMap()))
  }

  /// What becomes of frames with these numbers and references, behind key frame 0: true for those that are sent.
  private func sent(_ frames: [(number: UInt64, references: FrameReferences)]) -> [Bool] {
    var stream = stream()
    var source = SyntheticVideo()
    var key = source.next(now)
    (key.isKeyFrame, key.number) = (true, 0)
    _ = stream.enqueue(key, now: now, rate: .megabitsPerSecond(10))
    return frames.map { number, references in
      var frame = source.next(now)
      (frame.isKeyFrame, frame.number, frame.references) = (false, number, references)
      let before = stream.statistics.framesSkipped
      _ = stream.enqueue(frame, now: now, rate: .megabitsPerSecond(10))
      return stream.statistics.framesSkipped == before
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

  @Test func `a frame that is not newer or reaches too far back is not sent`() {
    #expect(sent([(1, .previous), (1, .frames([0]))]) == [true, false])
    #expect(sent([(63, .frames([0])), (64, .frames([0]))]) == [true, true])
    #expect(sent([(64, .frames([0])), (65, .frames([0]))]) == [true, false])
    #expect(sent([(200, .frames([0])), (201, .frames([200]))]) == [true, true])
  }
}
