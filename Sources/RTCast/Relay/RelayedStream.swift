import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCSignaling
import Synchronization

/// One published stream on its way to its viewers: frames go on as they came, nothing is decoded.
final class RelayedStream: WHEPSessions {
  /// What every browser takes, so that no viewer is left out.
  private static let universal = [
    VideoPayloadFormat.vp8,
    VideoPayloadFormat(
      codec: .h264, parameters: "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f"),
  ]
  /// What publishers may send, the best first: publishers with a choice send what every viewer takes.
  static let formats =
    universal + [
      VideoPayloadFormat(codec: .vp9, parameters: "profile-id=0"),
      VideoPayloadFormat(codec: .av1, parameters: "profile=0"),
    ]

  private struct State {
    var forwarder = StreamForwarder()
    /// Where pictures come from.
    var source: IncomingVideoTrack?
    var codec: VideoCodec?
  }

  private let peers: PeerLoop
  private let maximumViewers: Int
  private let video: OutgoingVideoTrack
  private let audio: OutgoingAudioTrack
  private let state = Mutex(State())
  private let viewers = Mutex<[String: PeerConnection]>([:])

  init(peers: PeerLoop, maximumViewers: Int) {
    self.peers = peers
    self.maximumViewers = maximumViewers
    let source = Late<RelayedStream>()
    video = peers.makeVideoTrack { source.value?.askForKeyFrame() }
    audio = peers.makeAudioTrack()
    source.value = self
  }

  // MARK: - What comes

  func take(_ track: IncomingTrack) {
    switch track {
    case .video(let track):
      state.withLock { $0.source = track }
      track.setReceiver { [weak self, weak track] frame in self?.pass(frame, clock: track?.senderClock) }
    case .audio(let track):
      track.setReceiver { [weak self, weak track] packet in self?.pass(packet, clock: track?.senderClock) }
    }
  }

  private func askForKeyFrame() { state.withLock(\.source)?.requestKeyFrame() }

  private func pass(_ frame: ReceivedFrame, clock: SenderClock?) {
    let (encoded, isNewCodec) = state.withLock { state in
      defer { state.codec = frame.codec }
      return (state.forwarder.forward(frame, clock: clock), state.codec != frame.codec)
    }
    if isNewCodec, let format = Self.formats.first(where: { $0.codec == frame.codec }) {
      video.setRenditions([RenditionFormat(.encoded, format)], preferred: nil)
    }
    video.send(encoded)
  }

  private func pass(_ packet: ReceivedAudio, clock: SenderClock?) {
    if let frame = state.withLock({ $0.forwarder.forward(packet, clock: clock) }) { audio.send(frame) }
  }

  // MARK: - Viewers

  func open(stream: String?, offer: String, remote: String) async throws(WHEPRefusal) -> WHEPAnswer {
    guard viewers.withLock({ $0.count }) < maximumViewers else { throw .tooManyViewers(limit: maximumViewers) }
    let present = state.withLock(\.codec)
    try Self.check(offer, takes: present)
    var configuration = PeerConnection.Configuration(video: video, audio: audio)
    // What is sent at present comes first.
    configuration.videoFormats =
      Self.formats.filter { $0.codec == present } + Self.formats.filter { $0.codec != present }
    configuration.dataChannels = nil
    configuration.bitrates.maximum = BitRate(bitsPerSecond: 50_000_000)
    let connection = PeerConnection(on: peers, configuration: configuration)
    do {
      let answer = try await connection.answer(to: offer)
      viewers.withLock { $0[connection.id] = connection }
      Task {
        for await _ in connection.events {}
        viewers.withLock { viewers in _ = viewers.removeValue(forKey: connection.id) }
      }
      return WHEPAnswer(id: connection.id, answer: answer, etag: "1")
    } catch {
      await connection.close()
      throw WHEPRefusal(error, codecs: Self.codecNames)
    }
  }

  /// A viewer that cannot take the stream's codec is told so, instead of being shown nothing.
  private static func check(_ offer: String, takes present: VideoCodec?) throws(WHEPRefusal) {
    guard let present, !universal.contains(where: { $0.codec == present }), offer.contains("m=video") else { return }
    guard offer.lowercased().contains(" \(present.rawValue.lowercased())/90000") else {
      throw .noCommonCodec(offered: present.rawValue)
    }
  }

  static var codecNames: String { formats.map(\.codec.rawValue).joined(separator: ", ") }

  func patch(id: String, fragment: String, etag: String?) async throws(WHEPRefusal) -> WHEPPatchResult {
    guard let connection = viewers.withLock({ $0[id] }) else { throw .noSuchSession }
    return try await connection.patch(fragment)
  }

  func close(id: String) async -> Bool {
    guard let connection = viewers.withLock({ $0[id] }) else { return false }
    await connection.close()
    // Whoever asks again finds nobody, even before the end was followed.
    viewers.withLock { viewers in _ = viewers.removeValue(forKey: id) }
    return true
  }

  func status() async -> CastStatus { CastStatus(isLive: true, viewers: viewers.withLock { $0.count }) }

  func closeAll() async {
    for connection in viewers.withLock({ Array($0.values) }) { await connection.close() }
  }
}
