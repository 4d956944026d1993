import RTCPrimitives

/// The STUN and TURN servers that the hub sends to clients.
extension Hub {
  /// The configured servers, and the TURN service with credentials for this client.
  func iceServers(for name: String) -> [ICEServer] {
    configuration.iceServers + (configuration.turn.map { [$0.server(for: name, unixTime: unixTime)] } ?? [])
  }

  /// When credentials that are made now are made again: at half of their life, so that a client always holds some that
  /// last. Nil: they never end.
  func nextCredentials(_ now: Timestamp) -> Timestamp? {
    configuration.turn.map { now + TimeDelta(nanoseconds: max($0.lifetime.nanoseconds / 2, 1_000_000_000)) }
  }

  /// Sends a client new credentials if they are due, and returns the time of the next.
  mutating func refreshCredentials(of id: HubConnectionID, _ now: Timestamp) -> Timestamp? {
    guard let due = connections[id]?.credentialsDue, let name = try? name(of: id) else { return nil }
    guard due <= now else { return due }
    let next = nextCredentials(now)
    connections[id]?.credentialsDue = next
    send(.iceServers(iceServers(for: name)), to: id)
    return next
  }
}
