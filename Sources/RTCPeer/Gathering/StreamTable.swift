import RTCPrimitives

/// A TCP connection that carries messages.
protocol DatagramStream: AnyObject {
  /// Sends one message; a message that does not fit into the queue is dropped, like a datagram.
  func send(_ message: Span<UInt8>)
}

/// The streams of a loop, by the numbers that routes have for them. Lives on the loop's thread.
struct StreamTable {
  private var numbers = NumberPool()
  private var streams: [UInt16: (stream: any DatagramStream, owner: ICESockets?)] = [:]

  /// A number for a stream that is about to be opened; nil when there are too many.
  mutating func reserve() -> UInt16? { numbers.take() }

  /// - Parameter owner: whose server the stream leads to; nil: it leads to a remote peer.
  mutating func insert(_ stream: any DatagramStream, _ number: UInt16, of owner: ICESockets? = nil) {
    streams[number] = (stream, owner)
  }

  mutating func remove(_ number: UInt16) {
    streams[number] = nil
    numbers.giveBack(number)
  }

  /// The sockets whose server the stream leads to.
  func owner(of number: UInt16) -> ICESockets? { streams[number]?.owner }

  var isEmpty: Bool { streams.isEmpty }

  /// Sends those datagrams of `batch` that a stream carries.
  func send(_ batch: borrowing DatagramBatch) {
    for index in 0..<batch.count {
      guard case .stream(let number) = batch.entries[index].route.kind else { continue }
      streams[number]?.stream.send(batch.datagram(index))
    }
  }
}

/// Numbers for the ports and streams of a loop. A route may name a closed one, so a number is reused only after all
/// others.
struct NumberPool {
  private var taken: Set<UInt16> = []
  private var next: UInt16 = 0

  var isEmpty: Bool { taken.isEmpty }

  /// Nil when all are taken.
  mutating func take() -> UInt16? {
    guard taken.count <= UInt16.max else { return nil }
    while !taken.insert(next).inserted { next &+= 1 }
    defer { next &+= 1 }
    return next
  }

  mutating func giveBack(_ number: UInt16) { taken.remove(number) }
}
