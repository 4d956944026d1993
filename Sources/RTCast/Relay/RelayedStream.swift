import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCSignaling
import Synchronization

/// One published stream on its way to its viewers: frames go on as they came, nothing is decoded.
final class RelayedStream: WHEPSessions {
  /// What publishers may send: what every browser takes, so that no viewer is left out. The best first.
  static let formats = [
    VideoPayloadFormat.vp8,
    VideoPayloadFormat(
      codec: .h264, parameters: "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f"),
  ]

  private struct Pictures {
    var track: IncomingVideoTrack?
    var timeline = RelayTimeline(rate: 90_000)
    var codec: VideoCodec?
    var number: UInt64 = 0
    var latest = Timestamp.zero
  }

  private struct Sound {
    var timeline = RelayTimeline(rate: 48_000)
    var newest = Int64.min
  }

  private let peers: PeerLoop
  private let maximumViewers: Int
  private let video: OutgoingVideoTrack
  private let audio: OutgoingAudioTrack
  private let pictures: Mutex<Pictures>
  private let sound = Mutex(Sound())
  private let viewers = Mutex<[String: PeerConnection]>([:])

  init(peers: PeerLoop, maximumViewers: Int) {
    self.peers = peers
    self.maximumViewers = maximumViewers
    let source = Late<RelayedStream>()
    pictures = Mutex(Pictures())
    video = peers.makeVideoTrack { source.value?.askForKeyFrame() }
    audio = peers.makeAudioTrack()
    source.value = self
  }

  // MARK: - What comes

  func take(_ track: IncomingTrack) {
    switch track {
    case .video(let track):
      pictures.withLock { $0.track = track }
      track.setReceiver { [weak self] frame in self?.pass(frame) }
    case .audio(let track): track.setReceiver { [weak self] packet in self?.pass(packet) }
    }
  }

  private func askForKeyFrame() { pictures.withLock(\.track)?.requestKeyFrame() }

  private func pass(_ frame: ReceivedFrame) {
    let (encoded, isNewCodec) = pictures.withLock { pictures in
      let time = max(
        pictures.timeline.place(frame.timestamp, received: frame.received).time,
        pictures.latest + .nanoseconds(1))
      pictures.latest = time
      defer {
        pictures.number += 1
        pictures.codec = frame.codec
      }
      let encoded = EncodedFrame(
        codec: frame.codec, data: frame.data, isKeyFrame: frame.isKeyFrame, size: PixelSize(width: 0, height: 0),
        captureTime: time, encodedTime: frame.received, quantizer: 0, rotation: frame.rotation, contentHint: .motion,
        colorSpace: frame.colorSpace, number: pictures.number)
      return (encoded, pictures.codec != frame.codec)
    }
    if isNewCodec, let format = Self.formats.first(where: { $0.codec == frame.codec }) {
      video.setRenditions([RenditionFormat(.encoded, format)], preferred: nil)
    }
    video.send(encoded)
  }

  private func pass(_ packet: ReceivedAudio) {
    guard let header = OpusPacket(packet.payload) else { return }
    let frame = sound.withLock { sound -> EncodedAudioFrame? in
      let (position, time) = sound.timeline.place(packet.timestamp, received: packet.received)
      // Whoever hears it has no use for what comes after its time.
      guard position > sound.newest else { return nil }
      sound.newest = position
      return EncodedAudioFrame(
        data: packet.payload, position: position, sampleCount: header.sampleCount, captureTime: time,
        startsTalkSpurt: packet.marker, level: packet.level)
    }
    if let frame { audio.send(frame) }
  }

  // MARK: - Viewers

  func open(stream: String?, offer: String, remote: String) async throws(WHEPRefusal) -> WHEPAnswer {
    guard viewers.withLock({ $0.count }) < maximumViewers else { throw .tooManyViewers(limit: maximumViewers) }
    var configuration = PeerConnection.Configuration(video: video, audio: audio)
    configuration.videoFormats = Self.formats
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

  static var codecNames: String { formats.map(\.codec.rawValue).joined(separator: ", ") }

  func patch(id: String, fragment: String, etag: String?) async throws(WHEPRefusal) -> WHEPPatchResult {
    guard let connection = viewers.withLock({ $0[id] }) else { throw .noSuchSession }
    return try await connection.patch(fragment)
  }

  func close(id: String) async -> Bool {
    guard let connection = viewers.withLock({ $0[id] }) else { return false }
    await connection.close()
    return true
  }

  func status() async -> CastStatus { CastStatus(isLive: true, viewers: viewers.withLock { $0.count }) }

  func closeAll() async {
    for connection in viewers.withLock({ Array($0.values) }) { await connection.close() }
  }
}
