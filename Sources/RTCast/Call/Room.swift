/// A room of the hub that we have joined: a media connection to every other member.
public final class Room: Sendable {
  /// The room's name, as given to `join`.
  public let name: String
  /// Events of the room, in order; ends when we have left it. For one reader.
  public let events: AsyncStream<CallEvent>
  private let continuation: AsyncStream<CallEvent>.Continuation
  /// Weak: the manager holds its rooms, and the manager's owner decides how long calls last.
  private weak let manager: CallManager?

  init(name: String, manager: CallManager) {
    self.name = name
    self.manager = manager
    (events, continuation) = AsyncStream.makeStream(of: CallEvent.self, bufferingPolicy: .bufferingNewest(4_096))
  }

  /// The other members of the room, in the order of their arrival.
  public var peers: [PeerID] { get async { await manager?.peers(in: name) ?? [] } }

  /// Closes all connections of the room and leaves it.
  public func exitRoom() async { await manager?.leave(room: name) }

  func tell(_ event: CallEvent) { continuation.yield(event) }
  func finish() { continuation.finish() }
}

extension CallManager {
  /// The other members of a room.
  public func peers(in room: String) -> [PeerID] { board?.peers(in: room) ?? [] }
}
