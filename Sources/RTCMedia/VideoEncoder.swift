public import RTCPrimitives

/// The settings of an encoder. Changing `size` requires a key frame.
public struct VideoEncoderSettings: Hashable, Sendable {
  /// The size of the coded picture in pixels; odd sizes are fine.
  public var size: PixelSize
  /// The quality to preserve when bandwidth is short: sharpness or frame rate.
  public var contentHint: ContentHint
  /// The most frames a second that will come; sets how small a share of the rate one frame of a movement may take.
  public var maxFrameRate: Double
  /// The rate to stay within, over about half a second.
  public var targetBitrate: BitRate
  /// Finest and coarsest quantiser, in percent of the codec's scale (0 = finest); nil leaves both to the content hint.
  public var quantizerRange: ClosedRange<Int>?
  /// Threads the encoder may use for a large picture.
  public var threads: Int
  /// How finely colours are sampled. An encoder codes what its codec can: VP8 always a sample for four pixels.
  public var chroma: ChromaSampling
  /// In which parts a viewer may have the stream. An encoder makes what its codec can: VP9 alone has layers.
  public var scalabilityMode: ScalabilityMode

  /// Makes settings.
  public init(
    size: PixelSize, contentHint: ContentHint = .detail, maxFrameRate: Double = 30,
    targetBitrate: BitRate = .megabitsPerSecond(1), quantizerRange: ClosedRange<Int>? = nil, threads: Int = 2,
    chroma: ChromaSampling = .quarter, scalabilityMode: ScalabilityMode = .l1t1
  ) {
    self.size = size
    self.contentHint = contentHint
    self.maxFrameRate = maxFrameRate
    self.targetBitrate = targetBitrate
    self.quantizerRange = quantizerRange
    self.threads = threads
    self.chroma = chroma
    self.scalabilityMode = scalabilityMode
  }
}

/// One call for a picture.
public struct EncodeJob: Sendable {
  /// The memory of the pixels.
  public enum Source: Sendable {
    /// In the encoder's own `picture`.
    case inputPicture
    /// In a frame of the format and size of the encoder's `picture`, read in place; the encoder keeps the lease until the next job.
    case frame(VideoFrame)
  }

  /// The source of the pixels.
  public var source: Source
  /// The difference from the last job's picture; nil = everything, empty = nothing (a key frame of the same picture).
  public var changed: [PixelRect]?
  /// Code a picture that needs no other. The encoder may make one unasked (the first, after a change of size).
  public var keyFrame: Bool
  /// When the picture was taken, in the monotonic clock.
  public var captureTime: Timestamp
  /// The present, on the same clock: rate accounting follows it.
  public var now: Timestamp
  /// How the viewer turns the picture before showing it.
  public var rotation: VideoRotation

  /// Makes a job.
  public init(
    source: Source = .inputPicture, changed: [PixelRect]?, keyFrame: Bool = false, captureTime: Timestamp,
    now: Timestamp, rotation: VideoRotation = .none
  ) {
    self.source = source
    self.changed = changed
    self.keyFrame = keyFrame
    self.captureTime = captureTime
    self.now = now
    self.rotation = rotation
  }
}

/// Turns pictures into `EncodedFrame`s. Used by one thread at a time.
///
/// An encoder remembers how well each part of the picture was coded and which changes it left out for lack of bits, so it
/// can improve a picture that rests: ask `refinementTime` when, then call `refine`, until the former is nil. An encoder
/// without refinement returns nil from both; it must then code every change at its final quality, and leave none out.
/// It reads no clock; time comes with each call, and the frame's `encodedTime` is the `now` it was given.
///
/// The encoder is registered in a `CodecRegistry` under its codec, which is what viewers are offered: with the codec's
/// default parameters, of H.264 constrained baseline with packetization mode 1 (RFC 6184), of VP9 and AV1 profile 0, and
/// profile 1 when it was made with `VideoEncoderSettings.chroma` full. It must not make anything that such a decoder
/// cannot decode. Frames hold what `EncodedFrame.data` says, each may refer
/// to frames before it alone, and a key frame to none. After an error the encoder is discarded, and the next picture
/// makes a new one, whose first frame is a key frame. `Snippets/OwnEncoder.swift` implements one.
public protocol VideoEncoder: AnyObject {
  /// The codec of its frames; the same for its whole life.
  var codec: VideoCodec { get }
  /// The present settings.
  var settings: VideoEncoderSettings { get }

  /// The picture to convert into. Another object after `reconfigure` changed the size.
  var picture: InputPicture { get }

  /// Changes any setting; a new size makes the next frame a key frame of a wholly changed picture.
  func reconfigure(_ settings: VideoEncoderSettings) throws(VideoEncoderError)

  /// Changes the rate to stay within; cheap, may be called at any time between frames.
  func setTargetBitrate(_ rate: BitRate)

  /// Sets the time at which all earlier frames will have been sent. An encoder that follows it leaves frames out while
  /// that is more than some 100 ms away, so that pictures do not queue.
  func setSendQueue(drained: Timestamp)

  /// Says when the next picture will have come, if the source has announced it; nil: nothing is known. Until then the
  /// picture only seems to rest. An encoder that follows refines no more than the parts that have not changed for some
  /// pictures, as far as that is done by then, and gives the bits to the picture itself.
  func setNextPicture(by time: Timestamp?)

  /// Codes what changed. Nil: nothing changed, or the bitrate does not allow it and the content hint drops frames first; a change left
  /// out is remembered and comes with a later frame.
  func encode(_ job: EncodeJob) throws(VideoEncoderError) -> EncodedFrame?

  /// When the next improvement of the present picture can be paid for, never before `now`; nil when nothing is left to
  /// improve.
  func refinementTime(now: Timestamp) -> Timestamp?

  /// Improves a part of the present picture, a few milliseconds of work at most; nil when nothing could be done yet.
  func refine(now: Timestamp) throws(VideoEncoderError) -> EncodedFrame?
}

extension VideoEncoder {
  /// Does nothing: frames wait in the queue, and the target bitrate alone bounds it.
  public func setSendQueue(drained: Timestamp) {}

  /// Does nothing: refinement does not follow announcements.
  public func setNextPicture(by time: Timestamp?) {}
}

/// Makes an encoder; the registry's entry for a codec.
public typealias VideoEncoderFactory =
  @Sendable (VideoEncoderSettings) throws(VideoEncoderError) -> any VideoEncoder

/// Why an encoder refused.
public enum VideoEncoderError: Error, Hashable, Sendable {
  /// The codec cannot code a picture of this size.
  case unsupportedSize(PixelSize)
  /// A frame given by reference is not of the format or the size of the encoder's picture.
  case unsuitableFrame(PixelFormat, PixelSize)
  /// The codec library refused; its status code and its own words.
  case library(status: Int, message: String)
  /// None of the codec's encoders can be used; the name of each and its reason.
  case noUsableEncoder(VideoCodec, causes: [String])
}

extension VideoEncoderError: CustomStringConvertible {
  /// The reason, as half a sentence without a full stop.
  public var description: String {
    switch self {
    case .unsupportedSize(let size): "it cannot code pictures of \(size)"
    case .unsuitableFrame(let format, let size): "it cannot read a picture in \(format.rawValue) of \(size)"
    case .library(let status, let message): "\(message) (status \(status))"
    case .noUsableEncoder(let codec, let causes):
      "no encoder of \(codec.rawValue) can be used: \(causes.joined(separator: "; "))"
    }
  }
}

/// How finely colours are sampled.
public enum ChromaSampling: Hashable, Sendable, CaseIterable {
  /// One sample for four pixels (4:2:0).
  case quarter
  /// One for each pixel (4:4:4).
  case full

  /// `420` or `444`, as settings name it.
  public var name: String {
    switch self {
    case .quarter: "420"
    case .full: "444"
    }
  }
}

/// How a stream can be had in parts (W3C Scalable Video Coding).
public enum ScalabilityMode: String, Hashable, Sendable, CaseIterable {
  /// One layer: every frame is needed.
  case l1t1 = "L1T1"
  /// Two temporal layers: of a movement every other frame is needed by none, so that a viewer or a forwarding server may do
  /// without.
  case l1t2 = "L1T2"
}
