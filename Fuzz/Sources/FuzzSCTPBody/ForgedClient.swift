package import RTCPrimitives
package import RTCSCTP

/// A connected transport whose peer has been taken over by somebody who writes the packets by hand: the right ports,
/// verification tag and checksum, and any chunks.
package struct ForgedClient: ~Copyable {
  package enum Chunk: UInt8 {
    case data = 0
    case selectiveAcknowledgement = 3
    case reconfiguration = 130
    case forwardTSN = 192
  }

  package static let begins: UInt8 = 2
  package static let ends: UInt8 = 1

  package var server: DataChannelTransport
  package private(set) var now = Timestamp.zero + .seconds(1)
  /// Everything the server has said so far.
  package private(set) var events: [DataChannelEvent] = []
  package private(set) var packetCount = 0
  /// The number that the next chunk of data must bear.
  package var nextTSN: UInt32 = 0
  /// The last of the server's.
  package private(set) var lastServerTSN: UInt32 = 0
  /// What the server last acknowledged, all up to it included, and how many bytes more it then took.
  package private(set) var acknowledged: UInt32 = 0
  package private(set) var window = UInt32.max
  private var nextResetNumber: UInt32 = 0
  private var header: [UInt8] = []
  private var outbox = DataChannelOutbox()

  /// Shakes hands by a client of ours, and forgets it.
  package init(options: DataChannelOptions = DataChannelOptions()) {
    var client = DataChannelTransport()
    var sent = DataChannelOutbox()
    server = DataChannelTransport(options: options)
    client.start(isClient: true, remoteMaximumMessageSize: nil, seed: 1, now: now, into: &sent)
    server.start(isClient: false, remoteMaximumMessageSize: nil, seed: 2, now: now, into: &outbox)
    while !sent.packets.isEmpty || !outbox.packets.isEmpty {
      for i in 0..<sent.packets.count {
        learn(from: sent.packets.packet(i))
        server.handle(sent.packets.packet(i), now: now, into: &outbox)
      }
      sent.removeAll()
      for i in 0..<outbox.packets.count { client.handle(outbox.packets.packet(i), now: now, into: &sent) }
      take()
    }
  }

  /// Ports and tag of a packet, and the first number of an INIT.
  private mutating func learn(from packet: Span<UInt8>) {
    var reader = ByteReader(packet)
    guard let ports = reader.readUInt32(), let tag = reader.readUInt32(), reader.skip(4) else { return }
    header = Self.words([ports, tag, 0])
    guard reader.readUInt8() == 1, reader.skip(15), let first = reader.readUInt32() else { return }
    (nextTSN, nextResetNumber) = (first, first)
  }

  private mutating func take() {
    var said = DataChannelOutbox()
    swap(&said, &outbox)
    packetCount += said.packets.count
    for i in 0..<said.packets.count {
      var reader = ByteReader(said.packets.packet(i))
      guard reader.skip(12), let type = reader.readUInt8(), reader.skip(3), let number = reader.readUInt32() else {
        continue
      }
      if type == Chunk.data.rawValue { lastServerTSN = number }
      if type == Chunk.selectiveAcknowledgement.rawValue, let rest = reader.readUInt32() {
        (acknowledged, window) = (number, rest)
      }
    }
    events.append(contentsOf: said.events)
  }

  // MARK: Steps

  /// Hands the server these bytes as they are.
  package mutating func inject(_ packet: Span<UInt8>) {
    server.handle(packet, now: now, into: &outbox)
    take()
  }

  /// Hands the server a packet of these chunks.
  package mutating func send(chunks: [UInt8]) {
    var packet = header + chunks
    let sum = CRC32C.checksum(of: packet)
    for i in 0..<4 { packet[8 + i] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(i))) }
    inject(packet.span)
  }

  package mutating func sendData(
    _ payload: [UInt8], flags: UInt8, stream: UInt16, number: UInt16, protocol: UInt32, tsn: UInt32? = nil
  ) {
    let words = Self.words([tsn ?? nextTSN, UInt32(stream) << 16 | UInt32(number), `protocol`])
    if tsn == nil { nextTSN &+= 1 }
    send(chunks: Self.chunk(.data, flags: flags, words + payload))
  }

  /// Asks for a reset of streams to the server (RFC 6525 §4.1).
  package mutating func sendReset(of streams: [UInt16], lastTSN: UInt32? = nil) {
    var body = Self.words([nextResetNumber, 0, lastTSN ?? nextTSN &- 1])
    nextResetNumber &+= 1
    for stream in streams { body += [UInt8(stream >> 8), UInt8(truncatingIfNeeded: stream)] }
    let size = UInt32(4 + body.count)
    send(chunks: Self.chunk(.reconfiguration, flags: 0, Self.words([13 << 16 | size]) + body))
  }

  /// Acknowledges what the server has sent.
  package mutating func acknowledge(window: UInt32 = 100_000) {
    send(chunks: Self.chunk(.selectiveAcknowledgement, flags: 0, Self.words([lastServerTSN, window, 0])))
  }

  package mutating func forward(to tsn: UInt32, stream: UInt16, number: UInt16) {
    nextTSN = tsn &+ 1
    send(chunks: Self.chunk(.forwardTSN, flags: 0, Self.words([tsn, UInt32(stream) << 16 | UInt32(number)])))
  }

  package mutating func pass(_ time: TimeDelta) {
    now = now + time
    server.advance(now: now, into: &outbox)
    take()
  }

  package mutating func openOnServer(_ parameters: DataChannelParameters) {
    _ = try? server.open(parameters, now: now, into: &outbox)
    take()
  }

  package mutating func sendFromServer(_ message: DataChannelMessage, on handle: DataChannelHandle) {
    try? server.send(message, on: handle, now: now, into: &outbox)
    take()
  }

  package mutating func closeOnServer(_ handle: DataChannelHandle) {
    try? server.close(handle, now: now, into: &outbox)
    take()
  }

  package mutating func closeServer() {
    server.close(now: now, into: &outbox)
    take()
  }

  // MARK: Bytes

  package static func chunk(_ type: Chunk, flags: UInt8, _ body: [UInt8]) -> [UInt8] {
    let size = 4 + body.count
    let padding = [UInt8](repeating: 0, count: (4 - size % 4) % 4)
    return [type.rawValue, flags, UInt8(truncatingIfNeeded: size >> 8), UInt8(truncatingIfNeeded: size)] + body
      + padding
  }

  private static func words(_ words: [UInt32]) -> [UInt8] {
    words.flatMap { word in stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt32($0)) } }
  }
}

/// The checksum of SCTP packets (RFC 9260 appendix A).
package enum CRC32C {
  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0x82F6_3B78 : sum >> 1 }
  }

  package static func checksum(of bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~UInt32(0)) { sum, byte in table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8 }
  }
}
