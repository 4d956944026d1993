import RTCEngine
import RTCMedia
import RTCNet
import RTCPage
import RTCPeer
import RTCPrimitives
import RTCSCTP
import RTCSignaling
import RTCTestKit
import RTCast
import Synchronization
import Testing

/// A screen whose pointer a test moves.
private final class HandScreen: CursorCapturer {
  private let hand = HandCapturer(size: PixelSize(width: 64, height: 48), isScreencast: true)
  private let told = Mutex<(any CursorConsumer)?>(nil)
  private let wishes: AsyncStream<Bool>
  private let feed: AsyncStream<Bool>.Continuation
  let hasCursor: Bool

  init(hasCursor: Bool = true) {
    self.hasCursor = hasCursor
    (wishes, feed) = AsyncStream.makeStream()
  }

  var supportedFormats: [VideoFormat] { hand.supportedFormats }
  var isScreencast: Bool { true }
  func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    hand.startCapture(format: format, consumer: consumer)
  }
  func stopCapture() { hand.stopCapture() }
  func setCursorConsumer(_ consumer: (any CursorConsumer)?) { told.withLock { $0 = consumer } }
  func setDrawsCursor(_ isDrawn: Bool) { feed.yield(isDrawn) }

  var hasConsumer: Bool { told.withLock { $0 != nil } }
  func show(_ grey: UInt8) { hand.show(grey, at: MonotonicClock.now()) }
  func report(_ report: CursorReport) { told.withLock { $0 }?.consume(report) }

  /// Waits until the pointer is wanted in frames, or is not.
  func isTold(_ isDrawn: Bool) async -> Bool {
    while let wish = await wishes.next(within: .seconds(10)) { if wish == isDrawn { return true } }
    return false
  }

  func leaveOut() {
    report(
      .drawing(
        CursorDrawing(isDrawn: false, pictureSize: PixelSize(width: 64, height: 48), since: MonotonicClock.now())))
  }
}

/// A broadcast of a screen with a pointer, and viewers that say what pages say.
@Suite(.timeLimit(.minutes(1))) struct CursorCastTests {
  private static var loop: PeerLoop {
    get throws {
      var options = PeerLoop.Options()
      options.includesLoopback = true
      return try PeerLoop(options)
    }
  }

  private struct Page {
    var connection: PeerConnection
    var everything: DataChannel
    var positions: DataChannel
  }

  private func connect(_ connection: PeerConnection, to broadcast: Broadcast) async throws {
    let session = try await broadcast.whep.open(
      stream: nil, offer: try await connection.createOffer(), remote: "127.0.0.1")
    try await connection.accept(answer: session.answer)
  }

  private func viewer(on loop: PeerLoop) -> PeerConnection {
    var configuration = PeerConnection.Configuration()
    configuration.receivesVideo = true
    return PeerConnection(on: loop, configuration: configuration)
  }

  private func page(of broadcast: Broadcast, on loop: PeerLoop, isReliable: Bool = false) async throws -> Page {
    let connection = viewer(on: loop)
    var parameters = DataChannelParameters()
    parameters.protocol = CursorMessage.channelProtocol
    let everything = try await connection.createDataChannel("cursor", parameters)
    parameters.protocol = CursorMessage.positionProtocol
    if !isReliable { (parameters.isOrdered, parameters.reliability) = (false, .maximumRetransmissions(0)) }
    let positions = try await connection.createDataChannel("cursor positions", parameters)
    try await connect(connection, to: broadcast)
    return Page(connection: connection, everything: everything, positions: positions)
  }

  /// Waits until the channel is open.
  private func say(_ word: CursorViewerMessage, on channel: DataChannel) async throws {
    for await event in channel.events where event == .stateChanged(.open) { return try channel.send(word.bytes) }
  }

  private func messages(_ count: Int, of channel: DataChannel) async -> [[UInt8]] {
    var messages: [[UInt8]] = []
    for await event in channel.events {
      if case .message(.binary(let bytes)) = event { messages.append(bytes) }
      if messages.count == count { break }
    }
    return messages
  }

  @Test func `a page draws the pointer until somebody needs it in the picture`() async throws {
    let (ours, theirs) = (try Self.loop, try Self.loop)
    let source = HandScreen()
    let broadcast = Broadcast(source, peers: ours)
    try await broadcast.start()
    source.show(40)
    #expect(await source.isTold(true))
    let page = try await page(of: broadcast, on: theirs)
    try await say(.ready(.viewer), on: page.everything)
    #expect(await source.isTold(false))
    source.leaveOut()
    source.report(.image(CursorImage(size: PixelSize(width: 1, height: 1), hotX: 0, hotY: 0, pixels: [0xff00_0000])))
    source.report(.position(CursorPosition(x: 3, y: 4)))
    #expect(await messages(3, of: page.everything).map { $0[0] } == [1, 2, 4])
    let other = viewer(on: theirs)
    try await connect(other, to: broadcast)
    #expect(await source.isTold(true), "a viewer that no page of ours is")
    await other.close()
    await page.connection.close()
    await broadcast.stop()
    #expect(!source.hasConsumer)
    ours.stop()
    theirs.stop()
  }

  @Test func `what is recorded has the pointer in it`() async throws {
    let (ours, theirs) = (try Self.loop, try Self.loop)
    let source = HandScreen()
    let broadcast = Broadcast(source, peers: ours)
    try await broadcast.start()
    source.show(40)
    let page = try await page(of: broadcast, on: theirs)
    try await say(.ready(.viewer), on: page.everything)
    #expect(await source.isTold(false))
    broadcast.add(SentFrames())
    #expect(await source.isTold(true))
    await page.connection.close()
    await broadcast.stop()
    ours.stop()
    theirs.stop()
  }

  @Test(arguments: [true, false]) func `a channel that is none of ours, or says what no page says, is closed`(
    isReliable: Bool
  ) async throws {
    let (ours, theirs) = (try Self.loop, try Self.loop)
    let source = HandScreen()
    let broadcast = Broadcast(source, peers: ours)
    try await broadcast.start()
    source.show(40)
    let page = try await page(of: broadcast, on: theirs, isReliable: isReliable)
    for await event in page.positions.events {
      if event == .stateChanged(.open), !isReliable { try page.positions.send([1, 1, 1]) }
    }
    #expect(page.positions.readyState == .closed)
    if !isReliable {
      try page.everything.send([1, 1, 9])
      for await _ in page.everything.events {}
      #expect(page.everything.readyState == .closed)
    }
    await page.connection.close()
    await broadcast.stop()
    ours.stop()
    theirs.stop()
  }

  @Test func `a screen without a pointer is asked nothing`() async throws {
    let loop = try Self.loop
    let source = HandScreen(hasCursor: false)
    let broadcast = Broadcast(source, peers: loop)
    try await broadcast.start()
    #expect(!source.hasConsumer)
    await broadcast.stop()
    loop.stop()
  }

  @Test func `another source takes over with the pointer where it is wanted`() async throws {
    let loop = try Self.loop
    let (first, second) = (HandScreen(), HandScreen())
    let broadcast = Broadcast(first, peers: loop)
    try await broadcast.start()
    #expect(first.hasConsumer)
    try await broadcast.replaceSource(MediaSource(video: second))
    #expect(!first.hasConsumer && second.hasConsumer)
    try await broadcast.replaceSource(MediaSource(video: HandCapturer()))
    #expect(!second.hasConsumer)
    await broadcast.stop()
    loop.stop()
  }
}
