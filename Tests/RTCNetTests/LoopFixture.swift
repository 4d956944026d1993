import Dispatch
import RTCNet
import RTCPrimitives
import Synchronization
import Testing

/// Values that arrive from a loop, for a test to wait for.
final class Inbox<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])
  private let arrived = DispatchSemaphore(value: 0)

  func append(_ value: Value) {
    values.withLock { $0.append(value) }
    arrived.signal()
  }

  var all: [Value] { values.withLock { $0 } }

  /// The values so far, once `count` more than at earlier calls have arrived; a failure after ten seconds.
  func wait(for count: Int, _ location: SourceLocation = #_sourceLocation) -> [Value] {
    let limit = DispatchTime.now() + .seconds(10)
    for i in 0..<count where arrived.wait(timeout: limit) == .timedOut {
      Issue.record("only \(i) of \(count) arrived in ten seconds", sourceLocation: location)
      break
    }
    return all
  }
}

struct Datagram: Sendable {
  var bytes: [UInt8]
  var route: Route
}

/// Puts what arrives into an inbox; with `echoes`, sends it back with all bits flipped in place.
final class Recorder: LoopHandler {
  private let loop: EventLoop
  private let inbox: Inbox<Datagram>
  private let echoes: Bool
  private var batch = DatagramBatch()
  let nextDeadline = Timestamp.distantFuture

  init(_ loop: EventLoop, _ inbox: Inbox<Datagram>, echoes: Bool = false) {
    self.loop = loop
    self.inbox = inbox
    self.echoes = echoes
  }

  func datagram(_ bytes: inout MutableSpan<UInt8>, route: Route, now: Timestamp) {
    if echoes {
      for i in bytes.indices { bytes[i] = ~bytes[i] }
      batch.append(bytes.span, to: route)
    }
    inbox.append(Datagram(bytes: bytes.indices.map { bytes[$0] }, route: route))
  }

  func deadlineReached(now: Timestamp) {}

  func endOfBatch(now: Timestamp) {
    loop.send(batch)
    batch.removeAll()
  }
}

/// A running loop that records what arrives.
final class LoopFixture: Sendable {
  let loop: EventLoop
  let inbox = Inbox<Datagram>()

  init(_ options: UDPPort.Options = .init(), echoes: Bool = false, adjust: (UDPPort) -> Void = { _ in }) throws {
    let port = try UDPPort(options)
    adjust(port)
    loop = try EventLoop(port: port)
    let inbox = inbox
    try loop.start { Recorder($0, inbox, echoes: echoes) }
  }

  deinit { loop.stop() }

  func address(_ ip: IPAddress) -> SocketAddress { SocketAddress(ip: ip, port: loop.port) }

  /// A route from this loop to `other` at `ip`, and from it too unless said otherwise.
  func route(to other: LoopFixture, _ ip: IPAddress, from local: IPAddress? = nil) -> Route {
    Route(local: address(local ?? ip), remote: other.address(ip))
  }

  /// Sends `datagrams` as one batch.
  func send(_ datagrams: [Datagram]) {
    loop.post { [loop] in
      var batch = DatagramBatch()
      for datagram in datagrams { batch.append(datagram.bytes.span, to: datagram.route) }
      loop.send(batch)
    }
  }

  /// The counters after everything posted so far has run.
  var counters: NetCounters {
    let answer = Inbox<NetCounters>()
    loop.post { [loop] in answer.append(loop.counters) }
    return answer.wait(for: 1).first ?? NetCounters()
  }
}

/// `count` datagrams of `size` bytes that all differ.
func numbered(_ count: Int, size: Int, to route: Route) -> [Datagram] {
  (0..<count).map { i in
    Datagram(bytes: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ i) }, route: route)
  }
}

/// The loopback addresses this machine has.
let loopbackAddresses: [IPAddress] = {
  let present = (try? NetworkInterfaces.addresses())?.map(\.address) ?? []
  return [.loopbackV4, .loopbackV6].filter(present.contains)
}()
