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
    for event in try perform(.dataChannel(.open(parameters))) {
      switch event {
      case .dataChannelMade(let handle, _): if let channel = dataChannels[handle] { return channel }
      case .dataChannelRefused(let error): throw error
      default: break
      }
    }
    throw DataChannelError.ended
  }
}
