import RTCCodecVPX
import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCast
import Synchronization
import Testing

/// One source, several encoders: each makes a rendition of the same pictures, for those who watch it.
@Suite(.timeLimit(.minutes(1))) struct SeveralEncodersTests {
  private let large = PixelSize(width: 320, height: 192)
  private let small = PixelSize(width: 160, height: 96)
  private static let side = Rendition(1)

  /// Sizes coded, in their order.
  private final class Coded: Sendable {
    let sizes = Mutex<[PixelSize]>([])
  }

  private func encoding(_ rendition: Rendition, limit: PixelSize?, _ coded: Coded) -> VideoEncoding {
    VideoEncoding(
      rendition: rendition, format: .vp8, settings: EncodingSettings(sizeLimit: limit, isActive: false)
    ) { settings throws(VideoEncoderError) in
      let size = settings.size
      return InterruptedEncoder(try VP8Encoder(settings)) { _ in coded.sizes.withLock { $0.append(size) } }
    }
  }

  @Test func `only what somebody takes is encoded, and only the first is recorded`() async throws {
    let (coded, sent) = (Coded(), SentFrames())
    let peers = try PeerLoop(Self.loopback)
    let sinks = EncodedMediaSinks()
    sinks.add(sent)
    let outgoing = OutgoingVideo(
      [encoding(.encoded, limit: nil, coded), encoding(Self.side, limit: small, coded)], peers: peers, sinks: sinks
    ) { _ in }
    let run = ObjectIdentifier(sent)
    outgoing.setRecorded(true)
    outgoing.beginSource(run)
    outgoing.consume(try Desktop(size: large).frame(damage: nil, at: .zero), from: run)
    #expect(coded.sizes.withLock { $0 } == [large])
    #expect(sent.video.map(\.rendition) == [.encoded] && sent.video.map(\.size) == [large])
    // A viewer that belongs on the other rendition.
    outgoing.track.setRenditions([RenditionFormat(Self.side, .vp8)], preferred: Self.side)
    let (viewer, connection) = try await watch(outgoing.track, on: peers)
    var iterator = viewer.frames.makeAsyncIterator()
    let frame = await iterator.next()
    // From the picture that was there before it came.
    #expect(frame?.isKeyFrame == true)
    #expect(coded.sizes.withLock { $0.contains(small) })
    #expect(sent.video.allSatisfy { $0.rendition == .encoded })
    for connection in connection { await connection.close() }
    outgoing.stop()
    peers.stop()
  }

  @Test func `a third rung is one more encoding`() async throws {
    let (coded, third, tiny) = (Coded(), Rendition(2), PixelSize(width: 80, height: 48))
    let peers = try PeerLoop(Self.loopback)
    let limits: [(Rendition, PixelSize?)] = [(.encoded, nil), (Self.side, small), (third, tiny)]
    let encodings = limits.map { encoding($0.0, limit: $0.1, coded) }
    let outgoing = OutgoingVideo(encodings, peers: peers, sinks: EncodedMediaSinks()) { _ in }
    #expect(outgoing.rungs().count == 3)
    let run = ObjectIdentifier(peers)
    outgoing.beginSource(run)
    outgoing.consume(try Desktop(size: large).frame(damage: nil, at: .zero), from: run)
    // A viewer that belongs on it.
    outgoing.track.setRenditions([RenditionFormat(third, .vp8)], preferred: third)
    let (viewer, connections) = try await watch(outgoing.track, on: peers)
    var iterator = viewer.frames.makeAsyncIterator()
    #expect(await iterator.next()?.isKeyFrame == true)
    #expect(coded.sizes.withLock { $0.first } == tiny)
    for connection in connections { await connection.close() }
    outgoing.stop()
    peers.stop()
  }

  private static var loopback: PeerLoop.Options {
    var options = PeerLoop.Options()
    options.includesLoopback = true
    return options
  }

  private final class Viewer: Sendable {
    let frames: AsyncStream<ReceivedFrame>
    init(_ frames: AsyncStream<ReceivedFrame>) { self.frames = frames }
  }

  private func watch(
    _ track: OutgoingVideoTrack, on peers: PeerLoop
  ) async throws -> (Viewer, [PeerConnection]) {
    let sender = PeerConnection(on: peers, configuration: PeerConnection.Configuration(video: track))
    var configuration = PeerConnection.Configuration()
    configuration.receivesVideo = true
    let receiver = PeerConnection(on: peers, configuration: configuration)
    let answer = try await sender.answer(to: try await receiver.createOffer())
    try await receiver.accept(answer: answer)
    let (frames, continuation) = AsyncStream.makeStream(of: ReceivedFrame.self)
    for await case .trackAdded(.video(let video)) in receiver.events {
      video.setReceiver { continuation.yield($0) }
      break
    }
    return (Viewer(frames), [sender, receiver])
  }
}
