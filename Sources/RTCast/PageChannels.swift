import RTCPeer

/// What viewers' pages are told over data channels, beside the video.
struct PageChannels: Sendable {
  /// Sends what rests as it is.
  var exact: ExactPixels?
  /// Tells of the pointer.
  var cursor: CursorCast?
  /// Says why the picture stands still.
  var notice: SourceNotice?

  /// What viewers' connections are to have: a page of ours says little, and in short messages. Nil: no channels.
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

  /// Nothing is told any more.
  func stop() {
    exact?.stop()
    cursor?.stop()
    notice?.stop()
  }

  /// What happens to a viewer's connection. Channels that nobody takes are closed.
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
