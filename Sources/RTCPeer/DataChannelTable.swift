import RTCEngine
import RTCNet
import RTCSCTP

/// The channels of one connection, by the peer's names for them. Lives on the loop's thread.
final class DataChannelTable {
  private let options: DataChannelOptions
  private var channels: [DataChannelHandle: DataChannel] = [:]
  private var link: DataChannelLink?

  init(options: DataChannelOptions) { self.options = options }

  deinit {
    // The connection is released: no further events will arrive.
    for channel in channels.values { channel.handle(.stateChanged(.closed)) }
  }

  subscript(handle: DataChannelHandle) -> DataChannel? { channels[handle] }

  /// Adds a channel of ours.
  func add(
    _ handle: DataChannelHandle, _ parameters: DataChannelParameters, of slot: PeerSlot, on loop: EventLoop
  ) -> DataChannel {
    let channel = makeChannel(handle, parameters, slot, loop)
    channels[handle] = channel
    return channel
  }

  /// Handles a peer's event of its channels.
  /// - Returns: a channel that the remote peer has opened.
  func handle(_ event: Event, of slot: PeerSlot, on loop: EventLoop) -> DataChannel? {
    switch event {
    case .dataChannel(.incoming(let handle, let parameters)):
      let channel = makeChannel(handle, parameters, slot, loop)
      channels[handle] = channel
      channel.opened(
        stream: slot.peer.stream(of: handle), maximumMessageSize: slot.peer.maximumOutgoingMessageSize)
      return channel
    case .dataChannel(.opened(let handle)):
      channels[handle]?.opened(
        stream: slot.peer.stream(of: handle), maximumMessageSize: slot.peer.maximumOutgoingMessageSize)
    case .dataChannel(.message(let handle, let message)): channels[handle]?.handle(.message(message))
    case .dataChannel(.bufferedAmountChanged(let handle, let bytes)): channels[handle]?.bufferedAmountChanged(to: bytes)
    case .dataChannel(.closing(let handle)): channels[handle]?.handle(.stateChanged(.closing))
    case .dataChannel(.closed(let handle)): channels.removeValue(forKey: handle)?.handle(.stateChanged(.closed))
    default: break
    }
    return nil
  }

  private func makeChannel(
    _ handle: DataChannelHandle, _ parameters: DataChannelParameters, _ slot: PeerSlot, _ loop: EventLoop
  ) -> DataChannel {
    let link = link ?? DataChannelLink(loop: loop, slot: slot, options: options)
    self.link = link
    return DataChannel(parameters, handle: handle, link: link)
  }
}
