import CLinux
import Glibc
package import RTCPrimitives

/// One non-blocking UDP socket of one IP version, with its memory for batches. Owned by one thread.
final class UDPSocket {
  private let descriptor: FileDescriptor
  let port: UInt16
  private let isV6: Bool
  private var queue = SendQueue()
  /// For runs that the kernel would not cut.
  private var singles = SendQueue()
  private var queueDrops: UInt32 = 0
  /// Remote addresses on whose way the kernel refused a segmented send that worked one by one, mostly because
  /// datagrams are longer than the path's MTU.
  private var unsegmented: Set<IPAddress> = []
  private var segments: Bool
  /// The routes by which the kernel refused to send, since they were last taken; each once, and a few of them.
  private(set) var refusals: [SendRefusal] = []
  private static let maximumRefusals = 64

  init(_ address: SocketAddress, _ options: UDPPort.Options) throws(SystemError) {
    let port = address.port == 0 ? "A free UDP port" : "UDP port \(address.port)"
    let subject = "\(port) on \(address.ip)"
    isV6 = !address.ip.isV4
    descriptor = FileDescriptor(
      owning: try SystemError.check(clinux_udp_open(isV6 ? 1 : 0), call: "socket", subject: subject))
    clinux_udp_set_buffers(
      descriptor.number, Int32(clamping: options.receiveBufferSize), Int32(clamping: options.sendBufferSize))
    var name = clinux_address(address)
    try SystemError.check(unsafe clinux_udp_bind(descriptor.number, &name), call: "bind", subject: subject)
    try SystemError.check(unsafe clinux_udp_bound(descriptor.number, &name), call: "getsockname", subject: subject)
    self.port = name.port
    segments = options.usesSegmentation
  }

  var number: Int32 { descriptor.number }

  // MARK: - Sending

  /// How many datagrams a run to `remote` may have.
  func runLimit(to remote: IPAddress) -> Int {
    guard segments else { return 1 }
    return unsegmented.isEmpty || !unsegmented.contains(remote) ? SendRun.maximumCount : 1
  }

  /// Queues `run`, whose bytes lie in `buffer`, and sends when the queue is full.
  @unsafe
  func send(_ run: SendRun, in buffer: UnsafeRawBufferPointer, _ counters: inout NetCounters) {
    unsafe queue.append(run, in: buffer)
    if queue.isFull { unsafe flush(buffer, &counters) }
  }

  /// Sends the queued datagrams. Never blocks: datagrams that the kernel does not take now are dropped and counted.
  @unsafe
  func flush(_ buffer: UnsafeRawBufferPointer, _ counters: inout NetCounters) {
    var next = 0
    while next < queue.count {
      let result = queue.send(on: number, from: next)
      counters.sendCalls += 1
      if result > 0 {
        for i in next..<next + result { counters.countSent(queue.run(i)) }
        next += result
        continue
      }
      let run = queue.run(next)
      if run.count > 1, Self.refusesSegmentation(-result) {
        counters.segmentationRefusals += 1
        if unsafe sendSingly(run, in: buffer, &counters) { remember(refusal: Int32(-result), of: run) }
        next += 1
      } else {
        next += giveUp(queue, from: next, errno: Int32(-result), &counters)
      }
    }
    queue.removeAll()
  }

  /// - Returns: true when at least one datagram went out.
  @unsafe
  private func sendSingly(_ run: SendRun, in buffer: UnsafeRawBufferPointer, _ counters: inout NetCounters) -> Bool {
    for i in 0..<run.count { unsafe singles.append(run.datagram(i), in: buffer) }
    var next = 0
    var sent = 0
    while next < singles.count {
      let result = singles.send(on: number, from: next)
      counters.sendCalls += 1
      if result > 0 {
        for i in next..<next + result { counters.countSent(singles.run(i)) }
        next += result
        sent += result
      } else {
        next += giveUp(singles, from: next, errno: Int32(-result), &counters)
      }
    }
    singles.removeAll()
    return sent > 0
  }

  private func remember(refusal errno: Int32, of run: SendRun) {
    if errno == EIO {  // the device cannot fill in checksums, which holds for every run
      segments = false
      return
    }
    if unsegmented.count >= 64 { unsegmented.removeAll() }
    unsegmented.insert(run.route.remote.ip)
  }

  /// Counts the runs that are given up because of `errno`, up to the returned number.
  private func giveUp(
    _ queue: borrowing SendQueue, from next: Int, errno: Int32, _ counters: inout NetCounters
  ) -> Int {
    switch errno {
    case EINTR: return 0
    case EAGAIN:  // the socket's buffer is full, for everyone
      for i in next..<queue.count { counters.droppedFull += queue.run(i).count }
      return queue.count - next
    case ENOBUFS, ENOMEM: counters.droppedFull += queue.run(next).count
    case EMSGSIZE where queue.run(next).count == 1:
      // The interface's MTU is below 1,280 bytes, which all our datagrams fit: send them in fragments rather than not
      // at all.
      clinux_udp_set_fragments(number, isV6 ? 1 : 0, 1)
      let result = queue.send(on: number, from: next, limit: 1)
      clinux_udp_set_fragments(number, isV6 ? 1 : 0, 0)
      if result > 0 { counters.countSent(queue.run(next)) } else { counters.droppedRefused += 1 }
    default:
      counters.droppedRefused += queue.run(next).count
      note(SendRefusal(route: queue.run(next).route, errno: errno))
    }
    return 1
  }

  private func note(_ refusal: SendRefusal) {
    guard refusals.count < Self.maximumRefusals, !refusals.contains(where: { $0.route == refusal.route }) else {
      return
    }
    refusals.append(refusal)
  }

  /// Appends the routes that were refused, and forgets them.
  func takeRefusals(into taken: inout [SendRefusal]) {
    guard !refusals.isEmpty else { return }
    taken += refusals
    refusals.removeAll(keepingCapacity: true)
  }

  private static func refusesSegmentation(_ errno: Int) -> Bool {
    switch Int32(errno) {
    case EIO, EINVAL, EMSGSIZE, EOPNOTSUPP, ENOPROTOOPT: true
    default: false
    }
  }

  // MARK: - Receiving

  /// Takes one batch of waiting datagrams.
  /// - Returns: true when more may be waiting.
  func receive(
    _ slots: inout ReceiveSlots, _ counters: inout NetCounters, _ body: (inout MutableSpan<UInt8>, Route) -> Void
  ) -> Bool {
    let count = slots.receive(on: number)
    counters.receiveCalls += 1
    guard count > 0 else {
      return -count == Int(ECONNREFUSED) || -count == Int(EHOSTUNREACH)  // a reported ICMP error, now cleared
    }
    let before = queueDrops
    for i in 0..<count {
      if let length = slots.take(i, port: port, drops: &queueDrops, body) {
        counters.receivedDatagrams += 1
        counters.receivedBytes += length
      } else {
        counters.malformedDatagrams += 1
      }
    }
    counters.receiveQueueDrops += Int(queueDrops &- before)
    return count == ReceiveSlots.count
  }
}

extension NetCounters {
  fileprivate mutating func countSent(_ run: SendRun) {
    sentDatagrams += run.count
    sentBytes += run.byteCount
    if run.count > 1 { segmentedDatagrams += run.count }
  }
}

/// A route by which the kernel would not send: there is no way, the source address is gone, a firewall forbids it.
package struct SendRefusal: Hashable, Sendable {
  /// The route of the datagram.
  package let route: Route
  /// The kernel's error number, such as `ENETUNREACH`.
  package let errno: Int32
}
