package import RTCMedia
package import RTCPeer

/// A feature of viewers' pages beside video and sound, which talks to the pages over data channels of its own. Any
/// thread.
///
/// It is one folder in `RTCast/Page`, with its part that needs no threads in `RTCPage`, and one script in the page
/// (`RTCSignalingNIO/Resources/viewer`).
package protocol PageFeature: AnyObject, Sendable {
  /// Whether a channel has a use now. Connections to viewers have data channels if this is true of one feature.
  var isOffered: Bool { get }
  /// Takes a channel that a viewer's page has opened.
  /// - Returns: false if it is another feature's.
  func accept(_ channel: DataChannel, of connection: PeerConnection) async -> Bool
  /// Handles an event of a viewer's connection.
  func handle(_ event: PeerConnectionEvent, of connection: PeerConnection) async
  /// Handles an event of the cast.
  func handle(_ event: PageEvent)
  /// Adds figures about viewers' pages.
  func measure(into statistics: inout BroadcastStatistics)
  /// Sends nothing from now on.
  func stop()
}

/// An event of the cast that viewers' pages may show.
package enum PageEvent {
  /// The pictures are this capturer's from now on; before its first. Nil: there are none.
  case sourceChanged((any VideoCapturer)?)
  /// The source delivers nothing, for the reason in the sentence; nil: it delivers again.
  case sourceStalled(String?)
  /// A recorder was added, so that the video must have everything that is to be seen.
  case recorded
}

extension PageFeature {
  package var isOffered: Bool { true }
  package func handle(_ event: PeerConnectionEvent, of connection: PeerConnection) async {}
  package func handle(_ event: PageEvent) {}
  package func measure(into statistics: inout BroadcastStatistics) {}
}

/// The features of viewers' pages, as one.
struct PageFeatures: Sendable {
  var all: [any PageFeature] = []

  /// The data channel limits of viewers' connections: pages send few and short messages. Nil: no channels.
  var options: DataChannelOptions? {
    guard all.contains(where: \.isOffered) else { return nil }
    var options = DataChannelOptions()
    options.maximumMessageSize = 1_024
    options.receiveBuffer = 16_384
    options.maximumBufferedAmount = 2 << 20
    options.maximumStreams = 16
    options.maximumNameBytes = 1_024
    return options
  }

  /// Stops all messages.
  func stop() { for feature in all { feature.stop() } }

  /// Handles an event of a viewer's connection. Channels that no feature takes are closed.
  func handle(_ event: PeerConnectionEvent, of connection: PeerConnection) async {
    guard case .dataChannelOpened(let channel) = event else {
      for feature in all { await feature.handle(event, of: connection) }
      return
    }
    for feature in all where await feature.accept(channel, of: connection) { return }
    channel.close()
  }

  func handle(_ event: PageEvent) { for feature in all { feature.handle(event) } }
}
