import RTCConvert
import RTCMedia
import RTCPeer
import RTCPrimitives

/// The encoders of the sent video, and what they have in common.
final class RungEncoders: @unchecked Sendable {
  /// Whether a source of encoded pictures is to decode them as well.
  struct Decoding {
    var passthrough: Passthrough
    var isWanted: Bool
  }

  // Why unchecked: only the thread that took it out of `EncodingState` uses it.
  private let encoders: [RungEncoder]
  /// The encoders of viewers that decode no rung.
  let spares: [Int]
  var selection: CodecSelection?
  /// The pictures have colours of their own for each pixel.
  private var isFullColour = true
  var load = EncodingLoad()
  var changes = ChangeFinder()
  var heldBack = HeldPicture()
  /// Not every viewer supports rotation, and none mirrors: pictures encoded here are upright.
  var turner = PictureTurner()
  /// The newest capture time of all encoders: a viewer that changes encoders must not get older pictures.
  var newestCapture = Timestamp.zero
  /// The last instruction to a source of encoded pictures; decoding is wanted at first.
  private var decoding: Decoding?

  init(_ encodings: [VideoEncoding], _ selection: CodecSelection?) {
    encoders = encodings.map { RungEncoder($0) }
    spares = encodings.indices.filter { !encodings[$0].isRung }
    self.selection = selection
  }

  subscript(_ index: Int) -> RungEncoder { encoders[index] }

  func index(of rung: Rendition) -> Int { encoders.firstIndex { $0.rendition == rung } ?? 0 }

  func indices(of rungs: some Sequence<Rendition>) -> [Int] { rungs.map(index) }

  /// Gives the main rung's encoder the source's pictures, and lets the others share them.
  /// - Returns: the main rung's encoder.
  func setMain(_ rungs: Rungs) -> Int {
    let main = index(of: rungs.main)
    guard encoders[main].isShared else { return main }
    if let old = encoders.first(where: { !$0.isShared }) {
      old.becomeShared()
      load.rest()
    }
    encoders[main].becomeMain()
    return main
  }

  /// Chooses the best of `selection` for the main rung.
  func choose(
    for main: RungEncoder, _ viewers: EncodingPass.Viewers, _ controls: EncoderControls, newest: VideoFrame?,
    now: Timestamp
  ) -> Int {
    if let newest { isFullColour = newest.buffer.format != .i420 && newest.buffer.format != .nv12 }
    var situation = CodecChooser.Situation()
    (situation.viewers, situation.takers) = (viewers.count, viewers.takers)
    let size = newest?.size ?? main.stage.statistics.size ?? PixelSize(width: 0, height: 0)
    situation.megapixels = Double(size.width * size.height) / 1e6
    situation.frameRate = controls.maxFrameRate
    (situation.rate, situation.highestRate) = (controls.bitrate, controls.bitrates.upperBound)
    situation.wantsFullChroma = isFullColour && controls.contentHint != .motion
    return selection?.chooser.choose(situation, now: now) ?? 0
  }

  /// Says to the source whether decoded pictures are wanted of it, and to those before that they are again.
  func apply(_ wanted: Decoding?, released: [Passthrough]) {
    for passthrough in released { passthrough.source.setDecoding(true) }
    guard let wanted else {
      decoding = nil
      return
    }
    let before = decoding?.passthrough === wanted.passthrough ? decoding?.isWanted ?? true : true
    decoding = wanted
    if wanted.isWanted != before { wanted.passthrough.source.setDecoding(wanted.isWanted) }
  }
}

/// The encoder of one rendition, and how it gets its pictures.
final class RungEncoder {
  let rendition: Rendition
  var stage: EncodeStage
  /// The main rung's pictures on their way to this encoder; nil while it encodes the source's.
  private var shared: SharedPictures? = SharedPictures()

  /// The memory is released after this long without use, so that viewers that come and go do not need a new encoder
  /// each time.
  private static let idleTime = TimeDelta.seconds(3)

  private struct SharedPictures {
    /// The main rung's picture, still to be encoded here.
    var waiting = PictureMailbox()
    /// Whether a picture was missed.
    var hasMissed = true
    var lastEncoded: Timestamp?
    /// The time since which the encoder has had no viewer.
    var idleSince: Timestamp?
  }

  init(_ encoding: VideoEncoding) {
    rendition = encoding.rendition
    stage = EncodeStage(settings: encoding.settings, rendition: encoding.rendition, makeEncoder: encoding.makeEncoder)
  }

  /// Whether it encodes the main rung's pictures.
  var isShared: Bool { shared != nil }

  /// The encoder has no viewer, so it costs nothing.
  /// - Returns: the time to check again.
  func rest(_ now: Timestamp, isNew: Bool) -> Timestamp? {
    if isNew { shared?.hasMissed = true }
    shared?.waiting.clear()
    guard stage.isPrepared else { return nil }
    let since = shared?.idleSince ?? now
    shared?.idleSince = since
    guard now - since >= Self.idleTime else { return since + Self.idleTime }
    stage.release()
    shared?.hasMissed = true
    shared?.idleSince = nil
    return nil
  }

  /// Takes the main rung's picture, replacing one that was not encoded yet.
  func share(from main: borrowing EncodeStage, isNew: Bool, now: Timestamp) {
    guard let hasMissed = shared?.hasMissed else { return }
    shared?.idleSince = nil
    guard isNew || hasMissed else { return }
    guard var picture = main.share(isNext: !hasMissed) else {
      shared?.hasMissed = true
      return
    }
    // An unchanged picture is shown now; its capture time is of no use.
    if !isNew { picture.captureTime = now }
    shared?.hasMissed = false
    shared?.waiting.post(picture)
  }

  /// The picture to encode, unless it is to wait.
  /// - Parameter spacing: between two pictures; nil: each is encoded.
  func takeShared(now: Timestamp, spacing: TimeDelta?) -> VideoFrame? {
    if let due = sharedTime(spacing: spacing), due > now { return nil }
    guard let picture = shared?.waiting.take() else { return nil }
    shared?.lastEncoded = now
    return picture.frame
  }

  /// The time at which the waiting picture is to be encoded; nil: none waits.
  func sharedTime(spacing: TimeDelta?) -> Timestamp? {
    guard let shared, !shared.waiting.isEmpty else { return nil }
    guard let spacing, let last = shared.lastEncoded else { return .zero }
    return last + spacing
  }

  /// Encodes the source's pictures from now on.
  func becomeMain() {
    stage.adopt()
    shared = nil
  }

  /// Encodes the main rung's pictures from now on.
  func becomeShared() { shared = SharedPictures() }
}
