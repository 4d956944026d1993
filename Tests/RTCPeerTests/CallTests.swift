import FeatureKit
import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCTestKit
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct Calls {
  @Test(.feature("S1.19", "S1.23", "S1.29", "S3.5", "S3.36", "S3.40"))
  func `both sides add tracks at the same moment, and what one sends the other receives`() async throws {
    let pair = try TwoConnections()
    let page = TrackName(streamID: "slides", trackID: "page")
    let (sound, picture) = (
      pair.loop.makeAudioTrack(), pair.calleeLoop.makeVideoTrack(name: page, onKeyFrameRequest: {})
    )
    let (audio, video) = try await pair.cross(sound, picture)
    #expect(audio.streamIDs == ["rtcast"] && audio.id == sound.name.trackID && video.id == "page")
    #expect(video.streamIDs == ["slides"])

    let (packet, frame) = await pair.carry(sound, to: audio, picture, to: video)
    #expect(SyntheticAudio.number(of: try #require(packet).payload) != nil)
    let seen = try #require(frame)
    #expect(SyntheticVideo.number(of: seen.data, isKeyFrame: seen.isKeyFrame) != nil)
    #expect(await video.reception()?.framesReceived ?? 0 > 0)
    await pair.close()
  }

  @Test
  func `pictures that come before anybody takes them are handed over from the key frame on, and no other is asked for`()
    async throws
  {
    let pair = try TwoConnections()
    let asked = Mutex(0)
    let picture = pair.loop.makeVideoTrack(onKeyFrameRequest: { asked.withLock { $0 += 1 } })
    _ = try await pair.caller.addTrack(.video(picture))
    async let calling = pair.ready(pair.caller, tracks: 0, sending: 1)
    async let called = pair.ready(pair.callee, tracks: 1, sending: 0)
    let (_, tracks) = await (calling, called)
    guard case .video(let video)? = tracks.first else {
      Issue.record("\(tracks)")
      return
    }
    var pictures = SyntheticVideo()
    for number in 1...3 { picture.send(pictures.next(.zero + .seconds(Int64(number)))) }
    while !Task.isCancelled, await video.reception()?.framesReceived ?? 0 < 3 { await Task.yield() }
    let before = asked.withLock { $0 }
    let (frames, feed) = AsyncStream.makeStream(of: ReceivedFrame.self)
    video.setReceiver { feed.yield($0) }
    var seen: [UInt64?] = []
    for await frame in frames {
      seen.append(SyntheticVideo.number(of: frame.data, isKeyFrame: frame.isKeyFrame))
      if seen.count == 3 { picture.send(pictures.next(.zero + .seconds(4))) }
      if seen.count == 4 { break }
    }
    #expect(seen == [0, 1, 2, 3])
    #expect(asked.withLock { $0 } == before)
    await pair.close()
  }

  @Test func `a removed track ends at the other side, and so does every track when the call ends`() async throws {
    let pair = try TwoConnections()
    let sound = pair.loop.makeAudioTrack()
    let picture = pair.loop.makeVideoTrack(onKeyFrameRequest: {})
    await pair.caller.startConfiguration()
    _ = try await pair.caller.addTrack(.audio(sound))
    let screen = try await pair.caller.addTrack(.video(picture))
    await pair.caller.commitConfiguration()
    let tracks = Mutex<[RemoteTrack]>([])
    let video = await first(of: pair.callee.events) { event -> RemoteVideoTrack? in
      guard case .trackAdded(let track) = event else { return nil }
      tracks.withLock { $0.append(track) }
      if case .video(let video) = track { return video }
      return nil
    }
    let (endings, feed) = AsyncStream.makeStream(of: String.self)
    let known = tracks.withLock { $0 }
    try #require(known.count == 2 && video != nil)
    for track in known {
      switch track {
      case .audio(let track): track.onEnded { feed.yield("audio") }
      case .video(let track): track.onEnded { feed.yield("video") }
      }
    }
    try await pair.caller.removeTrack(screen)
    #expect(await first(of: endings) { $0 } == "video")
    await pair.callee.close()
    let (rest, restFeed) = AsyncStream.makeStream(of: String.self)
    for case .audio(let track) in known { track.onEnded { restFeed.yield("audio") } }
    #expect(await first(of: rest) { $0 } == "audio")
    await pair.close()
  }

  @Test func `what cannot be meant is said so`() async throws {
    let pair = try TwoConnections()
    let picture = OutgoingTrack.video(pair.loop.makeVideoTrack(onKeyFrameRequest: {}))
    let caller = pair.caller
    let screen = try await caller.addTrack(picture)
    await #expect(throws: APIMisuse.self) { try await caller.addTrack(picture) }
    await #expect(throws: APIMisuse.self) { try await caller.addTransceiver(.audio, track: picture) }
    let sound = OutgoingTrack.audio(pair.loop.makeAudioTrack())
    await #expect(throws: APIMisuse.self) { try await caller.replaceTrack(screen, with: sound) }
    try await caller.stop(screen)
    await #expect(throws: APIMisuse.self) { try await caller.removeTrack(screen) }
    let fresh = PeerConnection(on: pair.loop)
    await #expect(throws: NegotiationFailure.self) { try await fresh.rollback() }
    await fresh.close()
    await #expect(throws: NegotiationFailure.self) { try await fresh.addTrack(sound) }
    await pair.close()
  }
}
