import RTCNet
public import RTCSCTP

extension PeerConnection {
  /// Makes a data channel; it can be used when its state is `open`. Before there is a connection it waits for one: the next
  /// offer has an m-section for channels.
  /// - Throws: `DataChannelError` when the connection has ended or was made without channels, or no stream is free.
  public func createDataChannel(
    _ label: String, _ parameters: DataChannelParameters = DataChannelParameters()
  ) throws -> DataChannel {
    var parameters = parameters
    parameters.label = label
    let slot = try makeSlot()
    var channel: DataChannel?
    try slot.perform(.open(parameters), now: MonotonicClock.now()) { handle in
      channel = dataChannels.add(handle, parameters, of: slot, on: loop.events)
    }
    guard let channel else { throw DataChannelError.ended }
    return channel
  }
}
