import Synchronization

/// Several casts behind one server, each under its name: `/whep/NAME` leads to the one, `/whep` to the only one.
///
/// May be changed and asked from any thread.
public final class StreamDirectory: WHEPSessions {
  private let streams = Mutex<[String: any WHEPSessions]>([:])

  /// Without streams.
  public init() {}

  /// False when the name is taken.
  @discardableResult
  public func add(_ sessions: any WHEPSessions, as name: String) -> Bool {
    streams.withLock { streams in
      guard streams[name] == nil else { return false }
      streams[name] = sessions
      return true
    }
  }

  /// Its sessions are the caller's to close.
  public func remove(_ name: String) { streams.withLock { streams in _ = streams.removeValue(forKey: name) } }

  /// Sorted. Any thread.
  public var names: [String] { streams.withLock { $0.keys.sorted() } }

  /// Hands the offer to the stream of that name.
  /// - Throws: `WHEPRefusal.noSuchStream`, or what that stream refuses.
  public func open(stream: String?, offer: String, remote: String) async throws(WHEPRefusal) -> WHEPAnswer {
    let sessions = streams.withLock { streams in
      if let stream { streams[stream] } else { streams.count == 1 ? streams.first?.value : nil }
    }
    guard let sessions else {
      if let stream { throw .noSuchStream(stream) }
      throw .streamNotNamed(names)
    }
    return try await sessions.open(stream: nil, offer: offer, remote: remote)
  }

  /// Hands candidates to the session.
  /// - Throws: `WHEPRefusal.noSuchSession`, or what the session refuses.
  public func patch(id: String, fragment: String, etag: String?) async throws(WHEPRefusal) -> WHEPPatchResult {
    for sessions in all {
      do throws(WHEPRefusal) {
        return try await sessions.patch(id: id, fragment: fragment, etag: etag)
      } catch .noSuchSession {
        continue
      }
    }
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

  private var all: [any WHEPSessions] { streams.withLock { Array($0.values) } }
}
