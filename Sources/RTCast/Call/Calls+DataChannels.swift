public import RTCPeer
public import RTCSCTP
import RTCSignaling

extension CallManager {
  /// Opens a data channel in the call, which must have started; it can be used when its state is `open`.
  /// - Parameters:
  ///   - config: order and reliability, such as `DataChannelParameters(reliability: .maximumRetransmissions(0))`.
  ///   - peer: whose call of a room; nil: the call outside rooms.
  public func createDataChannel(
    label: String, config: DataChannelParameters = DataChannelParameters(), with peer: PeerID? = nil
  ) async throws(CallManagerError) -> DataChannel {
    let started = connections.first { line, connection in
      guard let peer else { return line == .phone && isConnected(line) }
      return connection.party.peer == peer && isConnected(line)
    }
    guard let connection = started?.value.connection else {
      throw .misuse("A data channel belongs to a call that has started; wait for callDidStart.")
    }
    do { return try await connection.createDataChannel(label, config) } catch {
      throw .misuse("The data channel \(label) could not be made: \(error)")
    }
  }

  private func isConnected(_ line: Switchboard.Line) -> Bool {
    let state: CallState? =
      switch line {
      case .phone: board?.state
      case .room(let room, let peer): board?.states(in: room)[peer]
      }
    if case .connected = state { return true }
    return false
  }
}
