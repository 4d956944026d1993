public import RTCEngine
public import RTCPrimitives

/// Figures of one call's media connection.
public struct CallStatistics: Sendable {
  /// The remote peer of the call.
  public var peer: PeerID
  /// Nil outside rooms.
  public var room: String?
  /// Statistics of the peer connection.
  public var connection: PeerStatistics
  /// The time from the call's first description here to the first decoded picture of the remote peer; nil before.
  /// Pictures are decoded while their track has a sink.
  public var firstPictureDelay: TimeDelta?
}

extension CallManager {
  /// The statistics of every call that has a media connection, sorted by the peers' names.
  public func statistics() async -> [CallStatistics] {
    var all: [CallStatistics] = []
    for (line, call) in connections {
      all.append(
        CallStatistics(
          peer: call.party.peer, room: line.room, connection: await call.connection.statistics(),
          firstPictureDelay: call.firstPictureDelay))
    }
    return all.sorted { $0.peer < $1.peer }
  }
}
