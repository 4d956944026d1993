internal import RTCWire
package import RTCMedia
package import RTCPrimitives

/// The pictures of a file as frames to send, from key frame on: nothing is decoded.
package final class VideoPassthroughStream: VideoPassthrough {
  package let format: EncodedVideoFormat

  /// The reason why the pictures cannot be passed on any longer; nil while they can. Once set it stays, and no more
  /// frames come.
  package private(set) var impassable: String?

  private var rewriter: PictureRewriter
  private let rotation: VideoRotation
  private let colorSpace: ColorSpace
  private var size: PixelSize
  private var awaitsKeyFrame = true
  /// The time of the newest key frame, or of the first packet before any, and the longest time until the next key
  /// frame.
  private var stretch: (start: TimeDelta, longest: TimeDelta)?
  private var count: UInt64 = 0

  /// The longest time before the first key frame, as nothing can be shown before it after a jump.
  private static let longestWait = TimeDelta.seconds(1)
  /// The longest time between two key frames. A viewer that joins gets pictures that are encoded here until the next
  /// key frame, and for these all pictures since the key frame before must be decoded. The default of encoders, 250
  /// pictures, is within this time.
  private static let longestStretch = TimeDelta.seconds(11)

  /// - Throws: when browsers cannot take the pictures as they are (codec, profile, depth, pictures out of order).
  package init(_ stream: StreamDescription) throws(PassthroughRefusal) {
    rewriter = try PictureRewriter(stream)
    format = try rewriter.format(of: stream)
    rotation = stream.rotation
    // VP8 cannot say which matrix its samples are of; the others say it themselves.
    colorSpace = stream.colorSpace
    size = format.size
  }

  package func frame(of packet: DemuxedPacket, captureTime: Timestamp, now: Timestamp) -> EncodedFrame? {
    guard impassable == nil else { return nil }
    if packet.startsAfterJump {
      awaitsKeyFrame = true
      stretch = nil
      rewriter.reset()
    }
    if let extradata = packet.payload.newExtradata { rewriter.replaceHeaders(extradata) }
    guard packet.payload.count > 0 else { return nil }
    let picture: PictureRewriter.Picture
    switch rewriter.rewrite(packet.payload.bytes) {
    case .picture(let rewritten): picture = rewritten
    case .nothingYet: return nil
    case .damaged:
      // What follows refers to it.
      awaitsKeyFrame = true
      return nil
    case .impassable(let sentence):
      impassable = sentence
      return nil
    }
    note(packet, isKeyFrame: picture.isKeyFrame)
    guard impassable == nil, picture.isKeyFrame || !awaitsKeyFrame else { return nil }
    awaitsKeyFrame = false
    size = picture.size ?? size
    defer { count += 1 }
    return EncodedFrame(
      codec: format.codec, data: picture.data, isKeyFrame: picture.isKeyFrame, size: size, captureTime: captureTime,
      encodedTime: now, quantizer: 0, rotation: rotation, contentHint: .motion,
      colorSpace: format.codec == .vp8 ? colorSpace : nil, number: count)
  }
  /// Checks the time since the last key frame. If key frames are far apart, or there are none as with intra refresh, a
  /// viewer that joins has no picture.
  private func note(_ packet: DemuxedPacket, isKeyFrame: Bool) {
    if isKeyFrame { return stretch = (packet.decodeTime, Self.longestStretch) }
    let (start, longest) = stretch ?? (packet.decodeTime, Self.longestWait)
    stretch = (start, longest)
    guard packet.decodeTime - start > longest else { return }
    impassable =
      longest == Self.longestWait
      ? "The pictures do not begin with a key frame, as with intra refresh, so viewers could not follow them as they are."
      : "The pictures have no key frame for \(longest.milliseconds / 1_000) seconds, so a viewer who joins could not decode them unchanged."
  }
}
