/// A room of the hub that we are in: a media connection to everybody there, who may come and go.
public final class Room: Sendable {
  /// As given to `join`.
  public let name: String
  /// What happens in the room, in order; ends when we have left it. One reader.
  public let events: AsyncStream<CallEvent>
  private let continuation: AsyncStream<CallEvent>.Continuation
  /// Weak: the manager holds its rooms, and whoever holds the manager holds the calls.
  private weak let manager: CallManager?

  init(name: String, manager: CallManager) {
    self.name = name
    self.manager = manager
    (events, continuation) = AsyncStream.makeStream(of: CallEvent.self, bufferingPolicy: .bufferingNewest(4_096))
  }

  /// Who is there beside us, in the order they came.
  public var peers: [PeerID] { get async { await manager?.peers(in: name) ?? [] } }

  /// Closes all connections of the room and leaves it.
  public func exitRoom() async { await manager?.leave(room: name) }

  func tell(_ event: CallEvent) { continuation.yield(event) }
  func finish() { continuation.finish() }
}

extension CallManager {
  /// Who is in a room beside us.
  public func peers(in room: String) -> [PeerID] { board?.peers(in: room) ?? [] }
}
