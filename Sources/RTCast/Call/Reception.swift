import RTCEngine
import RTCNet
import RTCPeer
import RTCPlayout
import RTCPrimitives
import Synchronization

/// What comes by one connection: a decoding track for each track of the far side.
final class Reception: Sendable {
  enum Event: Sendable {
    case videoAdded(RemoteVideoTrack)
    case videoRemoved(RemoteVideoTrack)
    /// What it shows has changed.
    case videoChanged(RemoteVideoTrack)
    case audioAdded(RemoteAudioTrack)
    case audioRemoved(RemoteAudioTrack)
    case warning(String)
  }

  private struct Tracks {
    var video: [TransceiverID: RemoteVideoTrack] = [:]
    var audio: [TransceiverID: RemoteAudioTrack] = [:]
    /// When the first picture of a track that is gone was decoded.
    var firstPicture: Timestamp?
    /// What the far side says of its streams.
    var contents: [String: RemoteVideoTrack.Content] = [:]

    func content(of track: IncomingVideoTrack) -> RemoteVideoTrack.Content? {
      track.streamIDs.lazy.compactMap { contents[$0] }.first
    }
  }

  /// More than a far side sends; what one names in excess is not kept.
  private static let mostStreams = 256

  private let peer: PeerID
  private let codecs: CodecRegistry
  private let report: @Sendable (Event) async -> Void
  private let tracks = Mutex(Tracks())

  init(peer: PeerID, codecs: CodecRegistry, report: @escaping @Sendable (Event) async -> Void) {
    self.peer = peer
    self.codecs = codecs
    self.report = report
  }

  func add(_ track: IncomingTrack) async {
    do {
      switch track {
      case .video(let incoming):
        let playout = try VideoPlayout(decoders: codecs.videoDecoders) { incoming.requestKeyFrame() }
        let remote = RemoteVideoTrack(incoming, peer: peer, playout: playout)
        tracks.withLock { tracks in
          remote.setContent(tracks.content(of: incoming))
          tracks.video[incoming.transceiver] = remote
        }
        await report(.videoAdded(remote))
      case .audio(let incoming):
        guard let makeDecoder = codecs.audioDecoder else { return }
        let playout = AudioPlayout(decoder: try makeDecoder(2)) { MonotonicClock.now() }
        let remote = RemoteAudioTrack(incoming, peer: peer, playout: playout)
        tracks.withLock { $0.audio[incoming.transceiver] = remote }
        await report(.audioAdded(remote))
      }
    } catch {
      await report(.warning("What \(peer) sends cannot be played: \(error)"))
    }
  }

  /// What the far side says of its streams, for tracks that are there and those that come.
  func note(_ streams: [String: String]) async {
    let changed = tracks.withLock { tracks in
      for (id, kind) in streams where tracks.contents[id] != nil || tracks.contents.count < Self.mostStreams {
        tracks.contents[id] = RemoteVideoTrack.Content(rawValue: kind)
      }
      return tracks.video.values.filter { $0.setContent(tracks.content(of: $0.incoming)) }
    }
    for track in changed { await report(.videoChanged(track)) }
  }

  func remove(_ track: IncomingTrack) async {
    switch track {
    case .video(let incoming):
      let gone = tracks.withLock { tracks in
        tracks.firstPicture = Self.firstPicture(of: tracks)
        return tracks.video.removeValue(forKey: incoming.transceiver)
      }
      guard let remote = gone else { return }
      await report(.videoRemoved(remote))
    case .audio(let incoming):
      guard let remote = tracks.withLock({ $0.audio.removeValue(forKey: incoming.transceiver) }) else { return }
      await report(.audioRemoved(remote))
    }
  }

  /// The connection has ended.
  func end() async {
    let rest = tracks.withLock { tracks in
      defer { tracks = Tracks(firstPicture: Self.firstPicture(of: tracks)) }
      return (Array(tracks.video.values), Array(tracks.audio.values))
    }
    for track in rest.0 { await report(.videoRemoved(track)) }
    for track in rest.1 { await report(.audioRemoved(track)) }
  }

  /// When the first picture of any track was decoded, by `MonotonicClock`; nil before.
  var firstPicture: Timestamp? { tracks.withLock { Self.firstPicture(of: $0) } }

  private static func firstPicture(of tracks: Tracks) -> Timestamp? {
    (tracks.video.values.map(\.playout.statistics.firstDecoded) + [tracks.firstPicture]).compactMap { $0 }.min()
  }

  /// Lets picture and sound of one stream wait for each other, five times a second, until cancelled.
  func keepTogether() async {
    var links: [String: LipSyncLink] = [:]
    while (try? await Task.sleep(for: .milliseconds(200))) != nil {
      let present = pairs()
      links = links.filter { link in present.contains { $0.key == link.key } }
      for (key, audio, video) in present {
        let link = links[key] ?? LipSyncLink(audio: audio.playout, video: video.playout)
        links[key] = link
        link.note(audio: audio.incoming.senderClock, video: video.incoming.senderClock)
        link.update(at: MonotonicClock.now())
      }
    }
  }

  private func pairs() -> [(key: String, RemoteAudioTrack, RemoteVideoTrack)] {
    tracks.withLock { tracks in
      tracks.audio.values.compactMap { audio in
        let streams = Set(audio.incoming.streamIDs)
        let video = tracks.video.values.first { !streams.isDisjoint(with: $0.incoming.streamIDs) }
        return video.map { ("\(audio.incoming.transceiver)/\($0.incoming.transceiver)", audio, $0) }
      }
    }
  }
}
