import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCSignaling
import RTCWire
import Synchronization

/// One published stream and its viewers: frames are forwarded unchanged, without decoding.
final class RelayedStream: WHEPSessions {
  /// The formats for publishers, the best first: those that every browser decodes. Because nothing is decoded here,
  /// every profile and level of H.264 is accepted (RFC 6184 §8.1).
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
    /// The publisher's video track.
    var source: RemoteVideoTrack?
    /// The format of the last key frame.
    var format: VideoPayloadFormat?
    var unserved = 0
  }

  private let video: OutgoingVideoTrack
  private let audio: OutgoingAudioTrack
  private let source: Source
  private let viewers: ViewerRegistry
  /// Nil: no still pictures are made.
  private let stills: RelayedPictures?

  /// Called with the number of viewers that cannot decode the present format, and its name.
  typealias Blindness = @Sendable (_ viewers: Int, _ format: String) -> Void

  /// The received media, shared by this stream, its viewers' connections and the tracks sent to them.
  private final class Source: Sendable {
    let state = Mutex(State())
    private let reportBlindness: Blindness

    init(reportBlindness: @escaping Blindness) { self.reportBlindness = reportBlindness }

    /// The format of the pictures; nil before the first.
    var format: VideoPayloadFormat? { state.withLock(\.format) }

    func requestKeyFrame() { state.withLock(\.source)?.requestKeyFrame() }

    /// On the loop.
    func demandChanged(_ demand: RenditionDemand) {
      let unservedFormat = state.withLock { state -> VideoPayloadFormat? in
        defer { state.unserved = demand.unservedViewers }
        return demand.unservedViewers > state.unserved ? state.format : nil
      }
      if let unservedFormat { reportBlindness(demand.unservedViewers, unservedFormat.words) }
    }
  }

  /// - Parameter makePictures: makes the still pictures; gets what requests a key frame.
  init(
    peers: PeerLoop, maximumViewers: Int,
    makePictures: (@escaping @Sendable () -> Void) -> RelayedPictures? = { _ in nil },
    reportBlindness: @escaping Blindness
  ) {
    let source = Source(reportBlindness: reportBlindness)
    let video = peers.makeVideoTrack(renditions: [])
    let audio = peers.makeAudioTrack()
    video.setSource(
      onKeyFrameRequest: { _ in
        source.requestKeyFrame()
        return .coming
      }, onDemandChanged: { source.demandChanged($0) })
    (self.source, self.video, self.audio) = (source, video, audio)
    stills = makePictures { source.requestKeyFrame() }
    viewers = ViewerRegistry(
      ViewerRegistry.Stream(
        maximumViewers: maximumViewers,
        makeConnection: { change in
          var configuration = Self.configuration(video, audio, present: source.format)
          change(&configuration)
          return PeerConnection(on: peers, configuration: configuration)
        },
        inspect: { connection, offer throws(WHEPRefusal) in
          guard let present = source.format, Self.wantsVideo(offer) else { return }
          let agreed = await connection.statistics().videoFormats
          guard agreed.contains(where: { $0.takes(Self.needed(for: present)) }) else {
            throw .noCommonCodec(offered: present.words)
          }
        },
        content: { (true, true) }, codecs: { source.format?.words ?? Self.codecNames }, refusals: peers.refusals))
  }

  // MARK: - Receiving

  func take(_ track: RemoteTrack) {
    switch track {
    case .video(let track):
      source.state.withLock { $0.source = track }
      track.setReceiver { [weak self, weak track] frame in self?.pass(frame, clock: track?.senderClock) }
    case .audio(let track):
      track.setReceiver { [weak self, weak track] packet in self?.pass(packet, clock: track?.senderClock) }
    }
  }

  private func pass(_ frame: ReceivedFrame, clock: SenderClock?) {
    let (encoded, format) = source.state.withLock { state -> (EncodedFrame, VideoPayloadFormat?) in
      let present = Self.format(of: frame) ?? state.format
      defer { state.format = present }
      return (state.forwarder.forward(frame, clock: clock), state.format == present ? nil : present)
    }
    if let format { video.setRenditions([RenditionFormat(.encoded, Self.needed(for: format))], preferred: nil) }
    video.send(encoded)
    stills?.take(frame)
  }

  /// The format that a key frame begins; nil for other frames.
  private static func format(of frame: ReceivedFrame) -> VideoPayloadFormat? {
    guard frame.isKeyFrame else { return nil }
    guard frame.codec == .h264 else { return formats.first { $0.codec == frame.codec } }
    return VideoPayloadFormat(h264KeyFrame: frame.data.span) ?? VideoPayloadFormat(codec: .h264)
  }

  /// The format that a viewer must accept to be sent `format`. The additional features of the Baseline and High
  /// profiles over their constrained forms (arbitrary slice order, fields, reordering) are not used in live streams,
  /// and few viewers offer the full profiles.
  private static func needed(for format: VideoPayloadFormat) -> VideoPayloadFormat {
    for (whole, constrained) in [("420034", "42e034"), ("640034", "640c34")] {
      if h264(whole).takes(format), !h264(constrained).takes(format) { return h264(constrained) }
    }
    return format
  }

  private func pass(_ packet: ReceivedAudio, clock: SenderClock?) {
    if let frame = source.state.withLock({ $0.forwarder.forward(packet, clock: clock) }) { audio.send(frame) }
  }

  // MARK: - Viewers

  func open(stream: String?, offer: String, remote: String) async throws(WHEPRefusal) -> WHEPAnswer {
    try await viewers.open(stream: nil, offer: offer, remote: remote)
  }

  func patch(id: String, fragment: String, etag: String?) async throws(WHEPRefusal) -> WHEPPatchResult {
    try await viewers.patch(id: id, fragment: fragment, etag: etag)
  }

  func offer(stream: String?, remote: String) async throws(WHEPRefusal) -> WHEPAnswer {
    try await viewers.offer(stream: nil, remote: remote)
  }

  func open(
    stream: String?, offer: String, remote: String, place: IPAddress?
  ) async throws(WHEPRefusal) -> WHEPAnswer {
    try await viewers.open(stream: nil, offer: offer, remote: remote, place: place)
  }

  func offer(stream: String?, remote: String, place: IPAddress?) async throws(WHEPRefusal) -> WHEPAnswer {
    try await viewers.offer(stream: nil, remote: remote, place: place)
  }

  func accept(id: String, answer: String) async throws(WHEPRefusal) {
    try await viewers.accept(id: id, answer: answer)
  }

  func etag(of id: String) async -> String? { await viewers.etag(of: id) }

  func diagnosis(of id: String, checks: ViewerChecks) async -> String? {
    await viewers.diagnosis(of: id, checks: checks)
  }

  func close(id: String) async -> Bool { await viewers.close(id: id) }

  func status() async -> CastStatus { CastStatus(isLive: true, viewers: viewers.count) }

  func closeAll() async {
    stills?.end()
    await viewers.closeAll()
  }

  var pictures: (any StreamPictures)? { stills }

  private static func configuration(
    _ video: OutgoingVideoTrack, _ audio: OutgoingAudioTrack, present: VideoPayloadFormat?
  ) -> PeerConnection.Configuration {
    var configuration = PeerConnection.Configuration(video: video, audio: audio)
    let needed = present.map(needed)
    func fits(_ format: VideoPayloadFormat) -> Bool { needed.map(format.takes) ?? true }
    // Formats that decode the present stream come first.
    configuration.videoFormats = formats.filter(fits) + formats.filter { !fits($0) }
    configuration.dataChannels = nil
    configuration.bitrates.maximum = BitRate(bitsPerSecond: 50_000_000)
    return configuration
  }

  /// Whether an offer has a video section: a viewer that cannot decode the stream is refused with that reason.
  private static func wantsVideo(_ offer: String) -> Bool {
    guard let description = try? SessionDescription(parsing: offer) else { return false }
    return description.media.contains { media in
      media.kind == .video && (media.port != 0 || media.isBundleOnly) && media.direction.receives
    }
  }

  static var codecNames: String {
    var names: [String] = []
    for format in formats where !names.contains(format.codec.rawValue) { names.append(format.codec.rawValue) }
    return names.joined(separator: ", ")
  }
}
