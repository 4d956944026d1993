import Glibc
import RTCNet
import RTCPrimitives
import Synchronization
import Testing

/// TCP on a loop.
@Suite(.timeLimit(.minutes(1))) struct TCPConnectionTests {
  @Test func `bytes go both ways between a connection and a listener of one loop`() throws {
    let fixture = try LoopFixture()
    let ends = TCPEnds()
    fixture.loop.post { [loop = fixture.loop] in ends.open(on: loop) { $0 + $0 } }
    fixture.loop.post { ends.sendWhenConnected = Array("hello".utf8) }
    #expect(String(decoding: ends.received.wait(for: 1)[0], as: UTF8.self) == "hellohello")
    fixture.loop.post { ends.accepted?.close() }
    #expect(ends.endings.wait(for: 1) == ["closed by the remote end"])
  }

  @Test func `what the remote end does not take waits in a bounded queue, and the rest is refused whole`() throws {
    let fixture = try LoopFixture()
    let ends = TCPEnds()
    let counts = Inbox<Int>()
    fixture.loop.post { [loop = fixture.loop] in
      ends.open(on: loop) { _ in [] }
    }
    let part = [UInt8](repeating: 1, count: 1 << 16)
    #expect(ends.connections.wait(for: 1).count == 1)
    fixture.loop.post {
      guard let connection = ends.connection else { return }
      var taken = 0
      // The loop is busy here, so that nobody reads.
      while connection.send(part.span) { taken += part.count }
      #expect(connection.queuedBytes <= 100_000 && connection.queuedBytes > 100_000 - part.count)
      counts.append(taken)
    }
    let sent = counts.wait(for: 1)[0]
    // All of it arrives once it is read.
    var arrived = 0
    while arrived < sent, !Task.isCancelled { arrived = ends.arrived.load(ordering: .relaxed) }
    #expect(arrived == sent)
  }

  @Test func `a port that nobody listens on is refused with a sentence`() throws {
    let fixture = try LoopFixture()
    let closed = SocketAddress(ip: .loopbackV4, port: try { try UDPPort().number }())
    let ends = TCPEnds()
    fixture.loop.post { [loop = fixture.loop] in ends.connect(to: closed, on: loop) }
    #expect(ends.endings.wait(for: 1)[0].hasPrefix("TCP to \(closed): Connection refused"))
  }
}

/// Both ends of a connection on one loop.
private final class TCPEnds: TCPConnectionDelegate, @unchecked Sendable {
  // Why unchecked: used on the loop's thread alone, but for what is safe to share.
  var listener: TCPListener?
  var connection: TCPConnection?
  var accepted: TCPConnection?
  var sendWhenConnected: [UInt8]? { didSet { sendNow() } }
  private var answer: ([UInt8]) -> [UInt8] = { _ in [] }
  private var isConnected = false
  let connections = Inbox<Bool>()
  let received = Inbox<[UInt8]>()
  let endings = Inbox<String>()
  let arrived = Atomic(0)

  func open(on loop: EventLoop, _ answer: @escaping ([UInt8]) -> [UInt8]) {
    self.answer = answer
    do {
      listener = try TCPListener(SocketAddress(ip: .loopbackV4, port: 0), on: loop) { [weak self] connection, _ in
        guard let self else { return }
        accepted = connection
        connection.setDelegate(self)
      }
      connect(to: listener!.local, on: loop)
    } catch {
      Issue.record("\(error)")
    }
  }

  func connect(to address: SocketAddress, on loop: EventLoop) {
    do {
      connection = try TCPConnection(to: address, on: loop, queueLimit: 100_000, delegate: self)
    } catch {
      endings.append("\(error)")
    }
  }

  private func sendNow() {
    if isConnected, let sendWhenConnected { _ = connection?.send(sendWhenConnected.span) }
  }

  func connected(_ connection: TCPConnection, now: Timestamp) {
    isConnected = true
    connections.append(true)
    sendNow()
  }

  func received(_ bytes: Span<UInt8>, from connection: TCPConnection, now: Timestamp) {
    if connection === accepted {
      arrived.add(bytes.count, ordering: .relaxed)
      let answer = answer(bytes.indices.map { bytes[$0] })
      if !answer.isEmpty { _ = connection.send(answer.span) }
    } else {
      received.append(bytes.indices.map { bytes[$0] })
    }
  }

  func ended(_ connection: TCPConnection, _ error: SystemError?, now: Timestamp) {
    endings.append(error.map { "\($0)" } ?? "closed by the remote end")
  }
}
