import Glibc
import RTCPrimitives

/// The UDP ports of a loop, by the numbers that routes have for them. Owned by the loop's thread.
struct UDPPorts {
  private var ports: [UInt16: UDPPort] = [:]
  /// The first one, which nearly all datagrams leave by.
  private let first: UDPPort
  private var next: UInt16 = 1
  /// The counters of closed ports.
  private var formerCounters = NetCounters()
  /// The ports with queued datagrams, while a batch is sent.
  private var queued: [UDPPort] = []
  private var hasRefusals = false

  init(_ first: UDPPort) {
    self.first = first
    ports[0] = first
  }

  /// A route may name a port that has gone: a number is given again only after all others were.
  mutating func add(_ port: UDPPort) throws(SystemError) -> UInt16 {
    guard ports.count <= UInt16.max else {
      throw SystemError(errno: EMFILE, call: "epoll_ctl", subject: "Another UDP port")
    }
    while ports[next] != nil { next &+= 1 }
    defer { next &+= 1 }
    ports[next] = port
    return next
  }

  mutating func remove(_ number: UInt16) -> UDPPort? {
    precondition(number != 0, "The first UDP port of a loop stays")
    guard let port = ports.removeValue(forKey: number) else { return nil }
    formerCounters.add(port.counters)
    return port
  }

  subscript(number: UInt16) -> UDPPort? { number == 0 ? first : ports[number] }

  var counters: NetCounters {
    var sum = formerCounters
    for port in ports.values { sum.add(port.counters) }
    return sum
  }

  /// Sends each datagram by the port of its route, in order for each port; see `UDPPort.send`. Datagrams of other kinds
  /// of routes, and of closed ports, are left out.
  mutating func send(_ batch: borrowing DatagramBatch) {
    let entries = batch.entries
    guard !entries.isEmpty else { return }
    let bytes = batch.bytes
    unsafe bytes.withUnsafeBytes { buffer in
      var index = 0
      while index < entries.count {
        guard case .udp(let number) = entries[index].route.kind, let port = self[number] else {
          index += 1
          continue
        }
        if !port.isQueued {
          port.isQueued = true
          queued.append(port)
        }
        index = unsafe port.enqueue(entries, from: index, in: buffer)
      }
      for port in queued {
        port.isQueued = false
        unsafe port.flush(buffer)
        if port.hasRefusals { hasRefusals = true }
      }
      queued.removeAll(keepingCapacity: true)
    }
  }

  mutating func takeRefusals(into taken: inout [SendRefusal]) {
    guard hasRefusals else { return }
    hasRefusals = false
    for port in ports.values { port.takeRefusals(into: &taken) }
  }
}
