import RTCCodecVPX
import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCast
import Synchronization
import Testing

/// The way out of pictures as it is in a cast, recorded and without viewers.
final class RunningVideo: Sendable {
  let outgoing: OutgoingVideo
  let peers: PeerLoop
  private let recorder = Recorder()
  /// Stands for the run of a source.
  private let run = SentFrames()

  /// - Parameter wrap: stands before the encoder.
  init(
    settings: EncodingSettings = EncodingSettings(),
    wrap: @escaping @Sendable (VP8Encoder) -> any VideoEncoder = { $0 }
  ) throws {
    peers = try PeerLoop()
    let encoding = VideoEncoding(format: .vp8, settings: settings) { settings throws(VideoEncoderError) in
      wrap(try VP8Encoder(settings))
    }
    let sinks = EncodedMediaSinks()
    sinks.add(recorder)
    outgoing = OutgoingVideo([encoding], peers: peers, sinks: sinks) { _ in }
    outgoing.setRecorded(true)
    outgoing.beginSource(ObjectIdentifier(run))
  }

  /// Hands over a picture, as a source's thread does.
  func show(_ frame: VideoFrame) { outgoing.consume(frame, from: ObjectIdentifier(run)) }

  func endSource() { outgoing.endSource(ObjectIdentifier(run)) }

  /// The next frame that is recorded.
  func next() async -> EncodedFrame {
    var iterator = recorder.frames.makeAsyncIterator()
    return await iterator.next()!
  }

  func stop() {
    outgoing.stop()
    peers.stop()
  }

  private final class Recorder: EncodedMediaSink {
    let frames: AsyncStream<EncodedFrame>
    private let continuation: AsyncStream<EncodedFrame>.Continuation
    init() { (frames, continuation) = AsyncStream.makeStream() }
    func take(_ frame: EncodedFrame) { continuation.yield(frame) }
    func take(_ frame: EncodedAudioFrame) {}
  }
}

/// An encoder whose work somebody interrupts, or who hears what it is told of the send queue.
final class InterruptedEncoder: VideoEncoder {
  private let encoder: VP8Encoder
  private let interrupt: (EncodeJob) -> Void
  private let drainedChanged: (Timestamp) -> Void

  init(
    _ encoder: VP8Encoder, _ interrupt: @escaping (EncodeJob) -> Void = { _ in },
    drainedChanged: @escaping (Timestamp) -> Void = { _ in }
  ) {
    self.encoder = encoder
    self.drainedChanged = drainedChanged
    self.interrupt = interrupt
  }

  var codec: VideoCodec { encoder.codec }
  var settings: VideoEncoderSettings { encoder.settings }
  var picture: InputPicture { encoder.picture }
  func reconfigure(_ settings: VideoEncoderSettings) throws(VideoEncoderError) { try encoder.reconfigure(settings) }
  func setTargetBitrate(_ rate: BitRate) { encoder.setTargetBitrate(rate) }
  func setSendQueue(drained: Timestamp) {
    drainedChanged(drained)
    encoder.setSendQueue(drained: drained)
  }
  func refinementTime(now: Timestamp) -> Timestamp? { encoder.refinementTime(now: now) }
  func refine(now: Timestamp) throws(VideoEncoderError) -> EncodedFrame? { try encoder.refine(now: now) }

  func encode(_ job: EncodeJob) throws(VideoEncoderError) -> EncodedFrame? {
    interrupt(job)
    return try encoder.encode(job)
  }
}
