public import RTCPrimitives
import Synchronization

/// Several casts behind one server, each under its name: `/whep/NAME` leads to the one, `/whep` to the only one.
///
/// May be changed and asked from any thread.
public final class StreamDirectory: WHEPSessions {
  private struct State {
    var streams: [String: any WHEPSessions] = [:]
    /// The streams of other hubs, and the addresses of these.
    var elsewhere: [String: String] = [:]
    /// Nil: this hub stands alone.
    var shared: (any SharedStreams)?
  }

  private let state = Mutex(State())
  private let servers: @Sendable () -> [ICEServer]

  /// Makes a directory without streams.
  /// - Parameter iceServers: returns the servers for a viewer; called for each, so that credentials are new.
  public init(iceServers: @escaping @Sendable () -> [ICEServer] = { [] }) { servers = iceServers }

  /// The servers for a viewer.
  public var iceServers: [ICEServer] { servers() }

  /// False when the name is taken.
  @discardableResult
  public func add(_ sessions: any WHEPSessions, as name: String) -> Bool {
    state.withLock { state in
      guard state.streams[name] == nil else { return false }
      state.streams[name] = sessions
      return true
    }
  }

  /// Removes a stream. Its sessions are not closed.
  public func remove(_ name: String) {
    let shared = state.withLock { state in
      state.streams.removeValue(forKey: name) == nil ? nil : state.shared
    }
    shared?.release(stream: name)
  }

  /// The streams of this hub, sorted. Any thread.
  public var names: [String] { state.withLock { $0.streams.keys.sorted() } }

  // MARK: Several hubs

  /// Shares the names of streams with other hubs from now on. Called before the first stream is added.
  package func share(by shared: any SharedStreams) {
    state.withLock { $0.shared = shared }
    shared.followStreams { [weak self] elsewhere in self?.state.withLock { $0.elsewhere = elsewhere } }
  }

  /// Adds a stream under a name that no other stream has, at this hub or another one.
  /// - Throws: `WHEPRefusal.streamTaken`, or `clusterUnavailable` if nobody knows what the others have.
  package func publish(_ sessions: any WHEPSessions, as name: String) async throws(WHEPRefusal) {
    guard add(sessions, as: name) else { throw .streamTaken(name) }
    guard let shared = state.withLock({ $0.shared }) else { return }
    switch await shared.claim(stream: name) {
    case .granted, .moved: return
    case .taken, .usedUp, .revoked, .full:
      remove(name)
      throw .streamTaken(name)
    case .unavailable:
      remove(name)
      throw .clusterUnavailable
    }
  }

  /// The hub that has a stream that is not here; nil: it is here, or nowhere. Without a name it is the only stream of all
  /// hubs.
  public func place(of stream: String?) -> StreamPlace? {
    state.withLock { state in
      guard let stream else {
        guard state.streams.isEmpty, state.elsewhere.count == 1, let only = state.elsewhere.first else { return nil }
        return StreamPlace(name: only.key, address: only.value)
      }
      guard state.streams[stream] == nil, let address = state.elsewhere[stream] else { return nil }
      return StreamPlace(name: stream, address: address)
    }
  }

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
    let (sessions, all) = state.withLock { state in
      let all = Set(state.streams.keys).union(state.elsewhere.keys)
      let name = stream ?? (all.count == 1 ? all.first : nil)
      return (name.flatMap { state.streams[$0] }, all)
    }
    if let sessions { return sessions }
    if let stream { throw .noSuchStream(stream) }
    throw .streamNotNamed(all.sorted())
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

  /// The streams of all hubs by name, sorted.
  public func listing() async -> [StreamListing] {
    var listing: [StreamListing] = []
    let (streams, elsewhere) = state.withLock { ($0.streams, $0.elsewhere) }
    for (name, sessions) in streams {
      let viewers = await sessions.status().viewers
      listing.append(StreamListing(name: name, newest: sessions.pictures.flatMap(\.newest), viewers: viewers))
    }
    for (name, address) in elsewhere where streams[name] == nil {
      listing.append(StreamListing(name: name, newest: nil, viewers: 0, address: address))
    }
    return listing.sorted { $0.name < $1.name }
  }

  /// A still picture of the stream of that name; nil: there is none.
  public func picture(of stream: String, width: Int) async -> StillPicture? {
    await state.withLock { $0.streams[stream] }?.pictures?.picture(width: width)
  }

  private var all: [any WHEPSessions] { state.withLock { Array($0.streams.values) } }
}
