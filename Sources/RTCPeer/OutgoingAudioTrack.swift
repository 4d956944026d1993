public import RTCEngine
public import RTCMedia
import RTCNet
import RTCPrimitives
import Synchronization

/// One encoded sound on its way to every attached peer.
public final class OutgoingAudioTrack: @unchecked Sendable {
  // Why unchecked: `receivers`, `losses` and `audience` are touched on the loop's thread alone; the rest is constant or atomic.
  /// What descriptions call it, and the stream it is in.
  public let name: TrackName
  private let loop: EventLoop
  private let onLossChange: @Sendable (Double) -> Void
  private let onWishesChange: @Sendable (OpusPreferences) -> Void
  private let enabled = Atomic(true)
  private var receivers: [TrackSender] = []
  /// What each listener last said it lost, where that is not nothing.
  private var losses: [TrackSender: Double] = [:]
  /// What listeners ask of the encoder.
  private var audience = OpusPreferenceSet<TrackSender>()

  init(
    loop: EventLoop, name: TrackName, onLossChange: @escaping @Sendable (Double) -> Void,
    onWishesChange: @escaping @Sendable (OpusPreferences) -> Void
  ) {
    self.onWishesChange = onWishesChange
    self.loop = loop
    self.name = name
    self.onLossChange = onLossChange
  }

  /// Hands `frame` to every attached peer. Any thread; frames keep their order when one thread sends them.
  public func send(_ frame: EncodedAudioFrame) {
    loop.post { self.fanOut(frame) }
  }

  /// False: muted, nothing is sent to anybody. Any thread.
  public var isEnabled: Bool {
    get { enabled.load(ordering: .relaxed) }
    set {
      guard enabled.exchange(newValue, ordering: .relaxed) != newValue else { return }
      loop.post {
        let now = MonotonicClock.now()
        for receiver in self.receivers { receiver.tell(isMuted: !newValue, now: now) }
      }
    }
  }

  private func fanOut(_ frame: EncodedAudioFrame) {
    guard isEnabled else { return }
    let now = MonotonicClock.now()
    for receiver in receivers { receiver.slot.handle(.audio(frame, receiver.transceiver), now: now) }
  }

  // MARK: - On the loop

  /// The peer can take sound from now on. Calling it again does nothing.
  func attach(_ outlet: TrackSender) {
    loop.assertOnLoop()
    guard !receivers.contains(outlet) else { return }
    receivers.append(outlet)
    wishesChanged(OpusPreferences(), of: outlet)
  }

  func detach(_ outlet: TrackSender) {
    loop.assertOnLoop()
    receivers.removeAll { $0 == outlet }
    wishesChanged(nil, of: outlet)
    lossReported(0, by: outlet)
  }

  /// What `outlet`'s far side asks for; nil: it is gone.
  func wishesChanged(_ wishes: OpusPreferences?, of outlet: TrackSender) {
    guard wishes == nil || receivers.contains(outlet) else { return }
    if let all = audience.set(wishes, of: outlet) { onWishesChange(all) }
  }

  func lossReported(_ loss: Double, by outlet: TrackSender) {
    let before = losses.values.max() ?? 0
    losses[outlet] = loss > 0 ? loss : nil
    let after = losses.values.max() ?? 0
    if after != before { onLossChange(after) }
  }
}
