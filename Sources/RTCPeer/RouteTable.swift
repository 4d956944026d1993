import RTCEngine
package import RTCPrimitives

/// Finds the session of a datagram that does not name one, where many sessions share a port: DTLS, media and reports
/// are identified by their source address.
///
/// Anybody can claim any address. A session gets the datagrams of an address only after ICE has found its peer there. A
/// session whose peer answered a request of ours at that address, which no other peer can have seen, has priority over
/// all others. Owned by the loop's table.
package struct RouteTable<Session: AnyObject & Hashable> {
  private struct Owner {
    var session: Session
    var isProved: Bool
  }

  private var owners: [RemoteEnd: Owner] = [:]
  private var ownedBy: [Session: [RemoteEnd]] = [:]
  /// The session that last sent to an address; it receives the system's errors for that address.
  private var writers: [RemoteEnd: Session] = [:]
  private var writtenBy: [Session: [RemoteEnd]] = [:]

  /// Makes an empty table.
  package init() {}

  /// The session of a datagram from there.
  package func owner(of remote: RemoteEnd) -> Session? { owners[remote]?.session }

  /// Some session's peer was found there, or something was sent there.
  package func knows(_ remote: RemoteEnd) -> Bool { owners[remote] != nil || writers[remote] != nil }

  /// The session to notify of a send error for that address.
  package func writer(to remote: RemoteEnd) -> Session? { owners[remote]?.session ?? writers[remote] }

  /// Records that the session's peer is at `remote`. A session that has proved it keeps the address from sessions that
  /// have not; of two that have, the later one gets it, as its peer has restarted there.
  package mutating func claim(_ remote: RemoteEnd, for session: Session, isProved: Bool) {
    if let before = owners[remote] {
      guard before.session !== session else {
        guard isProved else { return }
        owners[remote]?.isProved = true
        ownedBy[session]?.removeAll { $0 == remote }
        ownedBy[session, default: []].append(remote)
        return
      }
      guard isProved else { return }
      ownedBy[before.session]?.removeAll { $0 == remote }
    }
    owners[remote] = Owner(session: session, isProved: isProved)
    ownedBy[session, default: []].append(remote)
    if ownedBy[session, default: []].count > PeerLimits.provedAddresses, let oldest = ownedBy[session]?.removeFirst() {
      owners[oldest] = nil
    }
  }

  /// The session sends there.
  package mutating func note(writer session: Session, to remote: RemoteEnd) {
    guard writers[remote] == nil else { return }
    writers[remote] = session
    writtenBy[session, default: []].append(remote)
    if writtenBy[session, default: []].count > PeerLimits.addressesWritten,
      let oldest = writtenBy[session]?.removeFirst()
    {
      writers[oldest] = nil
    }
  }

  /// Forgets a session.
  /// - Returns: where it was or wrote to.
  package mutating func remove(_ session: Session) -> Set<RemoteEnd> {
    let owned = ownedBy.removeValue(forKey: session) ?? []
    let written = writtenBy.removeValue(forKey: session) ?? []
    for remote in owned { owners[remote] = nil }
    for remote in written { writers[remote] = nil }
    return Set(owned).union(written)
  }
}

/// The address of a remote peer and the carrier of its datagrams; both together distinguish its datagrams from others'.
package struct RemoteEnd: Hashable {
  package var address: SocketAddress
  package var kind: Route.Kind

  package init(_ route: Route) { (address, kind) = (route.remote, route.kind) }
}
