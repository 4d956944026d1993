public import RTCEngine
public import RTCMedia
public import RTCPrimitives
import RTCSignaling

/// Settings for a kind of cast, by name or from a JSON file. Settings that a preset omits keep their defaults.
///
/// `presets/README.md` describes every key of the file.
public struct Preset: Hashable, Sendable {
  /// For people.
  public var title: String?
  /// For people.
  public var description: String?
  /// The most pictures a second, 0.1…240.
  public var frameRate: Double?
  /// The quality to preserve when bandwidth is short, sharpness or frame rate; nil: by source.
  public var contentHint: ContentHint?
  /// The video codec; nil: the default.
  public var codec: VideoCodec?
  /// Codec and chroma follow viewers, content and machine; `codec` is nil then.
  public var choosesCodec = false
  /// How finely colours are sampled; nil: one sample for four pixels.
  public var chroma: ChromaSampling?
  /// In which parts a viewer may have the stream: VP9 alone has layers.
  public var scalabilityMode: ScalabilityMode?
  /// Larger pictures are scaled down to fit.
  public var size: PixelSize?
  /// As `--audio` takes it: `source`, `desktop`, `mic`, `none` or a device.
  public var audioSource: String?
  /// The token of the server, ours or another's; a file that has one is for its owner's eyes alone.
  public var token: String?
  /// STUN and TURN servers.
  public var iceServers: [ICEServer] = []
  /// How long a connection may take to come about, 1…3600 s.
  public var connectionTimeout: TimeDelta?
  /// How long a call rings at the remote peer, 1…3600 s.
  public var ringTimeout: TimeDelta?
  /// How the bitrate follows the network; nil: the default.
  public var rateControl: RateControlAlgorithm?
  /// The bitrate limits of each viewer's picture.
  public var video: BitrateLimits?
  /// Bounds of the audio bitrate; nil: the defaults.
  public var audio: BitrateLimits?

  /// The defaults.
  public init() {}

  /// - Parameters:
  ///   - json: the file's bytes.
  ///   - file: its path or name, for the sentences of errors.
  public init(json: some Sequence<UInt8>, file: String) throws(PresetError) {
    try self.init(json: json, called: "preset \(file)")
  }

  /// - Parameters:
  ///   - called: what the sentences of errors call the file, such as `preset mine.json`.
  ///   - besides: keys that are allowed and not read.
  package init(json: some Sequence<UInt8>, called: String, besides: [String] = []) throws(PresetError) {
    let tree: JSONTree
    do throws(JSONError) {
      tree = try JSONTree(parsing: json)
    } catch {
      throw PresetError(
        kind: .malformed, sentence: "The \(called) is not JSON: \(error.problem) (line \(error.line)).")
    }
    self = try PresetReader(file: called, besides: besides).read(tree)
  }

  /// The keys of the file, in the order of `presets/README.md`.
  package static var keys: [String] { PresetReader.keys }

  /// These settings, and those of `base` where these say nothing. The token and the ICE servers of `base` are left out;
  /// `video` and `audio` count as a whole.
  package func filled(from base: Preset) -> Preset {
    var preset = self
    preset.frameRate = frameRate ?? base.frameRate
    preset.contentHint = contentHint ?? base.contentHint
    if codec == nil, !choosesCodec { (preset.codec, preset.choosesCodec) = (base.codec, base.choosesCodec) }
    preset.chroma = chroma ?? base.chroma
    preset.scalabilityMode = scalabilityMode ?? base.scalabilityMode
    preset.size = size ?? base.size
    preset.audioSource = audioSource ?? base.audioSource
    preset.connectionTimeout = connectionTimeout ?? base.connectionTimeout
    preset.ringTimeout = ringTimeout ?? base.ringTimeout
    preset.rateControl = rateControl ?? base.rateControl
    preset.video = video ?? base.video
    preset.audio = audio ?? base.audio
    return preset
  }
}

/// Why there is no preset.
public struct PresetError: Error, Hashable, Sendable {
  /// The kind of an error.
  public enum Kind: Hashable, Sendable {
    /// No preset of that name, no file at that path.
    case notFound
    /// The file is there and cannot be read.
    case unreadable
    /// The file has an unknown key or an invalid value.
    case malformed
  }

  /// The kind of the error.
  public var kind: Kind
  /// A sentence that names the file, the key, and the allowed values.
  public var sentence: String

  package init(kind: Kind, sentence: String) {
    self.kind = kind
    self.sentence = sentence
  }
}

extension BitrateLimits {
  /// The default limits of a picture: 100 kbit/s to 6 Mbit/s, starting at 1 Mbit/s.
  public static var defaultForVideo: BitrateLimits { BitrateLimits() }

  /// The default limits of sound: 6 to 96 kbit/s, starting at 16 kbit/s.
  public static var defaultForAudio: BitrateLimits {
    var limits = BitrateLimits()
    limits.minimum = .kilobitsPerSecond(6)
    limits.maximum = .kilobitsPerSecond(96)
    limits.start = .kilobitsPerSecond(16)
    return limits
  }
}
