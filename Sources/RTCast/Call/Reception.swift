import RTCEngine
import RTCNet
import RTCPeer
import RTCPlayout
import RTCPrimitives
import Synchronization

/// The media received on one connection: the remote peer's video tracks, ready to be shown, and its sound, played.
final class Reception: Sendable {
  enum Event: Sendable {
    case videoAdded(RemoteVideoTrack)
    case videoRemoved(RemoteVideoTrack)
    /// The content of a video has changed.
    case videoChanged(RemoteVideoTrack)
    /// Played already.
    case audioAdded(RemoteAudioTrack)
    case audioRemoved(RemoteAudioTrack)
    case warning(String)
  }

  private struct Tracks {
    var video: [TransceiverID: RemoteVideoTrack] = [:]
    var audio: [TransceiverID: RemoteAudioTrack] = [:]
    /// When the first frame of a track that is gone was decoded.
    var firstPicture: Timestamp?
    /// The content of each of the remote peer's streams, as it announced them.
    var contents: [String: RemoteVideoTrack.Content] = [:]

    func content(of track: RemoteVideoTrack) -> RemoteVideoTrack.Content? {
      track.streamIDs.lazy.compactMap { contents[$0] }.first
    }
  }

  /// The maximum number of streams kept; further names are ignored.
  private static let mostStreams = 256

  /// The memory limit of the remote peer's decoded videos.
  private let budget = DecodedPixels.budget()
  private let loudspeaker: Loudspeaker
  private let report: @Sendable (Event) async -> Void
  private let tracks = Mutex(Tracks())

  /// - Parameter report: called in order; the next event waits for its return.
  init(loudspeaker: Loudspeaker, report: @escaping @Sendable (Event) async -> Void) {
    self.loudspeaker = loudspeaker
    self.report = report
  }

  /// Follows `connection` to its end and keeps audio and video in sync.
  /// - Parameter hear: receives every event that does not belong to a track, in order; the next event waits for its
  ///   return.
  nonisolated(nonsending) func follow(_ connection: PeerConnection, _ hear: (PeerConnectionEvent) async -> Void) async {
    let syncing = Task { await keepTogether() }
    for await event in connection.events {
      switch event {
      case .trackAdded(let track): await add(track)
      case .trackRemoved(let track): await remove(track)
      default: await hear(event)
      }
    }
    syncing.cancel()
    await end()
  }

  private func add(_ track: RemoteTrack) async {
    if case .video = track, tracks.withLock({ $0.video.count }) >= PeerLimits.decodedVideos {
      return await report(
        .warning("\(track.peer) sends more than \(PeerLimits.decodedVideos) videos; the rest is not shown."))
    }
    if case .video(let track) = track {
      track.limit(to: budget) { [report, peer = track.peer] in
        Task {
          await report(.warning("\(peer) sends pictures that are too large to decode here; a video is not shown."))
        }
      }
    }
    do { try track.prepare() } catch is RemoteAudioTrack.NoDecoder { return } catch {
      return await report(.warning("Media from \(track.peer) cannot be played: \(error)"))
    }
    switch track {
    case .video(let track):
      tracks.withLock { tracks in
        track.setContent(tracks.content(of: track))
        tracks.video[track.transceiver] = track
      }
      await report(.videoAdded(track))
    case .audio(let track):
      tracks.withLock { $0.audio[track.transceiver] = track }
      loudspeaker.add(track)
      await report(.audioAdded(track))
    }
  }

  /// Takes the remote peer's announcement of its streams, for present and later tracks.
  func note(_ streams: [String: String]) async {
    let changed = tracks.withLock { tracks in
      for (id, kind) in streams where tracks.contents[id] != nil || tracks.contents.count < Self.mostStreams {
        tracks.contents[id] = RemoteVideoTrack.Content(rawValue: kind)
      }
      return tracks.video.values.filter { $0.setContent(tracks.content(of: $0)) }
    }
    for track in changed { await report(.videoChanged(track)) }
  }

  private func remove(_ track: RemoteTrack) async {
    let id = track.transceiver
    switch track {
    case .video:
      let gone = tracks.withLock { tracks in
        tracks.firstPicture = Self.firstPicture(of: tracks)
        return tracks.video.removeValue(forKey: id)
      }
      if let gone { await report(.videoRemoved(gone)) }
    case .audio:
      if let gone = tracks.withLock({ $0.audio.removeValue(forKey: id) }) { await silence(gone) }
    }
  }

  private func silence(_ track: RemoteAudioTrack) async {
    loudspeaker.remove(track)
    await report(.audioRemoved(track))
  }

  /// The connection has ended.
  private func end() async {
    let rest = tracks.withLock { tracks in
      defer { tracks = Tracks(firstPicture: Self.firstPicture(of: tracks)) }
      return (Array(tracks.video.values), Array(tracks.audio.values))
    }
    for track in rest.0 { await report(.videoRemoved(track)) }
    for track in rest.1 { await silence(track) }
  }

  /// When the first frame of any track was decoded, by `MonotonicClock`; nil before.
  var firstPicture: Timestamp? { tracks.withLock { Self.firstPicture(of: $0) } }

  private static func firstPicture(of tracks: Tracks) -> Timestamp? {
    (tracks.video.values.map(\.playout?.statistics.firstDecoded) + [tracks.firstPicture]).compactMap { $0 }.min()
  }

  /// Lets picture and sound of one stream wait for each other, five times a second, until cancelled.
  private func keepTogether() async {
    var links: [String: LipSyncLink] = [:]
    while (try? await Task.sleep(for: .milliseconds(200))) != nil {
      let present = pairs()
      links = links.filter { link in present.contains { $0.key == link.key } }
      for (key, audio, video) in present {
        guard let heard = audio.playout, let seen = video.playout else { continue }
        let link = links[key] ?? LipSyncLink(audio: heard, video: seen)
        links[key] = link
        link.note(audio: audio.senderClock, video: video.senderClock)
        link.update(at: MonotonicClock.now())
      }
    }
  }

  private func pairs() -> [(key: String, RemoteAudioTrack, RemoteVideoTrack)] {
    tracks.withLock { tracks in
      tracks.audio.values.compactMap { audio in
        let streams = Set(audio.streamIDs)
        let video = tracks.video.values.first { !streams.isDisjoint(with: $0.streamIDs) }
        return video.map { ("\(audio.transceiver)/\($0.transceiver)", audio, $0) }
      }
    }
  }
}
