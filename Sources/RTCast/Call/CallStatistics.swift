public import RTCEngine

/// Figures of one call's media connection.
public struct CallStatistics: Sendable {
  public var peer: PeerID
  /// Nil outside rooms.
  public var room: String?
  public var connection: PeerStatistics
}

extension CallManager {
  /// Of every call that has a media connection, by the peers' names.
  public func statistics() async -> [CallStatistics] {
    var all: [CallStatistics] = []
    for (line, call) in connections {
      all.append(
        CallStatistics(peer: call.party.peer, room: line.room, connection: await call.connection.statistics()))
    }
    return all.sorted { $0.peer < $1.peer }
  }
}
