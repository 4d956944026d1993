import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCTestKit
import Synchronization
import Testing

/// Two connections in one process over loopback, which negotiate by themselves.
final class TwoConnections: Sendable {
  let loop: PeerLoop
  let calleeLoop: PeerLoop
  let caller: PeerConnection
  let callee: PeerConnection
  private let negotiations: [PerfectNegotiation]
  /// The descriptions of each side for the other; a task of the test follows each.
  private let ways: [AsyncStream<Description>.Continuation]

  convenience init() throws { try self.init(PeerLoop(Self.options), PeerLoop(Self.options)) }

  static var options: PeerLoop.Options {
    var options = PeerLoop.Options()
    options.includesLoopback = true
    return options
  }

  /// - Parameters: whose peers caller and callee are; may be the same.
  init(_ loop: PeerLoop, _ calleeLoop: PeerLoop) {
    (self.loop, self.calleeLoop) = (loop, calleeLoop)
    caller = PeerConnection(on: loop)
    callee = PeerConnection(on: calleeLoop)
    let (toCallee, fromCaller) = AsyncStream.makeStream(of: Description.self)
    let (toCaller, fromCallee) = AsyncStream.makeStream(of: Description.self)
    let first = PerfectNegotiation(caller, isPolite: false) { fromCaller.yield($0) }
    let second = PerfectNegotiation(callee, isPolite: true) { fromCallee.yield($0) }
    negotiations = [first, second]
    ways = [fromCaller, fromCallee]
    Task { for await description in toCallee { try? await second.receive(description) } }
    Task { for await description in toCaller { try? await first.receive(description) } }
  }

  /// Waits until a connection is made, has received so many tracks and sends so many; its events so far are taken.
  /// - Returns: the tracks.
  func ready(_ connection: PeerConnection, tracks: Int, sending: Int) async -> [RemoteTrack] {
    var (received, sent, isConnected) = ([RemoteTrack](), 0, false)
    for await event in connection.events {
      switch event {
      case .stateChanged(.connected): isConnected = true
      case .trackAdded(let track): received.append(track)
      case .sendingStarted: sent += 1
      default: break
      }
      if isConnected, received.count >= tracks, sent >= sending { break }
    }
    return received
  }

  /// The caller adds the sound and the callee the picture at the same moment.
  /// - Returns: what each receives of it.
  func cross(
    _ sound: OutgoingAudioTrack, _ picture: OutgoingVideoTrack
  ) async throws -> (audio: RemoteAudioTrack, video: RemoteVideoTrack) {
    async let voice = caller.addTrack(.audio(sound))
    async let screen = callee.addTrack(.video(picture))
    _ = try await (voice, screen)
    async let calling = ready(caller, tracks: 1, sending: 1)
    async let called = ready(callee, tracks: 1, sending: 1)
    let (callerTracks, calleeTracks) = await (calling, called)
    guard case .video(let video)? = callerTracks.first, case .audio(let audio)? = calleeTracks.first else {
      throw OtherTracks(caller: callerTracks, callee: calleeTracks)
    }
    return (audio, video)
  }

  /// Sends a packet of the sound and a picture.
  /// - Returns: what arrives of each; nil when the track ends before.
  func carry(
    _ sound: OutgoingAudioTrack, to audio: RemoteAudioTrack, _ picture: OutgoingVideoTrack, to video: RemoteVideoTrack
  ) async -> (packet: ReceivedAudio?, frame: ReceivedFrame?) {
    let (packets, packetFeed) = AsyncStream.makeStream(of: ReceivedAudio.self)
    let (frames, frameFeed) = AsyncStream.makeStream(of: ReceivedFrame.self)
    audio.setReceiver { packetFeed.yield($0) }
    video.setReceiver { frameFeed.yield($0) }
    var (sounds, pictures) = (SyntheticAudio(), SyntheticVideo())
    sound.send(sounds.next())
    picture.send(pictures.next(.zero + .seconds(1)))
    return (await first(of: packets) { $0 }, await first(of: frames) { $0 })
  }

  struct OtherTracks: Error {
    var caller: [RemoteTrack]
    var callee: [RemoteTrack]
  }

  func close() async {
    await caller.close()
    await callee.close()
    loop.stop()
    calleeLoop.stop()
    for way in ways { way.finish() }
  }
}

/// The first value that a test waits for; nil if the stream ends without it. The test's time limit ends the wait.
func first<Element: Sendable, Value: Sendable>(
  of stream: AsyncStream<Element>, _ match: @Sendable (Element) -> Value?
) async -> Value? {
  for await element in stream { if let value = match(element) { return value } }
  return nil
}

/// Waits until the channel is open; false when it ends before.
func isOpen(_ channel: DataChannel) async -> Bool {
  for await event in channel.events where event == .stateChanged(.open) { return true }
  return false
}
