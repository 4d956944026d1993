package import RTCMedia
import RTCNet
package import RTCPrimitives
import Synchronization

/// Makes decoders that work in processes of their own, one for each video. Any thread.
package final class IsolatedDecoders: Sendable {
  /// The longest wait for an answer of a process.
  package struct Patience: Sendable {
    /// The wait for its start, libraries included.
    package var start = TimeDelta.seconds(10)
    /// The wait for one picture.
    package var picture = TimeDelta.seconds(2)
    /// The wait for a packet of sound. Decoding takes a tenth of a millisecond, but on a busy machine the process waits
    /// for its turn.
    package var sound = TimeDelta.milliseconds(30)

    package init() {}
  }

  private struct State {
    /// A process that was started before it is needed.
    var spare: ChildProcess?
    var hasToldOfConfinement = false
  }

  private let program: ChildProgram
  private let patience: Patience
  private let report: @Sendable (String) -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - program: a program whose main function calls `DecoderHost.run`.
  ///   - report: receives reports for a person, in sentences.
  package init(
    program: ChildProgram, patience: Patience = Patience(), report: @escaping @Sendable (String) -> Void
  ) {
    self.program = program
    self.patience = patience
    self.report = report
  }

  deinit { state.withLock { $0.spare }.map { Self.drop($0) } }

  /// Starts a process for the next decoder, so that the first picture need not wait for it. Returns at once.
  package func prepare() {
    guard state.withLock({ $0.spare == nil }), let child = try? start() else { return }
    let surplus = state.withLock { state -> ChildProcess? in
      guard state.spare == nil else { return child }
      state.spare = child
      return nil
    }
    surplus.map { Self.drop($0) }
  }

  /// The factories that create decoders of `codecs` for the videos of one remote peer. If the videos end their
  /// processes again and again, they are not decoded for a while.
  package func factories(of codecs: some Sequence<VideoCodec>) -> [VideoCodec: VideoDecoderFactory] {
    let losses = LossCount()
    var factories: [VideoCodec: VideoDecoderFactory] = [:]
    for codec in codecs { factories[codec] = factory(of: codec, losses) }
    return factories
  }

  private func factory(of codec: VideoCodec, _ losses: LossCount) -> VideoDecoderFactory {
    { () throws(VideoDecoderError) in try self.decoder(of: codec, losses) }
  }

  /// The factory that creates decoders for the sounds of one remote peer. Each decoder starts its process at once and
  /// does not wait for it.
  package func audioFactory() -> AudioDecoderFactory {
    let losses = LossCount()
    let patience = patience.sound
    return { channels throws(AudioDecoderError) in
      try IsolatedAudioDecoder(
        channels: channels, patience: patience,
        owner: IsolatedAudioDecoder.Owner(
          start: { losses.allowsDecoding(at: MonotonicClock.now()) ? self.startOrReport() : nil },
          whenOpen: { self.tell($0) },
          whenLost: { loss in
            let next =
              losses.note(at: MonotonicClock.now())
              ? "A new one is started." : "That was once too often: this sound is not played for the next minute."
            self.report("The process that decodes sound \(loss.words). \(next)")
          }))
    }
  }

  /// Starts a process, and returns the rights that it still has.
  package func check() throws(VideoDecoderError) -> Confinement { try open(.vp8).confinement }

  private func decoder(of codec: VideoCodec, _ losses: LossCount) throws(VideoDecoderError) -> IsolatedVideoDecoder {
    guard losses.allowsDecoding(at: MonotonicClock.now()) else {
      throw .processLost("Videos of this remote peer ended their processes too often.")
    }
    let (child, confinement) = try open(codec)
    tell(confinement)
    return IsolatedVideoDecoder(codec, child, patience: patience.picture) { [self] loss in
      note(loss, of: codec, losses)
    }
  }

  /// Reports once that a process is not confined.
  private func tell(_ confinement: Confinement) {
    guard !confinement.isWhole else { return }
    let isNew = state.withLock { state in
      defer { state.hasToldOfConfinement = true }
      return !state.hasToldOfConfinement
    }
    if isNew { report(confinement.description) }
  }

  private func startOrReport() -> DecoderChild? {
    do throws(SystemError) { return DecoderChild(try start()) } catch {
      report("\(error)")
      return nil
    }
  }

  private func open(_ codec: VideoCodec) throws(VideoDecoderError) -> (child: DecoderChild, confinement: Confinement) {
    let spare = state.withLock { state in
      defer { state.spare = nil }
      return state.spare
    }
    let process: ChildProcess
    do throws(SystemError) {
      if let spare { process = spare } else { process = try start() }
    } catch {
      report("\(error)")
      throw .processLost("\(error)")
    }
    let child = DecoderChild(process)
    let result: Result<Confinement, VideoDecoderError>
    do throws(UntrustedChild.Loss) {
      result = try child.open(codec, patience: patience.start)
    } catch {
      let sentence = "The process that decodes \(codec.rawValue) video \(error.words) while it started."
      report(sentence)
      throw .processLost(sentence)
    }
    return (child, try result.get())
  }

  /// Records that one of a peer's decoders lost its process.
  private func note(_ loss: UntrustedChild.Loss, of codec: VideoCodec, _ losses: LossCount) -> String {
    let goesOn = losses.note(at: MonotonicClock.now())
    // The next process starts while the key frame is on its way.
    if goesOn { prepare() }
    let next =
      goesOn
      ? "A new one is started, and a key frame is asked for."
      : "That was once too often: videos of this remote peer are not decoded for the next minute."
    let sentence = "The process that decodes \(codec.rawValue) video \(loss.words). \(next)"
    report(sentence)
    return sentence
  }

  private func start() throws(SystemError) -> ChildProcess {
    try program.start(environment: DecoderEnvironment.variables, name: "The process that decodes video")
  }

  private static func drop(_ child: ChildProcess) {
    child.socket.shutDown()
    _ = child.end(within: 0)
  }
}
/// How often videos of one remote peer ended their processes. Any thread.
private final class LossCount: Sendable {
  private let limit = Mutex(RestartLimit())

  func allowsDecoding(at now: Timestamp) -> Bool { limit.withLock { $0.hasRoom(at: now) } }

  /// Records a loss. False when no more are allowed for now.
  func note(at now: Timestamp) -> Bool {
    limit.withLock { limit in
      _ = limit.allows(at: now)
      return limit.hasRoom(at: now)
    }
  }
}

/// The variables of this program's environment that a decoder's process gets: the places of its libraries. The process
/// removes them once it has started.
private enum DecoderEnvironment {
  private static let names = [
    "LD_LIBRARY_PATH", "LD_PRELOAD", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
  ]

  static var variables: [String] { Environment.values(names).map { "\($0.key)=\($0.value)" } }
}

extension IsolatedDecoders {
  /// The whole environment of the processes, each variable as `NAME=value`.
  package static var environment: [String] { DecoderEnvironment.variables }
}
