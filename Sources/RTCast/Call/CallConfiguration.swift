public import RTCEngine
public import RTCMedia
public import RTCPrimitives

/// How calls are made (Tests/features.md S0.28–S0.47). All of it may come from a JSON file, see `presets/README.md`.
public struct CallConfiguration: Sendable {
  /// STUN and TURN servers, in addition to those that the signaling server names.
  public var iceServers: [ICEServer] = []
  /// Which candidates are used: all, or those of TURN servers only.
  public var iceTransportPolicy = ICETransportPolicy.all
  /// From the acceptance of a call to its media connection; then it is given up.
  public var connectionTimeout = TimeDelta.seconds(30)
  /// How long it rings there before the caller gives up.
  public var ringTimeout = TimeDelta.seconds(45)
  /// The bitrate limits of the picture for each remote peer.
  public var video = BitrateLimits.defaultForVideo
  /// The bitrate limits of the audio for each remote peer.
  public var audio = BitrateLimits.defaultForAudio
  /// How the bitrate follows the network.
  public var rateControl = RateControlAlgorithm.gcc
  /// Receives the feedback and decisions of all connections' bandwidth estimators; nil: none. The application closes
  /// it.
  public var rateLog: RateLog?
  /// The codec that pictures are encoded with.
  public var codec = VideoCodec.vp8
  /// The chroma sampling of encoded pictures. If the codec's encoder does not support it, 4:2:0 is used.
  public var chroma = ChromaSampling.quarter
  /// In which parts the other side may have the stream: VP9 alone has layers.
  public var scalabilityMode = ScalabilityMode.l1t1
  /// The measured costs of encoding. If set, codec and chroma are chosen by the remote peer's codecs, the content and
  /// the load.
  public var codecCosts: CodecCosts?
  /// The most pictures a second.
  public var frameRate = 30.0
  /// Larger pictures are scaled down to fit.
  public var maximumSize: PixelSize?
  /// The size to ask of a source that can deliver any size.
  public var captureSize: PixelSize?
  /// Nil: `detail` for a screencast, `motion` for everything else.
  public var contentHint: ContentHint?
  /// Labels of the data channels that the caller opens with the call; they arrive as `CallEvent.dataChannel`.
  public var dataChannels: [String] = []

  /// The defaults.
  public init() {}

  /// The defaults, overridden by the settings of the preset.
  public init(_ preset: Preset) {
    iceServers = preset.iceServers
    if let timeout = preset.connectionTimeout { connectionTimeout = timeout }
    if let timeout = preset.ringTimeout { ringTimeout = timeout }
    if let limits = preset.video { video = limits }
    if let limits = preset.audio { audio = limits }
    if let algorithm = preset.rateControl { rateControl = algorithm }
    if let codec = preset.codec { self.codec = codec }
    if let chroma = preset.chroma { self.chroma = chroma }
    if let mode = preset.scalabilityMode { scalabilityMode = mode }
    if let rate = preset.frameRate { frameRate = rate }
    maximumSize = preset.size
    contentHint = preset.contentHint
  }

  /// Reads a JSON file's bytes.
  /// - Parameter file: its name, for the sentences of errors.
  public init(json: some Sequence<UInt8>, file: String) throws(PresetError) {
    self.init(try Preset(json: json, file: file))
  }

  /// Finds a built-in preset by name, or reads the file at a path.
  public init(preset nameOrPath: String) throws(PresetError) { self.init(try Preset.find(nameOrPath)) }

  var broadcastOptions: Broadcast.Options {
    var options = Broadcast.Options()
    options.frameRate = frameRate
    options.captureSize = captureSize
    options.maximumSize = maximumSize
    options.codec = codec
    options.chroma = chroma
    options.scalabilityMode = scalabilityMode
    options.codecCosts = codecCosts
    options.contentHint = contentHint
    options.bitrates = video
    options.audioBitrates = audio
    options.rateControl = rateControl
    options.rateLog = rateLog
    options.waitsForReceiver = true
    return options
  }
}
