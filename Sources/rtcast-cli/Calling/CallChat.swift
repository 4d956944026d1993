import RTCPeer
import RTCSCTP
import RTCast

/// The chats of calls: prints received messages and sends typed ones.
actor CallChat {
  static let label = "chat"

  private let output: CallOutput
  private var channels: [String: DataChannel] = [:]

  init(_ output: CallOutput) { self.output = output }

  /// Adds the chat channel of a call with `peer`; other channels are ignored.
  func add(_ channel: DataChannel, of peer: String) {
    guard channel.label == Self.label else { return }
    channels[peer] = channel
    let wasOpen = channel.readyState == .open
    if wasOpen { output.chatOpened(with: peer) }
    Task {
      var isOpen = wasOpen
      for await event in channel.events {
        switch event {
        case .stateChanged(.open):
          if !isOpen { output.chatOpened(with: peer) }
          isOpen = true
        case .message(.text(let text)): output.message(text, from: peer)
        default: break
        }
      }
      forget(channel, of: peer)
    }
  }

  private func forget(_ channel: DataChannel, of peer: String) {
    if channels[peer] === channel { channels[peer] = nil }
  }

  /// Sends a text to all open chats.
  func say(_ text: String) throws(ControlError) {
    let open = channels.values.filter { $0.readyState == .open }
    guard !open.isEmpty else {
      throw ControlError("No chat is open; it opens with the call if the remote peer has a chat.")
    }
    for channel in open {
      do throws(DataChannelError) { try channel.send(text) } catch {
        throw ControlError("The message was not sent: \(error)")
      }
    }
  }
}
