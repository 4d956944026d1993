import RTCEngine
import RTCMedia
import RTCNet
import RTCPage
import RTCPeer
import RTCPrimitives
import RTCSCTP
import RTCSignaling
import RTCast
import Testing

/// A broadcast of a screen, and a viewer that says what the page says.
@Suite(.timeLimit(.minutes(1))) struct ExactPixelsTests {
  private static let size = PixelSize(width: 1_000, height: 300)

  private static var loop: PeerLoop {
    get throws {
      var options = PeerLoop.Options()
      options.includesLoopback = true
      return try PeerLoop(options)
    }
  }

  /// One that is connected; the channel is open or will be.
  private func viewer(
    of broadcast: Broadcast, on loop: PeerLoop, protocol name: String = ExactMessage.channelProtocol
  ) async throws -> (PeerConnection, DataChannel) {
    var configuration = PeerConnection.Configuration()
    configuration.receivesVideo = true
    let viewer = PeerConnection(on: loop, configuration: configuration)
    var parameters = DataChannelParameters()
    parameters.protocol = name
    let channel = try await viewer.createDataChannel("exact", parameters)
    let session = try await broadcast.whep.open(
      stream: nil, offer: try await viewer.createOffer(), remote: "127.0.0.1")
    try await viewer.accept(answer: session.answer)
    return (viewer, channel)
  }

  private func send(_ message: ExactViewerMessage, on channel: DataChannel) throws { try channel.send(message.bytes) }

  @Test func `whoever opens the channel is sent the whole picture, and what changes`() async throws {
    let (ours, theirs) = (try Self.loop, try Self.loop)
    let source = HandCapturer(size: Self.size, isScreencast: true)
    let broadcast = Broadcast(source, peers: ours)
    try await broadcast.start()
    source.show(40, at: MonotonicClock.now())
    let (connection, channel) = try await viewer(of: broadcast, on: theirs)
    var missing = BlockSet(Self.size)
    missing.insertAll()
    var (begins, voids) = (0, 0)
    for await event in channel.events {
      switch event {
      case .stateChanged(.open): try send(.ready(isVisible: true), on: channel)
      case .message(.binary(let bytes)):
        var reader = ByteReader(bytes.span)
        let kind = reader.readUInt8().flatMap(ExactMessage.Kind.init)
        _ = reader.readUInt32()
        switch kind {
        case .begin: begins += 1
        case .void: if reader.readUInt16() ?? 0 > 0 { voids += 1 }
        case .rectangle:
          let number = reader.readUInt32() ?? 0
          let numbers = (0..<4).compactMap { _ in reader.readUInt16() }.map { Int($0) }
          guard numbers.count == 4 else {
            Issue.record("a short message")
            continue
          }
          missing.remove(
            BlockRect(
              column: numbers[0] / 16, row: numbers[1] / 16, width: (numbers[2] + 15) / 16,
              height: (numbers[3] + 15) / 16))
          try send(.acknowledgement(number), on: channel)
        case .snapshot: Issue.record("none was named")
        case .cells, .moves: break
        case .keep, .recall, .move: Issue.record("the page keeps and copies nothing")
        case nil: Issue.record("a message of no kind")
        }
        if missing.isEmpty, voids == 0 {
          missing.insertAll()
          source.show(200, at: MonotonicClock.now())
        }
      default: break
      }
      if missing.isEmpty, voids > 0 { break }
    }
    #expect(begins == 1 && voids == 1 && missing.isEmpty)
    await connection.close()
    await broadcast.stop()
    ours.stop()
    theirs.stop()
  }

  @Test func `whoever names the snapshot it has is sent what has changed since, and nothing else`() async throws {
    let (ours, theirs) = (try Self.loop, try Self.loop)
    let source = HandCapturer(size: Self.size, isScreencast: true)
    let broadcast = Broadcast(source, peers: ours)
    try await broadcast.start()
    source.show(40, at: MonotonicClock.now())
    let number = try #require(await broadcast.whep.snapshot()?.number)
    // Nobody watches yet, and a picture that is the same is taken meanwhile.
    source.show(40, at: MonotonicClock.now())
    let (connection, channel) = try await viewer(of: broadcast, on: theirs)
    var kinds: [ExactMessage.Kind] = []
    for await event in channel.events {
      switch event {
      case .stateChanged(.open): try send(.ready(isVisible: true, snapshot: number), on: channel)
      case .message(.binary(let bytes)):
        // What is told of frames in between says nothing here.
        guard let kind = ExactMessage.Kind(rawValue: bytes[0]), ![.void, .cells, .moves].contains(kind) else { break }
        kinds.append(kind)
        if kind == .snapshot {
          #expect(bytes[5...].elementsEqual([0, 0]), "nothing has changed")
          source.show(200, at: MonotonicClock.now())
        }
      default: break
      }
      if kinds.count == 3 { break }
    }
    #expect(kinds == [.begin, .snapshot, .rectangle])
    await connection.close()
    await broadcast.stop()
    ours.stop()
    theirs.stop()
  }

  @Test(arguments: [true, false]) func `a channel that says what no page says is closed`(isOther: Bool) async throws {
    let (ours, theirs) = (try Self.loop, try Self.loop)
    let source = HandCapturer(size: Self.size, isScreencast: true)
    let broadcast = Broadcast(source, peers: ours)
    try await broadcast.start()
    source.show(40, at: MonotonicClock.now())
    let name = isOther ? "chat" : ExactMessage.channelProtocol
    let (connection, channel) = try await viewer(of: broadcast, on: theirs, protocol: name)
    for await event in channel.events {
      if event == .stateChanged(.open), !isOther { try channel.send([9, 9, 9]) }
    }
    #expect(channel.readyState == .closed)
    await connection.close()
    await broadcast.stop()
    ours.stop()
    theirs.stop()
  }

  @Test func `a thousand who ask for the picture get one encode`() async throws {
    let loop = try Self.loop
    let source = HandCapturer(size: Self.size, isScreencast: true)
    let broadcast = Broadcast(source, peers: loop)
    #expect(await broadcast.whep.snapshot() == nil, "nothing was captured yet")
    try await broadcast.start()
    source.show(40, at: MonotonicClock.now())
    let door = broadcast.whep
    let pictures = await withTaskGroup(of: CastSnapshot?.self) { group in
      for _ in 0..<1_000 { group.addTask { await door.snapshot() } }
      return await group.reduce(into: [CastSnapshot?]()) { if !$0.contains($1) { $0.append($1) } }
    }
    #expect(pictures.count == 1)
    #expect(pictures.first??.webP.prefix(4).elementsEqual("RIFF".utf8) == true)
    await broadcast.stop()
    #expect(await door.snapshot() == nil)
    loop.stop()
  }

  @Test func `pictures that are no screen's are never sent`() async throws {
    let loop = try Self.loop
    let source = HandCapturer(size: Self.size)
    let broadcast = Broadcast(source, peers: loop)
    try await broadcast.start()
    source.show(40, at: MonotonicClock.now())
    #expect(await broadcast.whep.snapshot() == nil)
    try await broadcast.replaceSource(MediaSource(video: HandCapturer(size: Self.size, isScreencast: true)))
    await broadcast.stop()
    loop.stop()
  }
}
