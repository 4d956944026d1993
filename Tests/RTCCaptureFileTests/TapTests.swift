import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Synchronization
import Testing

/// Packets on their way past the decoder.
@Suite(.timeLimit(.minutes(2))) struct TapTests {
  /// Hands packets over as they are.
  private final class Unchanged: VideoPassthrough {
    let format: EncodedVideoFormat
    private var number: UInt64 = 0

    init(_ stream: StreamDescription) { format = EncodedVideoFormat(codec: .h264, size: stream.size) }

    var impassable: String? { nil }

    func frame(of packet: DemuxedPacket, captureTime: Timestamp, now: Timestamp) -> EncodedFrame? {
      defer { number += 1 }
      let bytes = packet.payload.bytes
      return EncodedFrame(
        codec: .h264, data: bytes.indices.map { bytes[$0] }, isKeyFrame: packet.isKeyFrame, size: format.size,
        captureTime: captureTime, encodedTime: now, quantizer: 0, rotation: .none, contentHint: .motion, number: number)
    }
  }

  private static let factory = PassthroughFactory(video: { Unchanged($0) }, audio: { _ in nil })
  private static let coding = "-f lavfi -i \(Clip.pictures) -t 4 -c:v libx264 -g 50 -bf 0 -pix_fmt yuv420p"

  private func capturer(_ playback: Playback) throws -> any EncodedVideoCapturer {
    try #require(playback.player.source.video as? any EncodedVideoCapturer)
  }

  @Test func `packets come in order when they are due and without decoding`() async throws {
    let clip = try Clip("tap.mp4", Self.coding)
    let playback = try Playback(clip, passthrough: Self.factory)
    let capturer = try capturer(playback)
    #expect(capturer.encodedFormat?.size == PixelSize(width: 160, height: 120))
    capturer.setDecoding(false)
    capturer.setPassthrough(to: playback)
    let record = await playback.play()
    #expect(record.pictures.isEmpty)
    #expect(record.encoded.map(\.number) == Array(0..<100))
    for (index, frame) in record.encoded.enumerated() {
      #expect(abs((frame.captureTime - Playback.start).microseconds - Int64(index) * 40_000) <= 1)
      #expect(frame.isKeyFrame == (index % 50 == 0))
    }
    #expect(record.videoEnd == .finished)
  }

  @Test func `passing on begins with the next key frame`() async throws {
    let clip = try Clip("tap.mp4", Self.coding)
    let late = Late()
    let playback = try Playback(clip, passthrough: Self.factory) { number, player in
      guard number == 10 else { return }
      (player.source.video as? any EncodedVideoCapturer)?.setPassthrough(to: late)
    }
    late.set(playback)
    let record = await playback.play()
    late.set(nil)  // it is held by what it holds
    #expect(record.encoded.first?.isKeyFrame == true)
    #expect(record.encoded.first.map { ($0.captureTime - Playback.start).milliseconds } == 2_000)
    #expect(record.encoded.count == 50)
    #expect(record.pictures.count == 100)
  }

  @Test func `decoding switched on in the middle gives the picture that is due`() async throws {
    let clip = try Clip("tap.mp4", Self.coding)
    let expected = try clip.pictures()
    let playback = try Playback(clip, passthrough: Self.factory)
    let capturer = try capturer(playback)
    capturer.setPassthrough(to: Switch(playback, at: 30) { capturer.setDecoding(true) })
    capturer.setDecoding(false)
    let record = await playback.play()
    // Packet 30 is due at 1.2 s; the first picture is the one of that moment.
    #expect(record.pictures.first?.sum == expected[30].sum)
    #expect(record.pictures.first.map { $0.time.milliseconds } == 1_200)
    #expect(record.pictures.count == 70)
  }

  /// Nobody looks for a moment: what was decoded ahead by then is not lost.
  @Test func `decoding switched off and on again loses no picture`() async throws {
    let clip = try Clip("tap.mp4", Self.coding)
    let playback = try Playback(clip, passthrough: Self.factory) { number, player in
      guard number % 10 == 5, let capturer = player.source.video as? any EncodedVideoCapturer else { return }
      capturer.setDecoding(false)
      capturer.setDecoding(true)
    }
    let record = await playback.play()
    #expect(record.pictures.map(\.sum) == (try clip.pictures()).map(\.sum))
  }

  @Test func `the way to the next key frame is known`() async throws {
    let clip = try Clip("tap.mp4", Self.coding)
    let playback = try Playback(clip, passthrough: Self.factory)
    let capturer = try capturer(playback)
    let answers = Answer()
    capturer.setPassthrough(to: Switch(playback, at: 10) { answers.set(capturer.timeToNextKeyFrame()) })
    _ = await playback.play()
    #expect(answers.time.map { abs($0.milliseconds - 1_600) <= 1 } == true)
  }

  @Test func `passed on packets go on over a loop`() async throws {
    let clip = try Clip("tap.mkv", Self.coding)
    var options = FilePlayer.Options()
    options.isLooped = true
    let playback = try Playback(clip, options, pictureLimit: 250, passthrough: Self.factory)
    try capturer(playback).setPassthrough(to: playback)
    let record = await playback.play()
    for (index, frame) in record.encoded.prefix(240).enumerated() {
      #expect(abs((frame.captureTime - Playback.start).milliseconds - Int64(index) * 40) <= 2)
      #expect(frame.data == record.encoded[index % 100].data)
    }
    #expect(record.encoded.count >= 240)
  }
}

/// Passes frames to another and does something at one of them.
private final class Switch: EncodedVideoConsumer {
  private let target: any EncodedVideoConsumer
  private let number: UInt64
  private let action: @Sendable () -> Void

  init(_ target: any EncodedVideoConsumer, at number: UInt64, action: @escaping @Sendable () -> Void) {
    self.target = target
    self.number = number
    self.action = action
  }

  func consume(_ frame: EncodedFrame) {
    target.consume(frame)
    if frame.number == number { action() }
  }
}

/// A consumer that is known only later.
private final class Late: EncodedVideoConsumer {
  private let target = Mutex<(any EncodedVideoConsumer)?>(nil)
  func set(_ new: (any EncodedVideoConsumer)?) { target.withLock { $0 = new } }
  func consume(_ frame: EncodedFrame) { target.withLock { $0 }?.consume(frame) }
}

private final class Answer: Sendable {
  private let answer = Mutex<TimeDelta?>(nil)
  var time: TimeDelta? { answer.withLock { $0 } }
  func set(_ time: TimeDelta?) { answer.withLock { $0 = time } }
}
