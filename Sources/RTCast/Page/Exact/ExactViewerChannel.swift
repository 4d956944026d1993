import RTCPage
import RTCPeer
import RTCSCTP

/// The channel of one viewer's page. Messages arrive on the loop's thread.
final class ExactViewerChannel: DataChannelDelegate {
  enum Event {
    case said(ExactViewerMessage)
    case closed
  }

  let channel: DataChannel
  private let onEvent: @Sendable (Event) -> Void

  init(_ channel: DataChannel, onEvent: @escaping @Sendable (Event) -> Void) {
    self.channel = channel
    self.onEvent = onEvent
  }

  /// False when the channel takes no more.
  func send(_ message: [UInt8]) -> Bool {
    do throws(DataChannelError) { try channel.send(message) } catch { return false }
    return true
  }

  func dataChannelDidChangeState(_ channel: DataChannel) {
    if channel.readyState == .closed { onEvent(.closed) }
  }

  func dataChannel(_ channel: DataChannel, didReceiveMessageWith buffer: DataBuffer) {
    guard buffer.isBinary, let message = ExactViewerMessage(parsing: buffer.data.span) else {
      // Not a page of rtcast: close the channel.
      channel.close()
      return onEvent(.closed)
    }
    onEvent(.said(message))
  }
}
