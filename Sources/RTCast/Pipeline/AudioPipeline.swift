public import RTCEngine
public import RTCMedia
import Synchronization

/// One source of sound, coded once for however many listen: makes exact blocks of what comes, encodes them on the
/// source's thread and hands the packets to a sink. Any thread.
public final class AudioPipeline: Sendable {
  private let stage: Mutex<AudioStage>
  private let orders: Mutex<AudioEncoderControls>
  private let published = Mutex(AudioPipelineStatistics())
  private let sink: @Sendable (EncodedAudioFrame) -> Void

  /// - Parameters:
  ///   - sink: gets every packet, from the source's thread; it should only pass it on.
  ///   - onFailure: told when the encoder refuses.
  public init(
    settings: AudioEncoderSettings, makeEncoder: @escaping AudioEncoderFactory,
    sink: @escaping @Sendable (EncodedAudioFrame) -> Void,
    onFailure: @escaping @Sendable (AudioEncoderError) -> Void = { _ in }
  ) {
    let orders = AudioEncoderControls(settings: settings)
    self.orders = Mutex(orders)
    self.sink = sink
    stage = Mutex(AudioStage(orders: orders, makeEncoder: makeEncoder, report: onFailure))
  }

  /// Whether anybody listens; otherwise nothing is encoded.
  public func setActive(_ isActive: Bool) { orders.withLock { $0.isActive = isActive } }

  /// Sends silence while true.
  public func setMuted(_ isMuted: Bool) { orders.withLock { $0.isMuted = isMuted } }

  /// Sends nothing at all while true.
  func setHeld(_ isHeld: Bool) { orders.withLock { $0.isHeld = isHeld } }

  /// What those who listen ask of the encoder; it does not do more than the settings say.
  public func setWishes(_ wishes: OpusPreferences) { orders.withLock { $0.wishes = wishes } }

  /// Bits a second, 6 000…510 000.
  public func setBitrate(_ bitrate: Int) {
    orders.withLock { $0.settings.bitrate = min(max(bitrate, 6_000), 510_000) }
  }

  /// The packet loss that listeners report, 0…1; the worst of them decides how much is repeated.
  public func setExpectedLoss(_ loss: Double) {
    // In steps, so that the encoder is not set up anew for every packet lost.
    orders.withLock { $0.settings.expectedLoss = (min(max(loss, 0), 0.3) * 20).rounded(.up) / 20 }
  }

  public func statistics() -> AudioPipelineStatistics { published.withLock { $0 } }

  /// Takes sound; encodes what it completes before it returns.
  public func consume(_ frame: AudioFrame) {
    perform { stage, emit in stage.consume(frame, emit: emit) }
  }

  /// Takes a packet that is Opus already.
  public func consume(_ frame: EncodedAudioFrame) {
    perform { stage, emit in stage.consume(frame, emit: emit) }
  }

  private func perform(_ work: (inout AudioStage, (EncodedAudioFrame) -> Void) -> Void) {
    let current = orders.withLock { $0 }
    stage.withLock { stage in
      stage.obey(current)
      work(&stage, sink)
      published.withLock { $0 = stage.statistics }
    }
  }
}
