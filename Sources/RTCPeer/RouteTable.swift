import RTCEngine
import RTCPrimitives

/// Which session a datagram is for that does not name one, where many share a port: DTLS, media and reports are known by where
/// they come from.
///
/// Anybody can say of any address that it is his. A session gets the datagrams of an address only once its peer was found
/// there by ICE, and the one whose peer answered a request of ours there, which nobody else can have seen, before all that
/// have not. Owned by the loop's table.
package struct RouteTable<Session: AnyObject & Hashable> {
  private struct Owner {
    var session: Session
    var isProved: Bool
  }

  private var owners: [RemoteEnd: Owner] = [:]
  private var ownedBy: [Session: [RemoteEnd]] = [:]
  /// Who last sent to an address: hears what the system says to that.
  private var writers: [RemoteEnd: Session] = [:]
  private var writtenBy: [Session: [RemoteEnd]] = [:]

  /// Nobody is anywhere yet.
  package init() {}

  /// Whose a datagram from there is.
  package func owner(of remote: RemoteEnd) -> Session? { owners[remote]?.session }

  /// Some session's peer was found there, or something was sent there.
  package func knows(_ remote: RemoteEnd) -> Bool { owners[remote] != nil || writers[remote] != nil }

  /// Who is to hear that nothing can be sent there.
  package func writer(to remote: RemoteEnd) -> Session? { owners[remote]?.session ?? writers[remote] }

  /// The session's peer is at `remote`. Who has proved that he is there keeps it from those who have not; of two who have, it
  /// is the later one's, whose peer has begun anew there.
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
