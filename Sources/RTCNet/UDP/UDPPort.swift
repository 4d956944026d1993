import Glibc
package import RTCPrimitives

/// One UDP port number, on IPv4 and IPv6: every peer's packets go through it. Owned by one thread.
package final class UDPPort {
  /// How a port is opened.
  package struct Options: Sendable {
    /// The port number; 0 picks a free one.
    package var port: UInt16 = 0
    /// With `port` 0: a free one of these, tried from a random one on.
    package var portRange: ClosedRange<UInt16>?
    /// Binds to this one address only; nil means every address of both IP versions.
    package var address: IPAddress?
    /// Bytes of kernel buffer asked for receiving, of each IP version.
    package var receiveBufferSize = 4 << 20
    /// Bytes of kernel buffer asked for sending, of each IP version: a 4K key frame to twenty viewers is about 3 MB.
    package var sendBufferSize = 4 << 20
    /// Lets the kernel cut equal datagrams out of one buffer (UDP GSO); off for devices that do it wrongly.
    package var usesSegmentation = true

    /// The defaults, on a free port and every address unless others are given.
    package init(port: UInt16 = 0, address: IPAddress? = nil) {
      self.port = port
      self.address = address
    }
  }

  let v4: UDPSocket?
  let v6: UDPSocket?
  /// The counters of the port since it was opened, for both IP versions.
  package private(set) var counters = NetCounters()
  /// The owner's note: something is queued here.
  var isQueued = false

  /// Opens the port. A machine with one IP version switched off gets the other one.
  package init(_ options: Options = Options()) throws(SystemError) {
    if options.port == 0, let range = options.portRange {
      (v4, v6) = try Self.open(options, in: range)
    } else {
      (v4, v6) = try Self.open(options)
    }
  }

  /// The port number.
  package var number: UInt16 { v4?.port ?? v6?.port ?? 0 }
  /// The port has an IPv4 socket.
  package var hasIPv4: Bool { v4 != nil }
  /// The port has an IPv6 socket.
  package var hasIPv6: Bool { v6 != nil }

  /// The sockets' file descriptors, for setting further options.
  package var descriptors: [Int32] { [v4, v6].compactMap { $0?.number } }

  private static func open(_ options: Options) throws(SystemError) -> (UDPSocket?, UDPSocket?) {
    guard let address = options.address else { return try openBoth(options) }
    let socket = try UDPSocket(SocketAddress(ip: address, port: options.port), options)
    return address.isV4 ? (socket, nil) : (nil, socket)
  }

  /// The range is gone through once.
  private static func open(
    _ options: Options, in range: ClosedRange<UInt16>
  ) throws(SystemError) -> (UDPSocket?, UDPSocket?) {
    var options = options
    let start = Int.random(in: 0..<range.count)
    for step in 0..<range.count {
      options.port = range.lowerBound + UInt16((start + step) % range.count)
      // 0 would be any port at all.
      guard options.port != 0 else { continue }
      do throws(SystemError) { return try open(options) } catch  where error.errno == EADDRINUSE { continue }
    }
    throw SystemError(
      errno: EADDRINUSE, call: "bind", subject: "A UDP port of \(range.lowerBound)–\(range.upperBound)")
  }

  private static func openBoth(_ options: Options) throws(SystemError) -> (UDPSocket?, UDPSocket?) {
    var attempts = 16  // a port that is free on IPv4 may be taken on IPv6
    while true {
      let v4 = try openIfPresent(.v4(0), port: options.port, options)
      do throws(SystemError) {
        let v6 = try openIfPresent(.v6(high: 0, low: 0, scope: 0), port: v4?.port ?? options.port, options)
        if v4 != nil || v6 != nil { return (v4, v6) }
      } catch {
        attempts -= 1
        guard error.errno == EADDRINUSE, options.port == 0, v4 != nil, attempts > 0 else { throw error }
        continue
      }
      throw SystemError(errno: EAFNOSUPPORT, call: "socket", subject: "A UDP port on IPv4 or IPv6")
    }
  }

  /// Nil when the machine does not have this IP version.
  private static func openIfPresent(
    _ address: IPAddress, port: UInt16, _ options: Options
  ) throws(SystemError) -> UDPSocket? {
    do throws(SystemError) {
      return try UDPSocket(SocketAddress(ip: address, port: port), options)
    } catch {
      if error.errno == EAFNOSUPPORT || error.errno == EADDRNOTAVAIL { return nil }
      throw error
    }
  }

  /// Sends all datagrams of `batch`, in order per IP version, each from its route's local address (an unspecified one
  /// lets the kernel choose). Never blocks and never fails: datagrams that cannot be sent are dropped and counted.
  package func send(_ batch: borrowing DatagramBatch) {
    let entries = batch.entries
    guard !entries.isEmpty else { return }
    let bytes = batch.bytes
    unsafe bytes.withUnsafeBytes { buffer in
      var next = 0
      while next < entries.count { next = unsafe enqueue(entries, from: next, in: buffer) }
      unsafe flush(buffer)
    }
  }

  /// Queues the run that begins with `entries[next]`, whose bytes lie in `buffer`, and sends when a queue is full.
  /// - Returns: the place after the run.
  @unsafe
  func enqueue(_ entries: [DatagramBatch.Entry], from next: Int, in buffer: UnsafeRawBufferPointer) -> Int {
    let route = entries[next].route
    guard let socket = socket(for: route) else {
      counters.droppedRefused += 1
      return next + 1
    }
    let run = SendRun(in: entries, from: next, limit: socket.runLimit(to: route.remote.ip))
    unsafe socket.send(run, in: buffer, &counters)
    return next + run.count
  }

  /// Sends the queued datagrams.
  @unsafe
  func flush(_ buffer: UnsafeRawBufferPointer) {
    unsafe v4?.flush(buffer, &counters)
    unsafe v6?.flush(buffer, &counters)
  }

  /// The kernel has refused a route since they were last taken.
  var hasRefusals: Bool { v4?.refusals.isEmpty == false || v6?.refusals.isEmpty == false }

  /// Appends the routes that the kernel has refused since the last call.
  package func takeRefusals(into taken: inout [SendRefusal]) {
    v4?.takeRefusals(into: &taken)
    v6?.takeRefusals(into: &taken)
  }

  private func socket(for route: Route) -> UDPSocket? {
    let isV4 = route.remote.ip.isV4
    return route.local.ip.isV4 == isV4 ? (isV4 ? v4 : v6) : nil
  }

  /// Hands up to `batches` × 64 waiting datagrams of each of `sockets` to `body`, which may change them in place.
  func receive(
    _ sockets: SocketSet, batches: Int, _ slots: inout ReceiveSlots, _ body: (inout MutableSpan<UInt8>, Route) -> Void
  ) {
    if let v4, sockets.contains(.v4) {
      for _ in 0..<batches where !v4.receive(&slots, &counters, body) { break }
    }
    if let v6, sockets.contains(.v6) {
      for _ in 0..<batches where !v6.receive(&slots, &counters, body) { break }
    }
  }

  struct SocketSet: OptionSet {
    let rawValue: UInt8
    static let v4 = SocketSet(rawValue: 1)
    static let v6 = SocketSet(rawValue: 2)
  }
}
