import RTCEngine
import RTCPeer
import RTCPrimitives
import RTCSignaling
import Synchronization

/// Everybody who watches: opens, follows and closes their connections.
final class ViewerRegistry: WHEPSessions {
  private struct Viewer {
    var connection: PeerConnection
    var isConnected = false
    /// Follows the connection's events to their end.
    var task: Task<Void, Never>?
    var target: BitRate
    var audioTarget: BitRate
  }

  private let peers: PeerLoop
  private let program: Program
  private let options: Broadcast.Options
  private let report: @Sendable (BroadcastEvent) -> Void
  private let viewers = Mutex<[String: Viewer]>([:])
  /// The broadcast has ended: nobody comes in any more.
  private let isOver = Atomic(false)

  init(
    peers: PeerLoop, program: Program, options: Broadcast.Options,
    report: @escaping @Sendable (BroadcastEvent) -> Void
  ) {
    self.peers = peers
    self.program = program
    self.options = options
    self.report = report
  }

  var count: Int { viewers.withLock { $0.count } }

  // MARK: - WHEP

  func open(stream: String?, offer: String, remote: String) async throws(WHEPRefusal) -> WHEPAnswer {
    if let stream { throw .noSuchStream(stream) }
    guard !isOver.load(ordering: .acquiring) else { throw .streamNotNamed([]) }
    guard count < options.maximumViewers else { throw .tooManyViewers(limit: options.maximumViewers) }
    let connection = makeConnection()
    do {
      let answer = try await connection.answer(to: offer)
      follow(connection, onEnd: { [report] in report(.viewerLeft(id: connection.id, $0)) })
      return WHEPAnswer(id: connection.id, answer: answer, etag: "1")
    } catch {
      await connection.close()
      throw WHEPRefusal(error, codecs: options.codec.rawValue)
    }
  }

  func patch(id: String, fragment: String, etag: String?) async throws(WHEPRefusal) -> WHEPPatchResult {
    guard let connection = viewers.withLock({ $0[id]?.connection }) else { throw .noSuchSession }
    return try await connection.patch(fragment)
  }

  func close(id: String) async -> Bool {
    guard let connection = viewers.withLock({ $0[id]?.connection }) else { return false }
    await connection.close()
    // Whoever asks again finds nobody, even before the end was followed.
    remove(id)
    return true
  }

  func status() async -> CastStatus {
    CastStatus(isLive: program.isLive, viewers: viewers.withLock { $0.values.count(where: \.isConnected) })
  }

  // MARK: - Connections

  func makeConnection() -> PeerConnection {
    var configuration = PeerConnection.Configuration(video: program.video.track)
    // Viewers have nothing to say.
    configuration.dataChannels = nil
    configuration.videoFormats = program.video.formats
    configuration.audio = program.audioTrack
    configuration.bitrates = options.bitrates
    configuration.audioBitrates = options.audioBitrates
    configuration.opus.isStereo = options.audio.channels == 2
    configuration.opus.usesDiscontinuousTransmission = options.audio.usesDiscontinuousTransmission
    configuration.opus.usesForwardErrorCorrection = options.audio.usesForwardErrorCorrection
    return PeerConnection(on: peers, configuration: configuration)
  }

  /// Counts `connection` among the viewers and follows it to its end.
  /// - Parameters:
  ///   - onEnd: called at the end of a connection that was made.
  ///   - cleanUp: runs at the end in any case; `closeAll` waits for it.
  func follow(
    _ connection: PeerConnection, onEnd: @escaping @Sendable (EndReason) -> Void,
    cleanUp: @escaping @Sendable () async -> Void = {}
  ) {
    viewers.withLock {
      $0[connection.id] = Viewer(
        connection: connection, target: options.bitrates.start, audioTarget: options.audioBitrates.start)
    }
    let task = Task {
      // The end of the broadcast overtook who was on the way in.
      if isOver.load(ordering: .acquiring) { await connection.close() }
      var wasConnected = false
      var reason = EndReason.closedLocally
      for await event in connection.events {
        switch event {
        case .stateChanged(.connected):
          if !wasConnected { report(.viewerJoined(id: connection.id)) }
          wasConnected = true
          update(connection.id) { $0.isConnected = true }
        case .stateChanged(.disconnected): update(connection.id) { $0.isConnected = false }
        case .stateChanged(.ended(let why)): reason = why
        case .audioTargetBitrateChanged(let rate, _): update(connection.id) { $0.audioTarget = rate }
        case .targetBitrateChanged(let rate, _): update(connection.id) { $0.target = rate }
        default: break
        }
      }
      remove(connection.id)
      if wasConnected { onEnd(reason) }
      await cleanUp()
    }
    viewers.withLock { $0[connection.id]?.task = task }
  }

  private func update(_ id: String, _ change: (inout Viewer) -> Void) {
    viewers.withLock {
      if $0[id] != nil { change(&$0[id]!) }
      adapt($0)
    }
  }

  private func remove(_ id: String) {
    viewers.withLock {
      $0[id] = nil
      adapt($0)
    }
  }

  /// Encodes while somebody watches, for the viewer with the best network: those with a worse one get fewer frames, so
  /// that one slow viewer does not blur the picture of all.
  private func adapt(_ viewers: [String: Viewer]) {
    let connected = viewers.values.filter(\.isConnected)
    let best = connected.map(\.target).max()
    let audio = connected.map(\.audioTarget).max() ?? options.audioBitrates.start
    program.audio?.setBitrate(Int(audio.bitsPerSecond))
    program.video.pipeline.setTargetBitrate(best ?? options.bitrates.start)
    program.setWatched(best != nil)
  }

  /// Looks again at who wants frames.
  func adapt() { viewers.withLock { adapt($0) } }

  func setBitrates(_ limits: BitrateLimits) async {
    for connection in viewers.withLock({ $0.values.map(\.connection) }) { await connection.setBitrates(limits) }
  }

  /// Says goodbye to all, and waits until they are gone.
  func closeAll() async {
    isOver.store(true, ordering: .releasing)
    let all = viewers.withLock { Array($0.values) }
    for viewer in all { await viewer.connection.close() }
    for viewer in all { await viewer.task?.value }
  }

  /// Of the viewers that are connected.
  func statistics() async -> [(id: String, statistics: PeerStatistics)] {
    var result: [(String, PeerStatistics)] = []
    for viewer in viewers.withLock({ Array($0.values) }) where viewer.isConnected {
      result.append((viewer.connection.id, await viewer.connection.statistics()))
    }
    return result.sorted { $0.0 < $1.0 }
  }
}
