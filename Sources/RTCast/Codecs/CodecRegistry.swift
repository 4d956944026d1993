import RTCCodecAOM
import RTCCodecFFmpeg
import RTCCodecOpus
import RTCCodecVPX
#if X264
  import RTCCodecX264
#endif
import RTCEngine
package import RTCIsolation
public import RTCMedia

/// The codecs that broadcasts and calls may encode and decode with. A value: pass a changed copy to add or replace a
/// codec.
public struct CodecRegistry: Sendable {
  /// The encoders of each codec, in the order in which they are tried.
  private var encoders: [VideoCodec: [RegisteredEncoder]] = [:]
  /// The factory of audio encoders, for Opus; nil: no sound is sent.
  public var audioFactory: AudioEncoderFactory?
  private var decoders: [VideoCodec: VideoDecoderFactory] = [:]
  /// FFmpeg decodes what nothing is registered for, where its libraries are installed.
  private var usesFFmpeg = false
  /// Has received pictures decoded in processes of their own; nil: in this one.
  package var isolation: IsolatedDecoders?
  /// The factory of audio decoders, for Opus; nil: no sound is played.
  public var audioDecoder: AudioDecoderFactory?

  /// An empty registry.
  public init() {}

  /// All codecs this build has, and H.264 and AV1 for receiving where FFmpeg's libraries are installed.
  public static var standard: CodecRegistry {
    var registry = CodecRegistry()
    registry.register(.vp8, library: VP8Encoder.library) { settings throws(VideoEncoderError) in
      try VP8Encoder(settings)
    }
    registry.register(.vp9, library: VP9Encoder.library, chroma: [.quarter, .full]) {
      settings throws(VideoEncoderError) in try VP9Encoder(settings)
    }
    #if X264
      registry.register(.h264, library: H264Encoder.library, chroma: [.quarter, .full]) {
        settings throws(VideoEncoderError) in try H264Encoder(settings)
      }
    #endif
    registry.register(.av1, library: AV1Encoder.library, chroma: [.quarter, .full]) {
      settings throws(VideoEncoderError) in try AV1Encoder(settings)
    }
    registry.register(decoderOf: .vp8) { () throws(VideoDecoderError) in try VP8Decoder() }
    registry.register(decoderOf: .vp9) { () throws(VideoDecoderError) in try VP9Decoder() }
    registry.usesFFmpeg = true
    registry.audioDecoder = { channels throws(AudioDecoderError) in try OpusAudioDecoder(channels: channels) }
    registry.audioFactory = { settings throws(AudioEncoderError) in try OpusAudioEncoder(settings) }
    return registry
  }

  /// The place of a new encoder among the encoders of its codec.
  public enum EncoderPlace: Sendable {
    /// It replaces all others.
    case only
    /// It is tried before the others.
    case first
    /// It is tried when the others cannot be used.
    case last
  }

  /// Adds an encoder of `codec`. The first of the codec's encoders that can be used with the settings makes the frames:
  /// the others are tried if it does not support them, or cannot be made.
  /// - Parameters:
  ///   - library: name and version of the encoder, for reports to a person.
  ///   - chroma: the values of `VideoEncoderSettings.chroma` that the encoder supports.
  ///   - place: by default, the encoder replaces all others of its codec.
  ///   - supports: whether the encoder can be used with the settings.
  public mutating func register(
    _ codec: VideoCodec, library: String? = nil, chroma: Set<ChromaSampling> = [.quarter],
    place: EncoderPlace = .only, supports: @escaping @Sendable (VideoEncoderSettings) -> Bool = { _ in true },
    factory: @escaping VideoEncoderFactory
  ) {
    let encoder = RegisteredEncoder(library: library, chroma: chroma, supports: supports, make: factory)
    switch place {
    case .only: encoders[codec] = [encoder]
    case .first: encoders[codec, default: []].insert(encoder, at: 0)
    case .last: encoders[codec, default: []].append(encoder)
    }
  }

  /// Adds a decoder of `codec`, in the place of any before.
  public mutating func register(decoderOf codec: VideoCodec, factory: @escaping VideoDecoderFactory) {
    decoders[codec] = factory
  }

  /// The factories of video decoders, by codec. The first call loads FFmpeg's libraries.
  public var videoDecoders: [VideoCodec: VideoDecoderFactory] {
    isolation?.factories(of: ownDecoders.keys) ?? ownDecoders
  }

  /// The decoder of one remote peer's sound, in a process of its own where decoders are isolated.
  package var audioDecoderOfPeer: AudioDecoderFactory? { audioDecoder.map { isolation?.audioFactory() ?? $0 } }

  /// Makes the decoder of sound in its process.
  package static func audioDecoder(channels: Int) throws(AudioDecoderError) -> any AudioDecoder {
    try OpusAudioDecoder(channels: channels)
  }

  /// Makes the decoder of one codec in its process, where pictures are put into `memory`.
  package static func decoder(
    of codec: VideoCodec, in memory: any DecoderMemory
  ) throws(VideoDecoderError) -> any VideoDecoder {
    switch codec {
    case .vp8: return try VP8Decoder(memory: memory)
    case .vp9: return try VP9Decoder(memory: memory)
    case .h264, .av1:
      FFmpegVideoDecoder.loadLibraries()
      return try FFmpegVideoDecoder(codec, memory: memory)
    }
  }

  private var ownDecoders: [VideoCodec: VideoDecoderFactory] {
    guard usesFFmpeg else { return decoders }
    return FFmpegVideoDecoder.factories(of: VideoCodec.allCases.filter { decoders[$0] == nil })
      .merging(decoders) { _, registered in registered }
  }

  /// The codecs that can be received, in the order of `VideoCodec`.
  public var decodable: [VideoCodec] {
    let known = ownDecoders
    return VideoCodec.allCases.filter { known[$0] != nil }
  }

  /// The formats offered for receiving, the best first: formats that we also encode come before formats found in files
  /// only.
  var receivableFormats: [VideoPayloadFormat] {
    let common = EncodedVideoFormat.common.map { VideoPayloadFormat($0) }
    return decodable.flatMap { codec in
      var formats = common.filter { $0.codec == codec }
      // Formats that we may send with full chroma are received too.
      if codec == .vp9 || codec == .av1 { formats.append(VideoPayloadFormat(codec: codec, chroma: .full)) }
      return formats.isEmpty ? [VideoPayloadFormat(codec: codec)] : formats
    }
  }

  /// Names and versions of the encoders of `codec`, in the order in which they are tried; nil if unknown.
  public func library(for codec: VideoCodec) -> String? {
    let names = encoders[codec]?.compactMap(\.library) ?? []
    return names.isEmpty ? nil : names.joined(separator: ", else ")
  }

  /// The codecs that have an encoder.
  public var codecs: [VideoCodec] { VideoCodec.allCases.filter { encoders[$0] != nil } }

  /// The codecs that can be encoded with colours sampled so.
  public func codecs(with chroma: ChromaSampling) -> [VideoCodec] {
    codecs.filter { encodes($0, chroma) }
  }

  private func encodes(_ codec: VideoCodec, _ chroma: ChromaSampling) -> Bool {
    encoders[codec]?.contains { $0.chroma.contains(chroma) } == true
  }

  /// `codec` with `chroma`, or with a colour for four pixels where its encoder has no other.
  func coded(_ codec: VideoCodec, _ chroma: ChromaSampling) -> CodedFormat {
    CodedFormat(
      codec, codecs(with: chroma).contains(codec) ? chroma : .quarter, makeEncoder: factory(for: codec))
  }

  /// The format for viewers that cannot decode `main`: VP8, which all viewers decode, else the same codec with 4:2:0;
  /// `main` itself if there is no other.
  func fallback(for main: CodedFormat) -> CodedFormat {
    if encoders[.vp8] != nil { return coded(.vp8, .quarter) }
    return encodes(main.format.codec, .quarter) ? coded(main.format.codec, .quarter) : main
  }

  /// The format for viewers that can decode none of `others`: H.264, the only codec of some viewers; nil if `others`
  /// contains it or there is no encoder.
  func spare(besides others: [CodedFormat]) -> CodedFormat? {
    guard encoders[.h264] != nil, !others.contains(where: { $0.format.codec == .h264 }) else { return nil }
    return coded(.h264, .quarter)
  }

  /// The candidates for the main rung, ordered by the quality of a page of text at equal rate (Benchmarks/RESULTS.md);
  /// nil if the options name a codec, or no costs were measured.
  func selection(_ options: Broadcast.Options, _ contentHint: ContentHint) -> CodecSelection? {
    guard let costs = options.codecCosts else { return nil }
    let measured = Self.byQuality.compactMap { codec, chroma -> (format: CodedFormat, cost: TimeDelta)? in
      guard codecs(with: chroma).contains(codec), let cost = costs.cost(of: codec, chroma) else { return nil }
      return (coded(codec, chroma), cost)
    }
    guard let first = measured.first else { return nil }
    var expected = CodecChooser.Situation()
    let size = options.captureSize ?? options.maximumSize ?? PixelSize(width: 1920, height: 1080)
    expected.megapixels = Double(size.width * size.height) / 1e6
    expected.frameRate = options.frameRate
    expected.highestRate = options.bitrates.maximum
    expected.wantsFullChroma = contentHint != .motion
    return CodecSelection(
      measured, fallback: fallback(for: first.format), processors: ProcessorCount.available, expecting: expected)
  }

  private static let byQuality: [(VideoCodec, ChromaSampling)] = [
    (.av1, .full), (.vp9, .full), (.h264, .full), (.av1, .quarter), (.vp9, .quarter), (.vp8, .quarter),
    (.h264, .quarter),
  ]

  /// Makes an encoder of `codec`: the first that can be used with the settings.
  func factory(for codec: VideoCodec) -> VideoEncoderFactory {
    guard let encoders = encoders[codec] else {
      preconditionFailure("CodecRegistry: no encoder of \(codec.rawValue); register one first")
    }
    return { settings throws(VideoEncoderError) in
      var refusals: [(name: String?, error: VideoEncoderError?)] = []
      for encoder in encoders {
        guard encoder.supports(settings), encoders.count == 1 || encoder.chroma.contains(settings.chroma) else {
          refusals.append((encoder.library, nil))
          continue
        }
        do throws(VideoEncoderError) { return try encoder.make(settings) } catch {
          refusals.append((encoder.library, error))
        }
      }
      // The only encoder speaks for itself.
      if refusals.count == 1, let error = refusals[0].error { throw error }
      throw .noUsableEncoder(
        codec,
        causes: refusals.map { name, error in
          (name ?? "an encoder without a name") + ": " + (error?.description ?? "it does not support the settings")
        })
    }
  }
}

/// An encoder of a `CodecRegistry`.
private struct RegisteredEncoder: Sendable {
  /// Name and version.
  var library: String?
  var chroma: Set<ChromaSampling>
  var supports: @Sendable (VideoEncoderSettings) -> Bool
  var make: VideoEncoderFactory
}
