import RTCCapture
import RTCCodecFFmpeg
package import RTCMedia
package import RTCPrimitives
import RTCWire

/// Prepares the pictures of a camera that delivers H.264 for sending, and decodes them when needed.
///
/// Undecoded pictures are kept from the last key frame on, so that decoding can begin at any time. Without threads and
/// clocks, used by the camera's thread.
package struct CameraH264 {
  /// One picture, ready to be sent.
  package struct Picture: Sendable {
    package var data: [UInt8]
    package var isKeyFrame: Bool
    package var size: PixelSize
    package var time: Timestamp
  }

  /// The result of one buffer of the camera.
  package enum Delivery: Sendable {
    case picture(Picture)
    /// No picture, or one that needs a picture that was lost.
    case nothing
    case damaged
  }

  /// The result of one step of decoding.
  package enum Decoded {
    case picture(PixelBuffer, ColorSpace, Timestamp)
    /// It is not to be shown, because a newer one waits or decoded pictures are not needed.
    case hidden
    case damaged
  }

  /// Why the pictures cannot be sent as they are from here on; nil while they can.
  package private(set) var refusal: String?

  private var rewriter: H264Rewriter
  private let makeDecoder: VideoDecoderFactory
  private var decoder: (any VideoDecoder)?
  /// Pictures that were not decoded yet, in order, and their bytes.
  private var waiting: [Picture] = []
  private var waitingBytes = 0
  /// The number of the newest buffer.
  private var newest: UInt32?
  private var awaitsKeyFrame = true
  private var decoderAwaitsKeyFrame = true

  /// Beyond this number pictures are decoded although they are not needed, to limit memory and the delay of the newest
  /// picture.
  private static let mostWaiting = 300
  private static let mostWaitingBytes = 8 << 20

  /// - Parameter makeDecoder: makes a decoder of H.264.
  package init(
    makeDecoder: @escaping VideoDecoderFactory = { () throws(VideoDecoderError) in try FFmpegVideoDecoder(.h264) }
  ) {
    let none: [UInt8] = []
    // Annex B is assumed without a header.
    rewriter = H264Rewriter(extradata: none.span)!
    self.makeDecoder = makeDecoder
  }

  /// True when this machine can decode H.264: without that, a viewer who cannot take it would see nothing.
  package static var isDecoded: Bool { FFmpegVideoDecoder.codecs.contains(.h264) }

  /// The format for sending; nil before the first key frame, and if browsers do not accept it.
  package var format: EncodedVideoFormat? {
    guard refusal == nil, let set = rewriter.activeSet, set.reorderDepth ?? 0 == 0 else { return nil }
    return set.passthroughFormat
  }

  /// The stream said what its pictures are.
  package var isKnown: Bool { rewriter.activeSet != nil && !awaitsKeyFrame }

  // MARK: - Pictures

  /// Takes a buffer of the camera: Annex B, one picture as a rule; none when it is damaged.
  /// - Parameter number: counts the buffers, lost ones included. A camera that does not count leaves it as it is.
  package mutating func take(_ bytes: Span<UInt8>, number: UInt32, at time: Timestamp) -> Delivery {
    if let newest, number != newest, number &- newest != 1 { awaitsKeyFrame = true }
    newest = number
    guard let picture = rewriter.rewrite(bytes) else {
      // Parameter sets may arrive separately.
      guard rewriter.framing.hasUnits(in: bytes) else {
        awaitsKeyFrame = true
        return .damaged
      }
      return .nothing
    }
    guard picture.isKeyFrame || !awaitsKeyFrame, let set = rewriter.activeSet else { return .nothing }
    awaitsKeyFrame = false
    if let sentence = set.passthroughRefusal { refusal = sentence }
    if picture.hasBidirectionalSlices { refusal = H264SequenceParameterSet.outOfOrderRefusal }
    let ready = Picture(data: picture.data, isKeyFrame: picture.isKeyFrame, size: set.size, time: time)
    wait(ready)
    return .picture(ready)
  }

  private mutating func wait(_ picture: Picture) {
    if picture.isKeyFrame {
      waiting.removeAll(keepingCapacity: true)
      (waitingBytes, decoderAwaitsKeyFrame) = (0, false)
    }
    guard !decoderAwaitsKeyFrame else { return }
    waiting.append(picture)
    waitingBytes += picture.data.count
  }

  // MARK: - Decoding

  /// Whether there is something to decode now.
  /// - Parameter isWanted: decoded pictures are needed.
  package func isDue(isWanted: Bool) -> Bool {
    isWanted ? !waiting.isEmpty : waiting.count > Self.mostWaiting || waitingBytes > Self.mostWaitingBytes
  }

  /// Decodes the oldest waiting picture; the newest is to be shown if decoded pictures are needed.
  package mutating func decode(isWanted: Bool) -> Decoded {
    guard !waiting.isEmpty else { return .hidden }
    let picture = waiting.removeFirst()
    waitingBytes -= picture.data.count
    do throws(VideoDecoderError) {
      let decoder = try preparedDecoder()
      guard let buffer = try decoder.decode(picture.data), isWanted, waiting.isEmpty else { return .hidden }
      return .picture(buffer, decoder.colorSpace ?? .bt601Limited, picture.time)
    } catch {
      waiting.removeAll()
      (waitingBytes, decoderAwaitsKeyFrame) = (0, true)
      return .damaged
    }
  }

  private mutating func preparedDecoder() throws(VideoDecoderError) -> any VideoDecoder {
    if let decoder { return decoder }
    let new = try makeDecoder()
    decoder = new
    return new
  }
}
