public import RTCPrimitives

/// The format of already encoded pictures.
public struct EncodedVideoFormat: Hashable, Sendable {
  /// The codec of the pictures.
  public var codec: VideoCodec
  /// The parameters as in SDP's `a=fmtp`: `profile-level-id=640028;packetization-mode=1`, `profile-id=0`; empty for
  /// VP8.
  public var parameters: String
  /// The size of the pictures, in pixels, before rotation.
  public var size: PixelSize
  /// The rotation for display; viewers without support for it get pictures that are encoded here.
  public var rotation: VideoRotation

  /// - Parameter parameters: as SDP's `a=fmtp` has them (RFC 8866 §6.15).
  public init(codec: VideoCodec, parameters: String = "", size: PixelSize, rotation: VideoRotation = .none) {
    self.codec = codec
    self.parameters = parameters
    self.size = size
    self.rotation = rotation
  }
}

extension EncodedVideoFormat {
  /// The usual formats of files, without sizes: to ask viewers before a file is there.
  public static var common: [EncodedVideoFormat] {
    let size = PixelSize(width: 0, height: 0)
    return ["42e01f", "4d001f", "64001f"].map {
      EncodedVideoFormat(
        codec: .h264, parameters: "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=\($0)", size: size)
    } + [
      EncodedVideoFormat(codec: .vp9, parameters: "profile-id=0", size: size),
      EncodedVideoFormat(codec: .av1, parameters: "profile=0", size: size),
    ]
  }
}

/// Receives already encoded pictures. Called on one thread at a time.
public protocol EncodedVideoConsumer: AnyObject, Sendable {
  /// A picture in decoding order, at the time it is due. `number` counts from 0, `rendition` is the consumer's to set.
  func consume(_ frame: EncodedFrame)

  /// The pictures cannot be passed on from here on, for the reason that the sentence gives; decoded ones can be had.
  /// No encoded frame follows, and this may be said again.
  func passthroughDidEnd(_ sentence: String)
}

extension EncodedVideoConsumer {
  /// Does nothing by default.
  public func passthroughDidEnd(_ sentence: String) {}
}

/// A capturer whose pictures exist in encoded form and can be passed on as they are: a file, a camera that compresses.
///
/// `startCapture` runs it. From then on it delivers decoded pictures, encoded ones, or both, as is asked.
public protocol EncodedVideoCapturer: VideoCapturer {
  /// The format of its pictures; nil if they cannot be passed on (no codec of browsers, B-frames …): then
  /// `setPassthrough` does nothing. Known at the latest when the capture starts.
  var encodedFormat: EncodedVideoFormat? { get }

  /// From now on hands encoded pictures to `consumer`, beginning with the next key frame; nil ends that.
  func setPassthrough(to consumer: (any EncodedVideoConsumer)?)

  /// Says whether decoded pictures are wanted; they are at first. When they are wanted again, the next is the one due
  /// now, not the next key frame.
  func setDecoding(_ isWanted: Bool)

  /// The time until the next key frame; nil if there is none or it is unknown.
  func timeToNextKeyFrame() -> TimeDelta?
}

/// A source of sound that exists as Opus packets and can be passed on as it is.
public protocol EncodedAudioSource: AudioSource {
  /// True when its sound is Opus. Known from the start of the capture at the latest.
  var isOpus: Bool { get }

  /// From now on hands packets to `consumer`, in the place of decoded sound; nil ends that.
  func setPassthrough(to consumer: (any EncodedAudioConsumer)?)
}

/// Receives Opus packets. Called on one thread at a time.
public protocol EncodedAudioConsumer: AnyObject, Sendable {
  /// `position` is the consumer's to set.
  func consume(_ frame: EncodedAudioFrame)
}
