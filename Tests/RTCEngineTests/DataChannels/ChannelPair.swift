import RTCEngine
import RTCPrimitives
import RTCSCTP
import RTCTestKit

/// Two whole peers with data channels between them, and media too unless it is said otherwise.
struct ChannelPair {
  let pair: PeerPair

  init(hasMedia: Bool = true, _ change: (inout PeerPair.Options) -> Void = { _ in }) throws {
    var options = PeerPair.Options()
    options.configure = { side, configuration in
      configuration.dataChannels = DataChannelOptions()
      guard !hasMedia else { return }
      configuration.sendsVideo = nil
      configuration.receivesVideo = false
    }
    change(&options)
    pair = try PeerPair(options)
  }

  @discardableResult
  func open(_ parameters: DataChannelParameters, on side: PeerPair.Side) -> DataChannelHandle? {
    pair.perform(side, .open(parameters))
  }

  func send(_ message: DataChannelMessage, on handle: DataChannelHandle, from side: PeerPair.Side) {
    pair.perform(side, .send(message, handle))
  }

  func events(_ side: PeerPair.Side) -> [DataChannelEvent] {
    pair[side].events.compactMap { if case .dataChannel(let event) = $0.event { event } else { nil } }
  }

  /// The channels that the other side opened.
  func incoming(_ side: PeerPair.Side) -> [(handle: DataChannelHandle, parameters: DataChannelParameters)] {
    events(side).compactMap {
      if case .incoming(let handle, let parameters) = $0 { (handle, parameters) } else { nil }
    }
  }

  func messages(_ side: PeerPair.Side) -> [DataChannelMessage] {
    events(side).compactMap { if case .message(_, let message) = $0 { message } else { nil } }
  }
}
