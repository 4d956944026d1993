public import RTCMedia
import RTCPrimitives
import RTCWire

/// A video codec as descriptions name it: the codec and its `a=fmtp` parameters.
public struct VideoPayloadFormat: Hashable, Sendable {
  /// The codec, which gives the name in `a=rtpmap`.
  public var codec: VideoCodec
  /// `profile-level-id=42e01f`, `profile-id=0`, `profile=0` …; omitted parameters have the codec's default. H.264
  /// always implies `packetization-mode=1` and `level-asymmetry-allowed=1`.
  public var parameters: String

  /// A codec with its default parameters, unless others are given.
  public init(codec: VideoCodec, parameters: String = "") {
    self.codec = codec
    self.parameters = parameters
  }

  /// The format in which a source's coded video is offered.
  public init(_ format: EncodedVideoFormat) { self.init(codec: format.codec, parameters: format.parameters) }

  /// The format in which an encoder's frames are offered: VP9 and AV1 of profile 0 (4:2:0) or 1 (4:4:4), H.264 of High
  /// 4:4:4 Predictive (4:4:4) as Chromium offers it, else the codec with default parameters.
  public init(codec: VideoCodec, chroma: ChromaSampling) {
    let profile = chroma == .full ? 1 : 0
    switch codec {
    case .vp9: self.init(codec: codec, parameters: "profile-id=\(profile)")
    case .av1: self.init(codec: codec, parameters: "profile=\(profile)")
    case .h264 where chroma == .full: self.init(codec: codec, parameters: "profile-level-id=f4001f")
    case .vp8, .h264: self.init(codec: codec)
    }
  }

  /// VP8, which has no parameters.
  public static let vp8 = VideoPayloadFormat(codec: .vp8)

  /// True when a remote peer that takes this format can decode `stream`: the same profile or one that it contains. Levels
  /// may differ; a stream without parameters is taken to be of the right profile.
  public func takes(_ stream: VideoPayloadFormat) -> Bool {
    guard codec == stream.codec else { return false }
    guard !stream.parameters.isEmpty else { return true }
    let (ours, theirs) = (FormatParameters(parameters), FormatParameters(stream.parameters))
    switch codec {
    case .vp8: return true
    case .vp9: return (ours.number("profile-id") ?? 0) == (theirs.number("profile-id") ?? 0)
    case .av1: return (ours.number("profile") ?? 0) == (theirs.number("profile") ?? 0)
    case .h264:
      guard let profile = h264?.profile, let wanted = stream.h264?.profile else { return false }
      return profile.decodes(wanted)
    }
  }

  /// Profile and level of H.264; nil for other codecs, and for parameters that cannot be read.
  var h264: H264ProfileLevelID? {
    guard codec == .h264 else { return nil }
    guard let text = FormatParameters(parameters)["profile-level-id"] else { return .assumed }
    return H264ProfileLevelID(parsing: text)
  }

  // MARK: - Negotiation

  /// The formats to negotiate for it, the best first: the format itself, and a more widely offered superset.
  private var alternatives: [VideoPayloadFormat] {
    guard let h264 else { return [self] }
    var profiles = [h264.profile]
    // Browsers without hardware say no High, but High 4:4:4 Predictive, whose decoders take High (H.264 §A.2.11).
    if h264.profile == .high || h264.profile == .constrainedHigh { profiles.append(.highPredictive444) }
    return profiles.map { profile in
      let id = H264ProfileLevelID(profile: profile, level: h264.level)
      return VideoPayloadFormat(
        codec: .h264, parameters: "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=\(id)")
    }
  }

  /// The capabilities for `formats`, in their order, each once.
  static func capabilities(_ formats: [VideoPayloadFormat]) -> [CodecCapability] {
    var capabilities: [CodecCapability] = []
    for format in formats.flatMap(\.alternatives) {
      let parameters = FormatParameters(format.parameters)
      guard !capabilities.contains(where: { $0.name == format.codec.rawValue && $0.parameters == parameters }) else {
        continue
      }
      capabilities.append(
        CodecCapability(
          name: format.codec.rawValue, clockRate: 90_000, parameters: parameters,
          feedback: [.nack, .pli, .fir, .transportCC, .remb], retransmits: true,
          preferredPayloadType: PayloadType(UInt8(min(96 + 2 * capabilities.count, 126)))))
    }
    return capabilities
  }

  /// Nil for codecs that are no video.
  init?(_ capability: CodecCapability) {
    guard let codec = VideoCodec(rawValue: capability.name) else { return nil }
    self.init(codec: codec, parameters: capability.parameters.text)
  }
}

extension VideoPayloadFormat {
  /// The format of a key frame, from its contents; nil if it cannot be parsed.
  init?(keyFrame frame: EncodedFrame) {
    switch frame.codec {
    case .vp8: self = .vp8
    case .h264: self.init(h264KeyFrame: frame.data.span)
    case .vp9:
      guard let header = VP9FrameHeader(parsing: frame.data.span) else { return nil }
      self.init(codec: .vp9, parameters: "profile-id=\(header.profile)")
    case .av1:
      let data = frame.data.span
      let unit = AV1OBU.units(in: data)?.first { $0.header.kind == .sequenceHeader }
      guard let unit, let header = AV1SequenceHeader(parsing: data.extracting(unit.payload)) else { return nil }
      self.init(codec: .av1, parameters: "profile=\(header.profile)")
    }
  }

  /// The format of an H.264 key frame, from the sequence parameter set before its picture (ITU-T H.264 §7.3.2.1.1); nil
  /// without one.
  /// - Parameter data: as `EncodedFrame.data`.
  public init?(h264KeyFrame data: Span<UInt8>) {
    var units = H264ByteStream(data)
    while let unit = units.nextUnit(in: data) {
      switch H264NALUnitHeader.Kind(rawValue: data[unit.lowerBound]) {
      case .sequenceParameterSet where unit.count >= 4:
        let text = (1...3).map { index in
          let byte = data[unit.lowerBound + index]
          return String(byte >> 4, radix: 16) + String(byte & 0x0F, radix: 16)
        }
        self.init(codec: .h264, parameters: "profile-level-id=\(text.joined())")
        return
      case .idrSlice: return nil
      default: continue
      }
    }
    return nil
  }

  /// For a person: `VP8`, `VP9 of profile 1 (4:4:4)`, or `H264 of profile High (profile-level-id=640028)`.
  public var words: String {
    let key = codec == .vp9 ? "profile-id" : codec == .av1 ? "profile" : nil
    if let key, FormatParameters(parameters).number(key) == 1 { return "\(codec.rawValue) of profile 1 (4:4:4)" }
    guard codec == .h264, let text = FormatParameters(parameters)["profile-level-id"] else { return codec.rawValue }
    guard let profile = h264?.profile else { return "H264 (profile-level-id=\(text))" }
    return "H264 of profile \(profile.words) (profile-level-id=\(text))"
  }
}

extension H264ProfileLevelID.Profile {
  fileprivate var words: String {
    switch self {
    case .constrainedBaseline: "Constrained Baseline"
    case .baseline: "Baseline"
    case .main: "Main"
    case .constrainedHigh: "Constrained High"
    case .high: "High"
    case .highPredictive444: "High 4:4:4 Predictive"
    }
  }

  /// True when a decoder of this profile decodes streams of `other` (ITU-T H.264 §A.2).
  func decodes(_ other: Self) -> Bool {
    switch (self, other) {
    case let (a, b) where a == b: true
    case (_, .constrainedBaseline), (.highPredictive444, .main), (.high, .main), (.constrainedHigh, .main): true
    case (.highPredictive444, .high), (.highPredictive444, .constrainedHigh), (.high, .constrainedHigh): true
    default: false
    }
  }
}
