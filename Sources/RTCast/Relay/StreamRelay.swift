import RTCEngine
public import RTCPeer
public import RTCPrimitives
public import RTCSignaling
import Synchronization

/// Relays streams published by WHIP to viewers by WHEP, under the same name: `/whip/NAME` becomes `/whep/NAME`. Any
/// thread.
public final class StreamRelay: OfferSessions {
  /// The limits of a relay.
  public struct Limits: Sendable {
    /// Publications at a time.
    public var streams = 64
    /// Viewers of one publication.
    public var viewersOfEach = 100

    /// The defaults.
    public init() {}
  }

  /// An event of a stream.
  public enum Event: Sendable, Hashable {
    /// A stream of this name began.
    case published(String)
    /// The stream has ended.
    case ended(String)
    /// A stream is coded in a way now that so many of its viewers cannot decode: they are sent its sound alone.
    case undecodable(String, viewers: Int, format: String)
  }

  private struct Publication {
    var name: String
    var connection: PeerConnection
    var generation: ICEGeneration
    /// The network that it is from.
    var network: ClientNetwork
    /// It is not connected yet.
    var isPending = true
    var task: Task<Void, Never>?
  }

  private struct State {
    var peers: PeerLoop?
    var publications: [String: Publication] = [:]
    /// Being opened, by network.
    var arriving: [ClientNetwork: Int] = [:]
  }

  /// The streams there are, for viewers.
  public let directory: StreamDirectory
  private let limits: Limits
  private let makePeers: @Sendable () throws -> PeerLoop
  /// Makes the still pictures of all streams; nil: none are made.
  private let painter: PicturePainter?
  private let codecs: (@Sendable () -> CodecRegistry)?
  private let report: @Sendable (Event) -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - makePeers: called once, when the first stream is published: a relay without any costs nothing.
  ///   - codecs: returns the decoders for still pictures of the streams; called when the first picture of a stream is asked
  ///     for. Nil: there are no still pictures.
  public init(
    into directory: StreamDirectory, limits: Limits = Limits(),
    makePeers: @escaping @Sendable () throws -> PeerLoop = { try PeerLoop() },
    codecs: (@Sendable () -> CodecRegistry)? = nil,
    report: @escaping @Sendable (Event) -> Void = { _ in }
  ) {
    self.directory = directory
    self.limits = limits
    self.makePeers = makePeers
    self.codecs = codecs
    painter = codecs == nil ? nil : PicturePainter()
    self.report = report
  }

  /// Answers a viewer's offer. See `WHEPSessions`.
  public func open(stream: String?, offer: String, remote: String) async throws(WHEPRefusal) -> WHEPAnswer {
    try await open(stream: stream, offer: offer, remote: remote, place: nil)
  }

  /// Answers a publisher's offer. See `OfferSessions`.
  public func open(
    stream: String?, offer: String, remote: String, place: IPAddress?
  ) async throws(WHEPRefusal) -> WHEPAnswer {
    let name = stream ?? "main"
    let peers = try claimPlace(from: remote)
    defer { leavePlace(ClientNetwork(remote)) }
    let relayed = RelayedStream(
      peers: peers, maximumViewers: limits.viewersOfEach, makePictures: { makePictures(requestKeyFrame: $0) },
      reportBlindness: { [report] viewers, format in
        report(.undecodable(name, viewers: viewers, format: format))
      })
    try await directory.publish(relayed, as: name)
    var configuration = PeerConnection.Configuration()
    configuration.receivesVideo = true
    configuration.receivesAudio = true
    configuration.receivableFormats = RelayedStream.formats
    configuration.dataChannels = nil
    configuration.remoteAddress = place ?? IPAddress(remote)
    configuration.firstContactTimeout = PeerLimits.firstContact
    let connection = PeerConnection(on: peers, configuration: configuration)
    do {
      let answer = try await connection.answer(to: offer)
      let generation = ICEGeneration(offer)
      follow(connection, generation, as: name, from: remote, into: relayed)
      return WHEPAnswer(id: connection.id, answer: answer, etag: generation.etag)
    } catch {
      directory.remove(name)
      await connection.close()
      throw WHEPRefusal(error, codecs: RelayedStream.codecNames)
    }
  }

  /// Applies a trickled fragment or ICE restart to a session.
  public func patch(id: String, fragment: String, etag: String?) async throws(WHEPRefusal) -> WHEPPatchResult {
    guard let publication = state.withLock({ $0.publications[id] }) else { throw .noSuchSession }
    return try await publication.connection.patch(fragment, etag: etag, publication.generation)
  }

  /// The ETag of a session; nil: there is none.
  public func etag(of id: String) async -> String? { state.withLock { $0.publications[id] }?.generation.etag }

  /// The ICE servers of the directory, for publishers and viewers.
  public var iceServers: [ICEServer] { directory.iceServers }

  /// Refusals so far, by subject.
  public var refusals: [RefusalCounts.Subject: UInt64] { state.withLock { $0.peers }?.refusals.all ?? [:] }

  /// Closes a session. Returns whether it existed.
  public func close(id: String) async -> Bool {
    guard let publication = state.withLock({ $0.publications[id] }) else { return false }
    await publication.connection.close()
    // Later requests find no session, and the name is free.
    await publication.task?.value
    return true
  }

  /// Says goodbye to publishers and viewers, and waits until they are gone.
  public func stop() async {
    let publications = state.withLock { Array($0.publications.values) }
    for publication in publications { await publication.connection.close() }
    for publication in publications { await publication.task?.value }
    painter?.stop()
    state.withLock { $0.peers }?.stop()
  }

  private func makePictures(requestKeyFrame: @escaping @Sendable () -> Void) -> RelayedPictures? {
    guard let painter, let codecs else { return nil }
    return RelayedPictures(painter: painter, decoders: { codecs().videoDecoders }, requestKeyFrame: requestKeyFrame)
  }

  // MARK: - Publications

  private func leavePlace(_ network: ClientNetwork) {
    state.withLock { state in
      guard let count = state.arriving[network] else { return }
      state.arriving[network] = count > 1 ? count - 1 : nil
    }
  }

  private func claimPlace(from remote: String) throws(WHEPRefusal) -> PeerLoop {
    let network = ClientNetwork(remote)
    let result = state.withLock { state -> Result<PeerLoop, WHEPRefusal> in
      guard state.publications.count + state.arriving.values.reduce(0, +) < limits.streams else {
        state.peers?.refusals.count(.session)
        return .failure(.tooManyStreams(limit: limits.streams))
      }
      // A network leaves capacity to others, especially while its connections are not yet established.
      let own = state.publications.values.filter { $0.network == network }
      let (coming, share) = (state.arriving[network] ?? 0, max(1, limits.streams / 2))
      guard network.isLoopback || own.count + coming < share else {
        state.peers?.refusals.count(.session)
        return .failure(.tooManyStreams(limit: share))
      }
      guard own.count(where: \.isPending) + coming < PeerLimits.unconnectedPublications else {
        state.peers?.refusals.count(.halfOpenSession)
        return .failure(.tooManyStreams(limit: PeerLimits.unconnectedPublications))
      }
      do {
        let peers = try state.peers ?? makePeers()
        state.peers = peers
        state.arriving[network] = coming + 1
        return .success(peers)
      } catch {
        return .failure(.failed("\(error)"))
      }
    }
    return try result.get()
  }

  private func follow(
    _ connection: PeerConnection, _ generation: ICEGeneration, as name: String, from remote: String,
    into relayed: RelayedStream
  ) {
    state.withLock { state in
      state.publications[connection.id] = Publication(
        name: name, connection: connection, generation: generation, network: ClientNetwork(remote))
    }
    let task = Task {
      var wasConnected = false
      for await event in connection.events {
        switch event {
        case .trackAdded(let track): relayed.take(track)
        case .stateChanged(.connected):
          state.withLock { $0.publications[connection.id]?.isPending = false }
          if !wasConnected { report(.published(name)) }
          wasConnected = true
        default: break
        }
      }
      directory.remove(name)
      await relayed.closeAll()
      state.withLock { state in _ = state.publications.removeValue(forKey: connection.id) }
      if wasConnected { report(.ended(name)) }
    }
    state.withLock { $0.publications[connection.id]?.task = task }
  }
}
