import RTCPage
import RTCPeer
import RTCSCTP

/// One of the two channels of a viewer's page that draws the pointer. Messages arrive on the loop's thread.
final class CursorChannel: DataChannelDelegate {
  enum Event {
    case said(CursorViewerMessage)
    case closed
  }

  private let channel: DataChannel
  private let kind: CursorScheduler.Channel
  private let onEvent: @Sendable (Event) -> Void

  init(_ channel: DataChannel, _ kind: CursorScheduler.Channel, onEvent: @escaping @Sendable (Event) -> Void) {
    (self.channel, self.kind, self.onEvent) = (channel, kind, onEvent)
  }

  /// The kind of a channel, by its protocol and reliability; nil: not one of these channels.
  static func kind(of channel: DataChannel) -> CursorScheduler.Channel? {
    guard channel.maxPacketLifeTime == nil else { return nil }
    return switch channel.protocol {
    case CursorMessage.channelProtocol where channel.isOrdered && channel.maxRetransmits == nil: .everything
    case CursorMessage.positionProtocol where !channel.isOrdered && channel.maxRetransmits == 0: .positions
    default: nil
    }
  }

  /// A position that cannot leave at once is left out: the next says more.
  /// - Returns: false when the channel takes no more.
  func send(_ message: [UInt8]) -> Bool {
    if kind == .positions, channel.bufferedAmount > 0 { return true }
    do throws(DataChannelError) { try channel.send(message) } catch { return false }
    return true
  }

  func begin() { channel.setDelegate(self) }

  func close() { channel.close() }

  func dataChannelDidChangeState(_ channel: DataChannel) {
    if channel.readyState == .closed { onEvent(.closed) }
  }

  func dataChannel(_ channel: DataChannel, didReceiveMessageWith buffer: DataBuffer) {
    guard kind == .everything, buffer.isBinary, let message = CursorViewerMessage(parsing: buffer.data.span) else {
      // Not a page of rtcast: close the channel.
      channel.close()
      return onEvent(.closed)
    }
    onEvent(.said(message))
  }
}
