import RTCEngine
package import RTCMedia
package import RTCPeer
package import RTCPrimitives
import Synchronization

/// The sound that goes out: the source's blocks → the encoder, while somebody listens → the track.
///
/// As with `OutgoingVideo`, the encoder belongs to one thread at a time, the source's as a rule; what another source's
/// thread brings meanwhile waits for it. Packets reach the track and the recorders in order, with no lock held.
package final class OutgoingAudio: Sendable {
  /// A block or event of an audio source.
  package enum Input: Sendable {
    case captured(AudioFrame)
    case encoded(EncodedAudioFrame)
  }

  package let track: OutgoingAudioTrack
  private let startBitrate: BitRate
  private let sinks: EncodedMediaSinks
  private let report: @Sendable (BroadcastEvent) -> Void
  private let state: Mutex<State>
  /// Called when there are listeners, and when their requirements change.
  private let listenersCame = Mutex<@Sendable () -> Void>({})

  private struct State {
    /// Nil while a thread works with it.
    var encoder: Encoder?
    var waiting: [Input] = []
    var controls: AudioEncoderControls
    /// The run of a source that counts.
    var source: ObjectIdentifier?
    var demand = AudioDemand()
    var isRecorded = false
  }

  /// The encoder and its state.
  private final class Encoder: @unchecked Sendable {
    // Why unchecked: only the thread that took it out of `State.encoder` uses it.
    var stage: AudioStage
    init(_ stage: consuming AudioStage) { self.stage = stage }
  }

  /// - Parameter startBitrate: the assumed bandwidth of a listener until it is measured.
  package init(
    settings: AudioEncoderSettings, startBitrate: BitRate, makeEncoder: @escaping AudioEncoderFactory, peers: PeerLoop,
    sinks: EncodedMediaSinks, report: @escaping @Sendable (BroadcastEvent) -> Void
  ) {
    self.startBitrate = startBitrate
    self.sinks = sinks
    self.report = report
    let controls = AudioEncoderControls(settings: settings)
    state = Mutex(State(encoder: Encoder(AudioStage(controls: controls, makeEncoder: makeEncoder)), controls: controls))
    track = peers.makeAudioTrack()
    track.setSource { [weak self] in self?.demandChanged($0) }
  }

  // MARK: - Settings

  /// Sends silence while true.
  func setMuted(_ isMuted: Bool) { state.withLock { $0.controls.isMuted = isMuted } }

  /// Sends nothing at all while true.
  func setHeld(_ isHeld: Bool) { state.withLock { $0.controls.isHeld = isHeld } }

  /// Sets whether recorders want packets, with or without listeners.
  func setRecorded(_ isRecorded: Bool) {
    state.withLock { state in
      state.isRecorded = isRecorded
      state.controls.isActive = isRecorded || state.demand.isHeard
    }
  }

  /// On the loop.
  private func demandChanged(_ demand: AudioDemand) {
    state.withLock { state in
      state.demand = demand
      state.controls.isActive = state.isRecorded || demand.isHeard
      state.controls.preferences = demand.preferences
      let bitrate = Int((demand.bitrate ?? startBitrate).bitsPerSecond)
      state.controls.settings.bitrate = min(max(bitrate, 6_000), 510_000)
      // In steps, so that not every lost packet changes the encoder's settings.
      state.controls.settings.expectedLoss = (min(max(demand.loss, 0), 0.3) * 20).rounded(.up) / 20
    }
    guard demand.isHeard else { return }
    let tell = listenersCame.withLock { $0 }
    tell()
  }

  /// Whether there is a listener that can receive the sound now.
  var hasListeners: Bool { state.withLock { $0.demand.isHeard } }

  /// Sets the handler that is called on the loop's thread when there are listeners. It may be called repeatedly.
  func onListeners(_ handler: @escaping @Sendable () -> Void) { listenersCame.withLock { $0 = handler } }

  // MARK: - Source

  /// The run of a source that counts from now on.
  func beginSource(_ run: ObjectIdentifier) { state.withLock { $0.source = run } }

  /// Ignores further sound of `run`. A newer run is not affected.
  func endSource(_ run: ObjectIdentifier) {
    state.withLock { state in
      if state.source == run { state.source = nil }
    }
  }

  /// Takes sound of `run`, if `run` is the current one; encodes the completed packets before it returns.
  package func consume(_ input: Input, from run: ObjectIdentifier) {
    let turn = state.withLock { state -> (encoder: Encoder, controls: AudioEncoderControls)? in
      guard state.source == run else { return nil }
      guard let encoder = state.encoder else {
        state.waiting.append(input)
        return nil
      }
      state.encoder = nil
      return (encoder, state.controls)
    }
    guard let (encoder, controls) = turn else { return }
    encode(input, encoder, controls)
    while let (waiting, controls) = putBack(encoder) {
      for input in waiting { encode(input, encoder, controls) }
    }
  }

  /// Nil when nothing has come meanwhile.
  private func putBack(_ encoder: Encoder) -> ([Input], AudioEncoderControls)? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.encoder = encoder
        return nil
      }
      defer { state.waiting = [] }
      return (state.waiting, state.controls)
    }
  }

  private func encode(_ input: Input, _ encoder: Encoder, _ controls: AudioEncoderControls) {
    encoder.stage.apply(controls)
    let send = { (packet: EncodedAudioFrame) in
      self.track.send(packet)
      self.sinks.send(packet)
    }
    switch input {
    case .captured(let frame): encoder.stage.consume(frame, emit: send)
    case .encoded(let frame): encoder.stage.consume(frame, emit: send)
    }
    for error in encoder.stage.takeFailures() { report(.encoderFailed("The sound could not be encoded: \(error).")) }
  }
}
