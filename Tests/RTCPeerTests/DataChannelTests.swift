import FeatureKit
import RTCEngine
import RTCPeer
import RTCSCTP
import Synchronization
import Testing

/// Two connections of one process over loopback sockets.
@Suite(.timeLimit(.minutes(1))) struct DataChannelTests {
  private struct Ends {
    let loops: [PeerLoop]
    let caller: PeerConnection
    let callee: PeerConnection

    init() throws {
      var options = PeerLoop.Options()
      options.includesLoopback = true
      loops = try [PeerLoop(options), PeerLoop(options)]
      caller = PeerConnection(on: loops[0])
      callee = PeerConnection(on: loops[1])
    }

    func exchange() async throws {
      let offer = try await caller.setLocalDescription()
      try await callee.setRemoteDescription(offer)
      try await caller.setRemoteDescription(try await callee.setLocalDescription())
    }

    func close() async {
      await caller.close()
      await callee.close()
      for loop in loops { loop.stop() }
    }

    /// The next channel that the caller opened.
    func opened() async -> DataChannel? {
      for await event in callee.events { if case .dataChannelOpened(let channel) = event { return channel } }
      return nil
    }
  }

  @Test(.feature("S0.22", "S0.67")) func `what one side creates the other is given, and messages go both ways`()
    async throws
  {
    let ends = try Ends()
    let near = try await ends.caller.createDataChannel("chat")
    #expect(near.readyState == .connecting && near.id == nil)
    #expect(throws: DataChannelError.notOpen) { try near.send("too early") }
    try await ends.exchange()
    let far = try #require(await ends.opened())
    #expect(await isOpen(near))
    #expect(far.label == "chat" && far.isOrdered && far.id == near.id && near.maximumMessageSize == 262_144)
    try near.send("hello")
    try near.send([])
    try far.send([UInt8](repeating: 9, count: 262_144))
    var received = far.messages.makeAsyncIterator()
    #expect(await received.next() == .text("hello"))
    #expect(await received.next() == .binary([]))
    var back = near.messages.makeAsyncIterator()
    #expect(await back.next() == .binary([UInt8](repeating: 9, count: 262_144)))
    #expect(throws: DataChannelError.messageTooLong(limit: 262_144)) {
      try near.send([UInt8](repeating: 0, count: 262_145))
    }
    near.close()
    #expect(await received.next() == nil)
    #expect(far.readyState == .closed)
    await ends.close()
  }

  @Test(.feature("S0.23")) func `a channel without retransmissions is one on both sides`() async throws {
    let ends = try Ends()
    let near = try await ends.caller.createDataChannel(
      "state", DataChannelParameters(isOrdered: false, reliability: .maximumRetransmissions(0)))
    try await ends.exchange()
    let far = try #require(await ends.opened())
    for channel in [near, far] {
      #expect(channel.maxRetransmits == 0 && channel.maxPacketLifeTime == nil && !channel.isOrdered)
    }
    await ends.close()
  }

  private final class Recorder: DataChannelDelegate {
    struct Log: Sendable {
      var states: [DataChannelState] = []
      var buffers: [DataBuffer] = []
      var waiter: AsyncStream<Void>.Continuation?
    }
    let log = Mutex(Log())

    func dataChannelDidChangeState(_ channel: DataChannel) {
      let waiter = log.withLock { log in
        log.states.append(channel.readyState)
        defer { log.waiter = nil }
        return log.waiter
      }
      waiter?.finish()
    }

    func dataChannel(_ channel: DataChannel, didReceiveMessageWith buffer: DataBuffer) {
      log.withLock { $0.buffers.append(buffer) }
    }

    /// Returns without, once the test's time is over.
    func becomes(_ state: DataChannelState) async {
      while !Task.isCancelled {
        let (change, waiter) = AsyncStream.makeStream(of: Void.self)
        let isThere = log.withLock { log in
          log.waiter = waiter
          return log.states.last == state
        }
        if isThere { return }
        for await _ in change {}
      }
    }
  }

  @Test(.feature("S0.24", "S0.25", "S0.26"))
  func `a delegate hears of states and messages, those before it was set included`()
    async throws
  {
    let ends = try Ends()
    let near = try await ends.caller.createDataChannel("chat")
    let recorder = Recorder()
    near.setDelegate(recorder)
    try await ends.exchange()
    let far = try #require(await ends.opened())
    await recorder.becomes(.open)
    try far.send("one")
    try far.send([2])
    far.close()
    await recorder.becomes(.closed)
    let log = recorder.log.withLock { ($0.buffers, $0.states) }
    #expect(log.0 == [DataBuffer(data: Array("one".utf8), isBinary: false), DataBuffer(data: [2], isBinary: true)])
    #expect(log.1.last == .closed)
    await ends.close()
  }

  @Test(.feature("S0.17")) func `channels opened in a batch come by one offer`() async throws {
    let ends = try Ends()
    await ends.caller.startConfiguration()
    let channels = [try await ends.caller.createDataChannel("a"), try await ends.caller.createDataChannel("b")]
    await ends.caller.commitConfiguration()
    try await ends.exchange()
    for channel in channels { #expect(await isOpen(channel)) }
    await ends.close()
    var needed = 0
    for await event in ends.caller.events { if case .negotiationNeeded = event { needed += 1 } }
    #expect(needed == 1)
  }

  @Test func `a reader that takes its time gets everything, and the sender is held back`() async throws {
    let ends = try Ends()
    let near = try await ends.caller.createDataChannel("file")
    try await ends.exchange()
    let far = try #require(await ends.opened())
    #expect(await isOpen(near))
    let block = [UInt8](repeating: 5, count: 100_000)
    // 14 MB: more than anybody keeps on the way.
    for _ in 0..<140 { try near.send(block) }
    // Until the 4 MiB that may wait for a reader do.
    while near.bufferedAmount > 9_800_000, !Task.isCancelled { await Task.yield() }
    var count = 0
    for await message in far.messages {
      count += message.size
      if count == 14_000_000 { break }
    }
    #expect(count == 14_000_000)
    await ends.close()
  }

  @Test func `the end of a connection ends its channels' events on both sides`() async throws {
    let ends = try Ends()
    let near = try await ends.caller.createDataChannel("chat")
    try await ends.exchange()
    let far = try #require(await ends.opened())
    #expect(await isOpen(near))
    await ends.caller.close()
    for channel in [near, far] { for await _ in channel.events {} }
    #expect(near.readyState == .closed && far.readyState == .closed)
    await #expect(throws: DataChannelError.ended) { try await ends.caller.createDataChannel("late") }
    await ends.close()
  }
}
