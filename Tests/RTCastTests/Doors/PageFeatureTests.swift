import RTCEngine
import RTCNet
import RTCPeer
import RTCPrimitives
import RTCSCTP
import RTCSignaling
import RTCast
import Synchronization
import Testing

/// A chat of viewers: a page feature in one type.
private final class Chat: PageFeature {
  private final class Line: DataChannelDelegate {
    private let onMessage: @Sendable (DataBuffer) -> Void
    init(onMessage: @escaping @Sendable (DataBuffer) -> Void) { self.onMessage = onMessage }
    func dataChannelDidChangeState(_ channel: DataChannel) {}
    func dataChannel(_ channel: DataChannel, didReceiveMessageWith buffer: DataBuffer) { onMessage(buffer) }
  }

  private let lines = Mutex<[String: (channel: DataChannel, line: Line)]>([:])
  var viewers: Int { lines.withLock { $0.count } }

  func accept(_ channel: DataChannel, of connection: PeerConnection) async -> Bool {
    guard channel.protocol == "example-chat.1" else { return false }
    let line = Line { [weak self] in self?.say($0) }
    lines.withLock { $0[connection.id] = (channel, line) }
    channel.setDelegate(line)
    return true
  }

  func handle(_ event: PeerConnectionEvent, of connection: PeerConnection) async {
    if case .stateChanged(.ended) = event { lines.withLock { $0[connection.id] = nil } }
  }

  func stop() { lines.withLock { $0 = [:] } }

  private func say(_ message: DataBuffer) {
    for (channel, _) in lines.withLock({ Array($0.values) }) { try? channel.send(message.data) }
  }
}

/// A feature of the page is given to a broadcast, and nothing else knows of it.
@Suite(.timeLimit(.minutes(1))) struct PageFeatureTests {
  private static var loop: PeerLoop {
    get throws {
      var options = PeerLoop.Options()
      options.includesLoopback = true
      return try PeerLoop(options)
    }
  }

  private func page(
    of broadcast: Broadcast, on loop: PeerLoop, _ name: String
  ) async throws -> (PeerConnection, DataChannel) {
    var configuration = PeerConnection.Configuration()
    configuration.receivesVideo = true
    let connection = PeerConnection(on: loop, configuration: configuration)
    var parameters = DataChannelParameters()
    parameters.protocol = name
    let channel = try await connection.createDataChannel("chat", parameters)
    let session = try await broadcast.whep.open(
      stream: nil, offer: try await connection.createOffer(), remote: "127.0.0.1")
    try await connection.accept(answer: session.answer)
    return (connection, channel)
  }

  private func isOpen(_ channel: DataChannel) async -> Bool {
    for await event in channel.events where event == .stateChanged(.open) { return true }
    return false
  }

  @Test func `viewers' pages talk by a feature that a broadcast was given`() async throws {
    let (ours, theirs) = (try Self.loop, try Self.loop)
    var options = Broadcast.Options()
    let chat = Chat()
    options.pageFeatures = [chat]
    let source = HandCapturer()
    let broadcast = Broadcast(source, options: options, peers: ours)
    try await broadcast.start()
    source.show(40, at: MonotonicClock.now())
    let (first, one) = try await page(of: broadcast, on: theirs, "example-chat.1")
    #expect(await isOpen(one))
    try one.send([1, 2, 3])
    for await event in one.events { if case .message(.binary([1, 2, 3])) = event { break } }
    #expect(chat.viewers == 1)
    // No feature takes this one.
    let (second, other) = try await page(of: broadcast, on: theirs, "unknown.1")
    for await event in other.events where event == .stateChanged(.closed) { break }
    #expect(other.readyState == .closed)
    await first.close()
    await second.close()
    await broadcast.stop()
    #expect(chat.viewers == 0)
    ours.stop()
    theirs.stop()
  }
}
