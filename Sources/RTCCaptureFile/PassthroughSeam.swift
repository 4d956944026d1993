package import RTCMedia
package import RTCPrimitives

// Where demuxing ends and passing on begins.
//
// The player's reader thread demuxes into one packet log for each stream. The log has two readers: the decoder, and the
// *tap*. The tap runs on the stream's delivery thread and gets each packet when it is due, in decoding order, beginning
// with a key frame, at the start and after each jump (seek, packets skipped). What it does with them is the business of
// `VideoPassthrough` and `AudioPassthrough`, made once for each file by a `PassthroughFactory`:
//
//     container → reader ─→ packet log ─→ decoder → frames → VideoConsumer          (setDecoding)
//                                     └─→ tap: VideoPassthrough → EncodedVideoConsumer  (setPassthrough)
//
// Times are on the *media timeline*: nanoseconds since the player's first picture, at the file's own speed. It goes on
// over loops and seeks and never goes back, so a passthrough never sees a pass end; it only sees `startsAfterJump`.
// The player turns media time into the monotonic `captureTime` (speed, pauses) and hands that along.

/// The container's description of a stream that could be passed on.
package struct StreamDescription: Sendable {
  /// FFmpeg's name of the codec: `h264`, `vp8`, `vp9`, `av1`, `opus`, `mpeg4` …
  package var codecName: String
  /// The codec's global headers as the container stores them: avcC (first byte 1) or Annex B for H.264, av1C or OBUs
  /// for AV1, OpusHead for Opus; empty when there are none.
  package var extradata: [UInt8]
  /// FFmpeg's profile and level numbers (those of the codec's specification); negative when unknown.
  package var profile: Int
  package var level: Int
  /// Upright or not, as coded. Zero for sound.
  package var size: PixelSize
  /// The size of the picture when its pixels are made as wide as they are high.
  package var squareSize: PixelSize
  package var rotation: VideoRotation
  /// Left and right are to be exchanged before the picture is turned.
  package var isMirrored: Bool
  package var colorSpace: ColorSpace
  /// Pictures that wait for a later one before they are shown; 0: decoding order is showing order.
  package var reorderDepth: Int
  /// Zero for pictures.
  package var audio: AudioFormat
}

/// One packet of a stream as the container holds it, with its place on the media timeline.
package struct DemuxedPacket: Sendable {
  package let payload: PacketPayload
  /// A decoder can begin here, if with pictures that take a while to become whole (recovery points of H.264).
  package let isKeyFrame: Bool
  /// Whole at once, and nothing after it refers to anything before: what a viewer waits for.
  package let isEntryPoint: Bool
  /// The time at which the picture or the first sample is due.
  package var time: TimeDelta
  /// The decode time: never after `time`, never before that of the packet before.
  package var decodeTime: TimeDelta
  /// Zero when the container does not say.
  package var duration: TimeDelta
  /// The first after the start, a seek or packets that were left out: nothing before it may be referred to. Not set
  /// where a loop begins again.
  package var startsAfterJump: Bool
}

/// Makes what a browser takes of one file's pictures. Made at opening, used on one thread, the delivery thread.
package protocol VideoPassthrough: AnyObject {
  /// Known at once.
  var format: EncodedVideoFormat { get }

  /// The packet as a frame to send; nil when there is nothing to send (empty, damaged, not decodable after a jump). What
  /// is left out after a damaged packet is decided here. `number` is counted here, from 0; `rendition` stays as it is by
  /// default.
  func frame(of packet: DemuxedPacket, captureTime: Timestamp, now: Timestamp) -> EncodedFrame?

  /// The reason why no more frames come, as a sentence, where only the packets show it (pictures out of order, hidden
  /// frames). Nil while frames can come.
  var impassable: String? { get }
}

/// Makes Opus packets to send of one file's packets. Used on one thread.
package protocol AudioPassthrough: AnyObject {
  /// `position` counts the samples at 48 kHz handed over; nil when the packet is damaged or empty.
  func frame(of packet: DemuxedPacket, captureTime: Timestamp) -> EncodedAudioFrame?
}

/// Decides at opening whether a stream can be passed on.
package struct PassthroughFactory: Sendable {
  /// Nil when browsers cannot take the pictures as they are (codec, profile, pictures out of order).
  package var video: @Sendable (StreamDescription) -> (any VideoPassthrough)?
  /// Nil when the sound is not Opus.
  package var audio: @Sendable (StreamDescription) -> (any AudioPassthrough)?

  package init(
    video: @escaping @Sendable (StreamDescription) -> (any VideoPassthrough)?,
    audio: @escaping @Sendable (StreamDescription) -> (any AudioPassthrough)?
  ) {
    self.video = video
    self.audio = audio
  }

  /// Everything is decoded.
  package static let none = PassthroughFactory(video: { _ in nil }, audio: { _ in nil })
}
