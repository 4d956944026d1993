import FuzzSCTPBody
import RTCPrimitives
import RTCSCTP
import RTCWire
import Testing

/// The maximum memory that a peer without rules can use.
@Suite struct MemoryLimitTests {
  private func open(_ label: String = "") -> [UInt8] {
    let open = DataChannelOpen(label: label)
    var bytes = [UInt8](repeating: 0, count: open.size)
    var writer = ByteWriter(bytes.mutableSpan)
    open.write(into: &writer)
    return bytes
  }

  @Test func `the forged client is believed when it keeps the rules`() throws {
    var peer = ForgedClient()
    peer.sendData(open("chat"), flags: 3, stream: 0, number: 0, protocol: 50)
    peer.sendData(Array("hello".utf8), flags: 3, stream: 0, number: 1, protocol: 51)
    guard case .incoming(let handle, let parameters)? = peer.events.dropFirst().first else {
      Issue.record("no channel: \(peer.events)")
      return
    }
    #expect(parameters.label == "chat")
    #expect(peer.events.last == .message(handle, .text("hello")))
  }

  @Test func `messages begun and never ended fill the receive buffer and no more`() throws {
    var peer = ForgedClient()
    let first = peer.nextTSN
    let block = [UInt8](repeating: 7, count: 1_000)
    for i in 0..<20_000 where peer.server.nextDeadline != .distantFuture {
      peer.sendData(block, flags: ForgedClient.begins, stream: UInt16(i % 1_000), number: 0, protocol: 53)
    }
    peer.pass(.seconds(1))
    // 20 MB came; what cannot be kept is dropped.
    #expect(Int(peer.acknowledged &- first) * 1_000 <= peer.server.options.receiveBuffer)
    #expect(peer.window < 2_000 && peer.server.nextDeadline != .distantFuture)
  }

  @Test func `a message that never ends is taken up to the longest allowed`() throws {
    var peer = ForgedClient()
    peer.sendData(open(), flags: 3, stream: 0, number: 0, protocol: 50)
    let block = [UInt8](repeating: 7, count: 1_000)
    peer.sendData(block, flags: ForgedClient.begins, stream: 0, number: 1, protocol: 53)
    for _ in 0..<20_000 { peer.sendData(block, flags: 0, stream: 0, number: 1, protocol: 53) }
    #expect(!peer.events.contains { if case .message = $0 { true } else { false } })
    // What breaks the rule is counted, and the association goes on.
    #expect(peer.server.violations > 0 && peer.server.nextDeadline != .distantFuture)
  }

  @Test func `what follows a gap that is never filled is kept up to the receive buffer`() throws {
    var peer = ForgedClient()
    let first = peer.nextTSN
    let block = [UInt8](repeating: 7, count: 1_000)
    for i in 1..<20_000 {
      peer.sendData(block, flags: 3, stream: 0, number: UInt16(i), protocol: 53, tsn: first &+ UInt32(i))
    }
    peer.pass(.seconds(1))
    #expect(peer.window < 2_000)
  }

  @Test func `a peer that opens channels without end gets as many as were agreed`() throws {
    var options = DataChannelOptions()
    options.maximumStreams = 32
    var peer = ForgedClient(options: options)
    for i in 0..<2_000 {
      peer.sendData(open("a label"), flags: 3, stream: UInt16(i % 500), number: 0, protocol: 50)
      peer.acknowledge()
    }
    let opened = peer.events.filter { if case .incoming = $0 { true } else { false } }
    #expect(opened.count <= 16)
  }

  @Test func `a peer that asks and never acknowledges is given up, with all that waited for it`() throws {
    var peer = ForgedClient()
    for i in 0..<500 { peer.sendData(open("x"), flags: 3, stream: UInt16(i * 2), number: 0, protocol: 50) }
    for _ in 0..<300 where peer.server.nextDeadline != .distantFuture { peer.pass(.seconds(1)) }
    #expect(peer.events.last == .ended(.timeout))
  }

  @Test func `B12: overlong messages take room while nobody reads`() throws {
    var options = DataChannelOptions()
    options.maximumMessageSize = 100
    var peer = ForgedClient(options: options)
    peer.sendData(open(), flags: 3, stream: 0, number: 0, protocol: 50)
    peer.setReceiving(false)
    let first = peer.nextTSN
    let block = [UInt8](repeating: 7, count: 101)
    for number in 1...20_000 { peer.sendData(block, flags: 7, stream: 0, number: UInt16(number), protocol: 53) }
    peer.pass(.seconds(1))
    // Each takes 96 bytes of the receive buffer, however short it is.
    #expect(Int(peer.acknowledged &- first) * 96 <= peer.server.options.receiveBuffer && peer.window < 2_000)
    peer.setReceiving(true)
    #expect(peer.server.violations > 1_000)
    peer.pass(.seconds(1))
    #expect(peer.window > 500_000)
  }

  @Test func `B12: a restart does not empty the window of what nobody has read`() throws {
    var peer = ForgedClient()
    peer.sendData(open(), flags: 3, stream: 0, number: 0, protocol: 50)
    peer.setReceiving(false)
    let block = [UInt8](repeating: 7, count: 1_000)
    for round in 0..<4 as Range<UInt64> {
      for number in 1...2_000 { peer.sendData(block, flags: 3, stream: 0, number: UInt16(number), protocol: 53) }
      peer.beginAnew(seed: round + 7, echoes: true)
    }
    peer.setReceiving(true)
    let bytes = peer.events.reduce(0) { if case .message(_, .binary(let bytes)) = $1 { $0 + bytes.count } else { $0 } }
    #expect((500_000...peer.server.options.receiveBuffer).contains(bytes))
    #expect(peer.events.last == .ended(.closedByPeer))
  }
}
