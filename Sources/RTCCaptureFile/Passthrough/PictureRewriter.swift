internal import RTCCapture
internal import RTCMedia
internal import RTCPrimitives
internal import RTCWire

/// One of the rewriters, and what browsers do not take of its codec.
enum PictureRewriter {
  case h264(H264Rewriter)
  case vp8
  case vp9(VP9Rewriter)
  case av1(AV1Rewriter)

  struct Picture {
    var data: [UInt8]
    var isKeyFrame: Bool
    /// Nil: as before.
    var size: PixelSize?
  }

  enum Outcome {
    case picture(Picture)
    /// It goes with a later packet.
    case nothingYet
    case damaged
    /// Why nothing can be passed on from here on.
    case impassable(String)
  }

  init(_ stream: StreamDescription) throws(PassthroughRefusal) {
    switch stream.codecName {
    case "h264":
      guard let rewriter = H264Rewriter(extradata: stream.extradata.span) else {
        throw PassthroughRefusal(
          sentence: "The file's H.264 header is damaged, so its pictures cannot be sent as they are.")
      }
      self = .h264(rewriter)
    case "vp8": self = .vp8
    case "vp9": self = .vp9(VP9Rewriter())
    case "av1": self = .av1(AV1Rewriter(extradata: stream.extradata.span))
    default:
      throw PassthroughRefusal(
        sentence: "The pictures are coded as \(stream.codecName), which browsers do not take; "
          + "they take H.264, VP8, VP9 and AV1.")
    }
  }

  /// Forgets what waits for a later packet.
  mutating func reset() {
    guard case .vp9(var rewriter) = self else { return }
    rewriter.reset()
    self = .vp9(rewriter)
  }

  /// The container replaced the codec's private data. What is malformed changes nothing.
  mutating func replaceHeaders(_ extradata: [UInt8]) {
    switch self {
    case .h264: if let rewriter = H264Rewriter(extradata: extradata.span) { self = .h264(rewriter) }
    case .av1: self = .av1(AV1Rewriter(extradata: extradata.span))
    case .vp8, .vp9: break
    }
  }

  /// True when decoding can begin with the packet and is whole at once, which the flags of containers promise of more.
  func isEntryPoint(_ packet: Span<UInt8>) -> Bool {
    switch self {
    case .h264(let rewriter): rewriter.isKeyFrame(packet)
    case .vp8: VP8FrameHeader(parsing: packet)?.isKeyFrame ?? false
    case .vp9: VP9FrameHeader(parsing: packet)?.isKeyFrame ?? false
    case .av1(let rewriter): rewriter.isKeyFrame(packet)
    }
  }

  mutating func rewrite(_ packet: Span<UInt8>) -> Outcome {
    switch self {
    case .h264(var rewriter):
      // Released, so that the rewriter is changed in place.
      self = .vp8
      defer { self = .h264(rewriter) }
      return Self.rewrite(packet, &rewriter)
    case .vp8: return Self.rewriteVP8(packet)
    case .vp9(var rewriter):
      self = .vp8
      defer { self = .vp9(rewriter) }
      return Self.rewrite(packet, &rewriter)
    case .av1(var rewriter):
      self = .vp8
      defer { self = .av1(rewriter) }
      return Self.rewrite(packet, &rewriter)
    }
  }

  // MARK: - Codecs

  private static func rewrite(_ packet: Span<UInt8>, _ rewriter: inout H264Rewriter) -> Outcome {
    guard let picture = rewriter.rewrite(packet) else { return .damaged }
    if let sentence = rewriter.activeSet?.passthroughRefusal { return .impassable(sentence) }
    if picture.hasBidirectionalSlices { return .impassable(H264SequenceParameterSet.outOfOrderRefusal) }
    return .picture(
      Picture(
        data: picture.data, isKeyFrame: picture.isKeyFrame, size: picture.isKeyFrame ? rewriter.activeSet?.size : nil))
  }

  private static func rewriteVP8(_ packet: Span<UInt8>) -> Outcome {
    guard let header = VP8FrameHeader(parsing: packet) else { return .damaged }
    // Browsers take a frame that shows nothing for a failure of their decoder, and stop until the next key frame.
    guard header.isShown else {
      return .impassable("The pictures have hidden VP8 frames between them (“alt-ref”), which browsers do not take.")
    }
    return .picture(
      Picture(data: [UInt8](copying: packet), isKeyFrame: header.isKeyFrame, size: header.keyFrameSize))
  }

  private static func rewrite(_ packet: Span<UInt8>, _ rewriter: inout VP9Rewriter) -> Outcome {
    switch rewriter.rewrite(packet) {
    case .picture(let picture):
      if picture.profile != 0 { return .impassable(refusal(ofVP9Profile: picture.profile)) }
      return .picture(Picture(data: picture.data, isKeyFrame: picture.isKeyFrame, size: picture.size))
    case .hidden: return .nothingYet
    case .malformed: return .damaged
    }
  }

  private static func rewrite(_ packet: Span<UInt8>, _ rewriter: inout AV1Rewriter) -> Outcome {
    guard let picture = rewriter.rewrite(packet) else { return .damaged }
    if let header = rewriter.sequenceHeader, let sentence = refusal(of: header) { return .impassable(sentence) }
    return .picture(
      Picture(
        data: picture.data, isKeyFrame: picture.isKeyFrame,
        size: picture.isKeyFrame ? rewriter.sequenceHeader?.size : nil))
  }
}

// MARK: - What browsers take

extension PictureRewriter {
  /// As SDP puts it.
  func format(of stream: StreamDescription) throws(PassthroughRefusal) -> EncodedVideoFormat {
    if stream.squareSize != stream.size {
      throw PassthroughRefusal(
        sentence:
          "The pixels are not as wide as high (\(stream.size) is to be seen as \(stream.squareSize)), which browsers "
          + "do not follow.")
    }
    if stream.isMirrored {
      throw PassthroughRefusal(sentence: "The pictures are to be mirrored, which browsers do not do.")
    }
    var format = try upright(stream)
    format.rotation = stream.rotation
    return format
  }

  private func upright(_ stream: StreamDescription) throws(PassthroughRefusal) -> EncodedVideoFormat {
    switch self {
    case .h264(let rewriter): return try Self.format(of: stream, rewriter)
    case .vp8: return EncodedVideoFormat(codec: .vp8, size: stream.size)
    case .vp9:
      if stream.profile > 0 { throw PassthroughRefusal(sentence: Self.refusal(ofVP9Profile: stream.profile)) }
      return EncodedVideoFormat(codec: .vp9, parameters: "profile-id=0", size: stream.size)
    case .av1(let rewriter):
      guard let header = rewriter.sequenceHeader else {
        if stream.profile > 0 { throw PassthroughRefusal(sentence: Self.refusal(ofAV1Profile: stream.profile)) }
        let level = stream.level >= 0 ? ";level-idx=\(stream.level)" : ""
        return EncodedVideoFormat(codec: .av1, parameters: "profile=0\(level);tier=0", size: stream.size)
      }
      if let sentence = Self.refusal(of: header) { throw PassthroughRefusal(sentence: sentence) }
      return EncodedVideoFormat(
        codec: .av1, parameters: "profile=\(header.profile);level-idx=\(header.level);tier=\(header.tier)",
        size: header.size)
    }
  }

  private static func format(
    of stream: StreamDescription, _ rewriter: H264Rewriter
  ) throws(PassthroughRefusal) -> EncodedVideoFormat {
    guard let set = rewriter.activeSet else {
      throw PassthroughRefusal(
        sentence: "The file does not say ahead which H.264 its pictures are, so they cannot be offered as they are.")
    }
    if let sentence = set.passthroughRefusal { throw PassthroughRefusal(sentence: sentence) }
    // What the stream says of itself counts more than what FFmpeg concluded from its first pictures.
    guard set.reorderDepth ?? stream.reorderDepth == 0 else {
      throw PassthroughRefusal(sentence: H264SequenceParameterSet.outOfOrderRefusal)
    }
    return set.passthroughFormat
  }

  private static func refusal(ofVP9Profile profile: Int) -> String {
    "The pictures are VP9 of profile \(profile), which not every browser takes; they all take profile 0."
  }

  private static func refusal(ofAV1Profile profile: Int) -> String {
    "The pictures are AV1 of profile \(profile), which browsers do not take; they take profile 0."
  }

  private static func refusal(of header: AV1SequenceHeader) -> String? {
    if header.profile > 0 { return refusal(ofAV1Profile: header.profile) }
    return header.bitDepth == 8
      ? nil : "The pictures are AV1 of \(header.bitDepth) bits, of which browsers take 8 in a live stream."
  }
}
