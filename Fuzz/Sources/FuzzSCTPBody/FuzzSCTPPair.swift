import RTCPrimitives
import RTCSCTP
import RTCWire

/// Two transports with a network between them that the input controls: it loses, repeats, reorders and, from a point
/// on, forges. The first byte gives the properties of both; the rest is a list of steps.
///
/// Without forged packets, the messages that arrive on the reliable, ordered channel are a prefix of those sent, and
/// all of them once the network has become good.
public func fuzzSCTPPair(_ bytes: Span<UInt8>) {
  var reader = ByteReader(bytes)
  guard let kind = reader.readUInt8() else { return }
  var world = HostileNetwork(interleaves: kind & 1 == 1, packetSize: kind & 2 == 0 ? 1_160 : 512)
  var steps = 0
  while steps < 300, let step = reader.readUInt8() {
    world.step(step, &reader)
    steps += 1
  }
  world.finish()
}

private struct HostileNetwork: ~Copyable {
  private struct Flight {
    var bytes: [UInt8]
    var toServer: Bool
  }

  private var client: DataChannelTransport
  private var server: DataChannelTransport
  private var outbox = DataChannelOutbox()
  private var now = Timestamp.zero + .seconds(1)
  /// At most so many packets are under way; others are lost.
  private static let capacity = 64
  private var flights: [Flight] = []
  private var isForged = false
  private var channels: [DataChannelHandle] = []
  private var sent: [[UInt8]] = []
  private var arrived: [[UInt8]] = []
  private var reliableFar: DataChannelHandle?
  private var hasEnded = false
  private var nextFill: UInt8 = 0

  init(interleaves: Bool, packetSize: Int) {
    var options = DataChannelOptions()
    options.interleavesMessages = interleaves
    options.packetSize = packetSize
    options.maximumStreams = 16
    options.maximumMessageSize = 30_000
    options.receiveBuffer = 100_000
    options.maximumBufferedAmount = 200_000
    client = DataChannelTransport(options: options)
    server = DataChannelTransport(options: options)
    client.start(isClient: true, remoteMaximumMessageSize: 30_000, seed: 1, now: now, into: &outbox)
    take(fromClient: true)
    server.start(isClient: false, remoteMaximumMessageSize: 30_000, seed: 2, now: now, into: &outbox)
    take(fromClient: false)
    for parameters in [
      DataChannelParameters(label: "reliable"),
      DataChannelParameters(isOrdered: false, reliability: .maximumRetransmissions(1)),
      DataChannelParameters(reliability: .maximumLifetime(300)),
    ] {
      if let handle = try? client.open(parameters, now: now, into: &outbox) { channels.append(handle) }
    }
    take(fromClient: true)
  }

  private mutating func take(fromClient: Bool) {
    for i in 0..<outbox.packets.count where flights.count < Self.capacity {
      flights.append(Flight(bytes: [UInt8](copying: outbox.packets.packet(i)), toServer: fromClient))
    }
    for event in outbox.events {
      switch event {
      case .incoming(let handle, let parameters):
        if parameters.label == "reliable", reliableFar == nil { reliableFar = handle }
      case .message(let handle, .binary(let bytes)):
        if !fromClient, handle == reliableFar { arrived.append(bytes) }
      case .ended: hasEnded = true
      default: break
      }
    }
    outbox.removeAll()
  }

  mutating func step(_ kind: UInt8, _ reader: inout ByteReader) {
    switch kind % 12 {
    case 0, 1, 2: deliver(at: 0)
    case 3: deliver(at: Int(reader.readUInt8() ?? 0))
    case 4: if !flights.isEmpty { flights.removeFirst() }
    case 5: if let first = flights.first, flights.count < Self.capacity { flights.append(first) }
    case 6: pass(.milliseconds(Int64(reader.readUInt8() ?? 0) * 10))
    case 7: send(channel: Int(kind / 12), size: Int(reader.readUInt16() ?? 1) % 30_000 + 1)
    case 8: forge(&reader)
    case 9: closeOrOpen(Int(reader.readUInt8() ?? 0))
    case 10:
      client.setPath(
        rate: BitRate(bitsPerSecond: Int64(kind >> 6) << 20), roundTrip: .milliseconds(Int64(kind)),
        loss: Double(kind >> 5) / 100)
      server.setReceiving(kind & 16 == 0, now: now, into: &outbox)
      take(fromClient: false)
    default: for _ in 0..<8 { deliver(at: 0) }
    }
  }

  private mutating func deliver(at index: Int) {
    guard !flights.isEmpty else { return }
    let flight = flights.remove(at: index % flights.count)
    if flight.toServer {
      server.handle(flight.bytes.span, now: now, into: &outbox)
    } else {
      client.handle(flight.bytes.span, now: now, into: &outbox)
    }
    take(fromClient: !flight.toServer)
    precondition(client.nextDeadline > now && server.nextDeadline > now, "a deadline in the past")
  }

  private mutating func pass(_ time: TimeDelta) {
    now = now + time
    client.advance(now: now, into: &outbox)
    take(fromClient: true)
    server.advance(now: now, into: &outbox)
    take(fromClient: false)
    precondition(client.nextDeadline > now && server.nextDeadline > now, "a deadline in the past")
  }

  private mutating func send(channel: Int, size: Int) {
    let handle = channels[channel % 3]
    nextFill &+= 1
    let bytes = [UInt8](repeating: nextFill, count: size)
    guard (try? client.send(.binary(bytes), on: handle, now: now, into: &outbox)) != nil else { return }
    if channel % 3 == 0 { sent.append(bytes) }
    take(fromClient: true)
  }

  /// The reliable channel stays; a fourth one comes and goes.
  private mutating func closeOrOpen(_ choice: Int) {
    if channels.count > 3 {
      try? client.close(channels.removeLast(), now: now, into: &outbox)
    } else if let handle = try? client.open(DataChannelParameters(label: "fourth"), now: now, into: &outbox) {
      channels.append(handle)
    }
    take(fromClient: true)
  }

  /// Changes a packet under way: some bytes of its chunks, or their number; its checksum is right again.
  private mutating func forge(_ reader: inout ByteReader) {
    guard !flights.isEmpty, let choice = reader.readUInt8(), let place = reader.readUInt16(),
      let value = reader.readUInt32()
    else { return }
    isForged = true
    let index = Int(choice) % flights.count
    var bytes = flights[index].bytes
    guard bytes.count > 16 else { return }
    let start = 12 + Int(place) % (bytes.count - 12)
    for i in 0..<4 where start + i < bytes.count {
      bytes[start + i] = UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * i))
    }
    if choice & 64 != 0 { bytes += bytes[12...] }
    if choice & 128 != 0 { bytes.removeLast(min(bytes.count - 16, Int(place >> 8))) }
    for i in 8..<12 { bytes[i] = 0 }
    let sum = CRC32C.checksum(bytes.span)
    for i in 0..<4 { bytes[8 + i] = UInt8(truncatingIfNeeded: sum >> UInt32(8 * i)) }
    flights[index].bytes = bytes
  }

  mutating func finish() {
    if !isForged { precondition(sent.starts(with: arrived), "something else has arrived than was sent") }
    server.setReceiving(true, now: now, into: &outbox)
    take(fromClient: false)
    var rounds = 0
    while rounds < 3_000, !hasEnded, arrived.count < sent.count {
      while !flights.isEmpty { deliver(at: 0) }
      let next = min(client.nextDeadline, server.nextDeadline)
      guard next != .distantFuture else { break }
      pass(next - now)
      rounds += 1
    }
    if !isForged, !hasEnded { precondition(arrived == sent, "something has not arrived") }
    client.close(now: now, into: &outbox)
    server.close(now: now, into: &outbox)
    precondition(client.nextDeadline == .distantFuture && server.nextDeadline == .distantFuture)
  }
}
