import RTCEngine
public import RTCMedia
import RTCNet
import RTCPrimitives

/// One encoded video on its way to every attached peer.
public final class OutgoingVideoTrack: @unchecked Sendable {
  // Why unchecked: `receivers` is touched on the loop's thread alone; the rest is constant.
  private let loop: EventLoop
  private let onKeyFrameRequest: @Sendable () -> Void
  private var receivers: [PeerSlot] = []

  init(loop: EventLoop, onKeyFrameRequest: @escaping @Sendable () -> Void) {
    self.loop = loop
    self.onKeyFrameRequest = onKeyFrameRequest
  }

  /// Hands `frame` to every attached peer. Any thread; frames keep their order when one thread sends them.
  public func send(_ frame: EncodedFrame) {
    loop.post { self.fanOut(frame) }
  }

  private func fanOut(_ frame: EncodedFrame) {
    let now = MonotonicClock.now()
    for receiver in receivers { receiver.handle(.frame(frame), now: now) }
  }

  // MARK: - On the loop

  func attach(_ slot: PeerSlot) {
    loop.assertOnLoop()
    receivers.append(slot)
  }

  func detach(_ slot: PeerSlot) {
    loop.assertOnLoop()
    receivers.removeAll { $0 === slot }
  }

  func keyFrameRequested() { onKeyFrameRequest() }
}
