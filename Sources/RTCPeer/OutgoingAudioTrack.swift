import RTCEngine
public import RTCMedia
import RTCNet
import RTCPrimitives

/// One encoded sound on its way to every attached peer.
public final class OutgoingAudioTrack: @unchecked Sendable {
  // Why unchecked: `receivers` and `losses` are touched on the loop's thread alone; the rest is constant.
  private let loop: EventLoop
  private let onLossChange: @Sendable (Double) -> Void
  private var receivers: [PeerSlot] = []
  /// What each listener last said it lost, where that is not nothing.
  private var losses: [PeerSlot: Double] = [:]

  init(loop: EventLoop, onLossChange: @escaping @Sendable (Double) -> Void) {
    self.loop = loop
    self.onLossChange = onLossChange
  }

  /// Hands `frame` to every attached peer. Any thread; frames keep their order when one thread sends them.
  public func send(_ frame: EncodedAudioFrame) {
    loop.post { self.fanOut(frame) }
  }

  private func fanOut(_ frame: EncodedAudioFrame) {
    let now = MonotonicClock.now()
    for receiver in receivers { receiver.handle(.audio(frame), now: now) }
  }

  // MARK: - On the loop

  func attach(_ slot: PeerSlot) {
    loop.assertOnLoop()
    receivers.append(slot)
  }

  func detach(_ slot: PeerSlot) {
    loop.assertOnLoop()
    receivers.removeAll { $0 === slot }
    lossReported(0, by: slot)
  }

  func lossReported(_ loss: Double, by slot: PeerSlot) {
    let before = losses.values.max() ?? 0
    losses[slot] = loss > 0 ? loss : nil
    let after = losses.values.max() ?? 0
    if after != before { onLossChange(after) }
  }
}
