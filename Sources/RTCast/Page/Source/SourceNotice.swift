import RTCPeer
import Synchronization

/// Sends viewers' pages the reason for a still picture while the source delivers nothing. Any thread.
///
/// The page opens a reliable, ordered channel with the protocol `rtcast-source.1` and sends nothing on it. Each message
/// is a text: a sentence, or empty when the source delivers.
final class SourceNotice: PageFeature {
  static let channelProtocol = "rtcast-source.1"

  private struct State {
    var sentence: String?
    /// By connection.
    var channels: [String: SourceNoticeChannel] = [:]
    var isOpen = true
  }

  private let state = Mutex(State())

  func handle(_ event: PageEvent) {
    guard case .sourceStalled(let sentence) = event else { return }
    state.withLock { state in
      state.sentence = sentence
      for channel in state.channels.values { channel.send(sentence) }
    }
  }

  /// Stops all messages.
  func stop() {
    state.withLock { state in
      state.isOpen = false
      state.channels = [:]
    }
  }

  func handle(_ event: PeerConnectionEvent, of connection: PeerConnection) async {
    if case .stateChanged(.ended) = event { state.withLock { $0.channels[connection.id] = nil } }
  }

  /// Takes a channel that a viewer has opened.
  /// - Returns: false when it is none of ours.
  func accept(_ channel: DataChannel, of connection: PeerConnection) async -> Bool {
    guard channel.protocol == Self.channelProtocol, channel.isOrdered, channel.maxRetransmits == nil,
      channel.maxPacketLifeTime == nil
    else { return false }
    let new = SourceNoticeChannel(channel)
    let isTaken = state.withLock { state in
      guard state.isOpen, state.channels[connection.id] == nil else { return false }
      state.channels[connection.id] = new
      if let sentence = state.sentence { new.send(sentence) }
      return true
    }
    if isTaken { new.begin() }
    return isTaken
  }
}

/// The channel of one viewer's page.
final class SourceNoticeChannel: DataChannelDelegate {
  private let channel: DataChannel

  init(_ channel: DataChannel) { self.channel = channel }

  func begin() { channel.setDelegate(self) }

  /// A page that reads nothing misses the sentence, and its channel is closed.
  func send(_ sentence: String?) {
    do throws(DataChannelError) { try channel.send(sentence ?? "") } catch { channel.close() }
  }

  func dataChannelDidChangeState(_ channel: DataChannel) {}

  /// No page of ours says anything here.
  func dataChannel(_ channel: DataChannel, didReceiveMessageWith buffer: DataBuffer) { channel.close() }
}
