public import RTCPrimitives
import Synchronization

/// Several casts behind one server, each under its name: `/whep/NAME` leads to the one, `/whep` to the only one.
///
/// May be changed and asked from any thread.
public final class StreamDirectory: WHEPSessions {
  private let streams = Mutex<[String: any WHEPSessions]>([:])
  private let servers: @Sendable () -> [ICEServer]

  /// Makes a directory without streams.
  /// - Parameter iceServers: returns the servers for a viewer; called for each, so that credentials are new.
  public init(iceServers: @escaping @Sendable () -> [ICEServer] = { [] }) { servers = iceServers }

  /// The servers for a viewer.
  public var iceServers: [ICEServer] { servers() }

  /// False when the name is taken.
  @discardableResult
  public func add(_ sessions: any WHEPSessions, as name: String) -> Bool {
    streams.withLock { streams in
      guard streams[name] == nil else { return false }
      streams[name] = sessions
      return true
    }
  }

  /// Removes a stream. Its sessions are not closed.
  public func remove(_ name: String) { streams.withLock { streams in _ = streams.removeValue(forKey: name) } }

  /// Sorted. Any thread.
  public var names: [String] { streams.withLock { $0.keys.sorted() } }

  /// Hands the offer to the stream of that name.
  /// - Throws: `WHEPRefusal.noSuchStream`, or what that stream refuses.
  public func open(stream: String?, offer: String, remote: String) async throws(WHEPRefusal) -> WHEPAnswer {
    try await sessions(of: stream).open(stream: nil, offer: offer, remote: remote)
  }

  /// Asks the stream of that name for an offer.
  /// - Throws: `WHEPRefusal.noSuchStream`, or what that stream refuses.
  public func offer(stream: String?, remote: String) async throws(WHEPRefusal) -> WHEPAnswer {
    try await sessions(of: stream).offer(stream: nil, remote: remote)
  }

  /// As `open(stream:offer:remote:)`.
  public func open(
    stream: String?, offer: String, remote: String, place: IPAddress?
  ) async throws(WHEPRefusal) -> WHEPAnswer {
    try await sessions(of: stream).open(stream: nil, offer: offer, remote: remote, place: place)
  }

  /// As `offer(stream:remote:)`.
  public func offer(stream: String?, remote: String, place: IPAddress?) async throws(WHEPRefusal) -> WHEPAnswer {
    try await sessions(of: stream).offer(stream: nil, remote: remote, place: place)
  }

  private func sessions(of stream: String?) throws(WHEPRefusal) -> any WHEPSessions {
    let sessions = streams.withLock { streams in
      if let stream { streams[stream] } else { streams.count == 1 ? streams.first?.value : nil }
    }
    if let sessions { return sessions }
    if let stream { throw .noSuchStream(stream) }
    throw .streamNotNamed(names)
  }

  /// Passes candidates or a restart to the session.
  /// - Throws: `WHEPRefusal.noSuchSession`, or the session's refusal.
  public func patch(id: String, fragment: String, etag: String?) async throws(WHEPRefusal) -> WHEPPatchResult {
    try await sessions(with: id).patch(id: id, fragment: fragment, etag: etag)
  }

  /// Passes the answer to the session.
  /// - Throws: `WHEPRefusal.noSuchSession`, or the session's refusal.
  public func accept(id: String, answer: String) async throws(WHEPRefusal) {
    try await sessions(with: id).accept(id: id, answer: answer)
  }

  /// The ETag of a session; nil: there is none.
  public func etag(of id: String) async -> String? {
    for sessions in all { if let etag = await sessions.etag(of: id) { return etag } }
    return nil
  }

  /// The diagnosis of a session that is not connected.
  public func diagnosis(of id: String, checks: ViewerChecks) async -> String? {
    try? await sessions(with: id).diagnosis(of: id, checks: checks)
  }

  private func sessions(with id: String) async throws(WHEPRefusal) -> any WHEPSessions {
    for sessions in all where await sessions.etag(of: id) != nil { return sessions }
    throw .noSuchSession
  }

  /// Ends the session; false when there is none.
  public func close(id: String) async -> Bool {
    for sessions in all where await sessions.close(id: id) { return true }
    return false
  }

  /// All streams and viewers together.
  public func status() async -> CastStatus {
    var viewers = 0
    for sessions in all { viewers += await sessions.status().viewers }
    return CastStatus(isLive: true, viewers: viewers, streams: names)
  }

  /// The streams by name, sorted.
  public func listing() async -> [StreamListing] {
    var listing: [StreamListing] = []
    for (name, sessions) in streams.withLock({ $0.sorted { $0.key < $1.key } }) {
      let viewers = await sessions.status().viewers
      listing.append(StreamListing(name: name, newest: sessions.pictures.flatMap(\.newest), viewers: viewers))
    }
    return listing
  }

  /// A still picture of the stream of that name; nil: there is none.
  public func picture(of stream: String, width: Int) async -> StillPicture? {
    await streams.withLock { $0[stream] }?.pictures?.picture(width: width)
  }

  private var all: [any WHEPSessions] { streams.withLock { Array($0.values) } }
}
