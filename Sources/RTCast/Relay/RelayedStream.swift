import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCSignaling
import Synchronization

/// One published stream on its way to its viewers: frames go on as they came, nothing is decoded.
final class RelayedStream: WHEPSessions {
  /// What publishers may send, the best first: publishers with a choice send what every browser takes. Nothing is decoded
  /// here, so that every profile of H.264 will do, at every level (RFC 6184 §8.1).
  static let formats =
    [
      .vp8, h264("42e034"), VideoPayloadFormat(codec: .vp9, parameters: "profile-id=0"),
      VideoPayloadFormat(codec: .av1, parameters: "profile=0"),
    ] + ["420034", "4d0034", "640c34", "640034"].map(h264)

  private static func h264(_ profileLevelID: String) -> VideoPayloadFormat {
    VideoPayloadFormat(
      codec: .h264,
      parameters: "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=\(profileLevelID)")
  }

  private struct State {
    var forwarder = StreamForwarder()
    /// Where pictures come from.
    var source: RemoteVideoTrack?
    /// What they are coded with, as the last key frame has it.
    var format: VideoPayloadFormat?
    var unserved = 0
  }

  private let peers: PeerLoop
  private let maximumViewers: Int
  private let video: OutgoingVideoTrack
  private let audio: OutgoingAudioTrack
  private let state = Mutex(State())
  private let viewers = Mutex<[String: PeerConnection]>([:])

  /// So many viewers cannot decode what comes now, in these words.
  typealias Blindness = @Sendable (_ viewers: Int, _ format: String) -> Void
  private let reportBlindness: Blindness

  init(peers: PeerLoop, maximumViewers: Int, reportBlindness: @escaping Blindness) {
    self.peers = peers
    self.maximumViewers = maximumViewers
    self.reportBlindness = reportBlindness
    let source = Late<RelayedStream>()
    video = peers.makeVideoTrack(
      renditions: [],
      onKeyFrameRequest: { _ in
        source.value?.askForKeyFrame()
        return .coming
      }, onDemandChanged: { source.value?.demandChanged($0) })
    audio = peers.makeAudioTrack()
    source.value = self
  }

  // MARK: - What comes

  func take(_ track: RemoteTrack) {
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
    let (encoded, format) = state.withLock { state -> (EncodedFrame, VideoPayloadFormat?) in
      let present = Self.format(of: frame) ?? state.format
      defer { state.format = present }
      return (state.forwarder.forward(frame, clock: clock), state.format == present ? nil : present)
    }
    if let format { video.setRenditions([RenditionFormat(.encoded, Self.needed(for: format))], preferred: nil) }
    video.send(encoded)
  }

  /// What a key frame begins; nil for every other.
  private static func format(of frame: ReceivedFrame) -> VideoPayloadFormat? {
    guard frame.isKeyFrame else { return nil }
    guard frame.codec == .h264 else { return formats.first { $0.codec == frame.codec } }
    return VideoPayloadFormat(h264KeyFrame: frame.data.span) ?? VideoPayloadFormat(codec: .h264)
  }

  /// What a viewer must take to be shown `format`. What Baseline and High have beyond their constrained forms (slices in
  /// any order, fields, pictures that wait for later ones) is not sent live, and few viewers name the whole profiles.
  private static func needed(for format: VideoPayloadFormat) -> VideoPayloadFormat {
    for (whole, constrained) in [("420034", "42e034"), ("640034", "640c34")] {
      if h264(whole).takes(format), !h264(constrained).takes(format) { return h264(constrained) }
    }
    return format
  }

  /// On the loop.
  private func demandChanged(_ demand: RenditionDemand) {
    let news = state.withLock { state -> VideoPayloadFormat? in
      defer { state.unserved = demand.unservedViewers }
      return demand.unservedViewers > state.unserved ? state.format : nil
    }
    if let news { reportBlindness(demand.unservedViewers, news.words) }
  }

  private func pass(_ packet: ReceivedAudio, clock: SenderClock?) {
    if let frame = state.withLock({ $0.forwarder.forward(packet, clock: clock) }) { audio.send(frame) }
  }

  // MARK: - Viewers

  func open(stream: String?, offer: String, remote: String) async throws(WHEPRefusal) -> WHEPAnswer {
    guard viewers.withLock({ $0.count }) < maximumViewers else { throw .tooManyViewers(limit: maximumViewers) }
    let present = state.withLock(\.format)
    var configuration = PeerConnection.Configuration(video: video, audio: audio)
    let needed = present.map(Self.needed)
    func fits(_ format: VideoPayloadFormat) -> Bool { needed.map(format.takes) ?? true }
    // What decodes the present stream comes first.
    configuration.videoFormats = Self.formats.filter(fits) + Self.formats.filter { !fits($0) }
    configuration.dataChannels = nil
    configuration.bitrates.maximum = BitRate(bitsPerSecond: 50_000_000)
    let connection = PeerConnection(on: peers, configuration: configuration)
    do {
      let answer = try await connection.answer(to: offer)
      let agreed = await connection.statistics().videoFormats
      if let present, Self.wantsVideo(offer), !agreed.contains(where: fits) {
        throw WHEPRefusal.noCommonCodec(offered: present.words)
      }
      viewers.withLock { $0[connection.id] = connection }
      Task {
        for await _ in connection.events {}
        viewers.withLock { viewers in _ = viewers.removeValue(forKey: connection.id) }
      }
      return WHEPAnswer(id: connection.id, answer: answer, etag: "1")
    } catch {
      await connection.close()
      throw error as? WHEPRefusal ?? WHEPRefusal(error, codecs: present?.words ?? Self.codecNames)
    }
  }

  /// Whether an offer has room for a picture: a viewer that cannot take the stream's is told so, instead of being shown
  /// nothing.
  private static func wantsVideo(_ offer: String) -> Bool {
    var isVideo = false
    var wanted: [Bool] = []
    for line in offer.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("m=") {
        isVideo = line.hasPrefix("m=video ") && !line.hasPrefix("m=video 0 ")
        if isVideo { wanted.append(true) }
      } else if isVideo, line == "a=inactive" || line == "a=sendonly" {
        wanted[wanted.count - 1] = false
      }
    }
    return wanted.contains(true)
  }

  static var codecNames: String {
    var names: [String] = []
    for format in formats where !names.contains(format.codec.rawValue) { names.append(format.codec.rawValue) }
    return names.joined(separator: ", ")
  }

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
