import RTCPeer

/// The data channels of viewers' pages, beside the video.
struct PageChannels: Sendable {
  /// Sends exact pixels of still parts.
  var exact: ExactPixels?
  /// Sends the pointer.
  var cursor: CursorCast?
  /// Says why the picture stands still.
  var notice: SourceNotice?

  /// The data channel limits of viewers' connections: pages send few and short messages. Nil: no channels.
  var options: DataChannelOptions? {
    guard exact?.isOffered == true || cursor?.isOffered == true || notice != nil else { return nil }
    var options = DataChannelOptions()
    options.maximumMessageSize = 1_024
    options.receiveBuffer = 16_384
    options.maximumBufferedAmount = 2 << 20
    options.maximumStreams = 16
    options.maximumNameBytes = 1_024
    return options
  }

  /// Stops all messages.
  func stop() {
    exact?.stop()
    cursor?.stop()
    notice?.stop()
  }

  /// Handles an event of a viewer's connection. Channels of an unknown kind are closed.
  func handle(_ event: PeerConnectionEvent, of connection: PeerConnection) async {
    guard case .dataChannelOpened(let channel) = event else {
      await exact?.handle(event, of: connection)
      await cursor?.handle(event, of: connection)
      notice?.handle(event, of: connection)
      return
    }
    if await exact?.accept(channel, of: connection) == true { return }
    if await cursor?.accept(channel, of: connection) == true { return }
    if notice?.accept(channel, of: connection) == true { return }
    channel.close()
  }
}
