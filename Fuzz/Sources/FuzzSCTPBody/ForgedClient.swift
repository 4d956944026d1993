package import RTCPrimitives
package import RTCSCTP
package import RTCWire

/// A connected transport with an attacker as peer, which writes the packets by hand: the right ports, verification tag
/// and checksum, and any chunks.
package struct ForgedClient: ~Copyable {
  package enum Chunk: UInt8 {
    case selectiveAcknowledgement = 3
    case reconfiguration = 130
  }

  package static let begins: UInt8 = 2
  package static let ends: UInt8 = 1

  package var server: DataChannelTransport
  package private(set) var now = Timestamp.zero + .seconds(1)
  /// Everything the server has said so far.
  package private(set) var events: [DataChannelEvent] = []
  package private(set) var packetCount = 0
  /// The bytes of the longest packet that the server has sent.
  package private(set) var longestPacket = 0
  /// The number of the next chunk of data.
  package var nextTSN: UInt32 = 0
  /// The last of the server's.
  package private(set) var lastServerTSN: UInt32 = 0
  /// The server's last cumulative acknowledgement, and its window then.
  package private(set) var acknowledged: UInt32 = 0
  package private(set) var window = UInt32.max
  private let isInterleaved: Bool
  private var nextResetNumber: UInt32 = 0
  private var header: [UInt8] = []
  private var outbox = DataChannelOutbox()

  /// Shakes hands by a client of ours, and forgets it.
  /// - Parameter interleaves: whether data goes in I-DATA chunks (RFC 8260).
  package init(options: DataChannelOptions = DataChannelOptions(), interleaves: Bool = false) {
    isInterleaved = interleaves
    var clientOptions = DataChannelOptions()
    clientOptions.interleavesMessages = interleaves
    var client = DataChannelTransport(options: clientOptions)
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
      longestPacket = max(longestPacket, said.packets.packet(i).count)
      guard let packet = SCTPPacket(parsing: said.packets.packet(i)) else { fatalError("no packet") }
      var chunks = packet.chunks
      while let chunk = chunks.next() {
        if let data = SCTPData(parsing: chunk) { lastServerTSN = data.tsn.value }
        if let ack = SCTPSelectiveAck(parsing: chunk) {
          (acknowledged, window) = (ack.cumulativeTSN.value, ack.receiverWindow)
        }
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
  package mutating func send(chunks: [UInt8], spoilsChecksum: Bool = false) {
    var packet = header + chunks
    let sum = CRC32C.checksum(packet.span) ^ (spoilsChecksum ? 1 : 0)
    for i in 0..<4 { packet[8 + i] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(i))) }
    inject(packet.span)
  }

  /// The bytes of a chunk of data.
  package func data(
    _ payload: [UInt8], flags: UInt8, stream: UInt16, number: UInt16, protocol: UInt32, tsn: UInt32,
    fragment: UInt32 = 0
  ) -> [UInt8] {
    let data = SCTPData(
      tsn: TSN(tsn), stream: StreamID(stream), isUnordered: flags & 4 != 0,
      isBeginning: flags & Self.begins != 0, isEnd: flags & Self.ends != 0, isImmediate: flags & 8 != 0,
      messageNumber: UInt32(number), fragmentNumber: fragment, payloadProtocol: `protocol`,
      isInterleaved: isInterleaved)
    return Self.bytes(of: data, payload: payload)
  }

  package mutating func sendData(
    _ payload: [UInt8], flags: UInt8, stream: UInt16, number: UInt16, protocol: UInt32, tsn: UInt32? = nil,
    fragment: UInt32 = 0
  ) {
    let chunk = data(
      payload, flags: flags, stream: stream, number: number, protocol: `protocol`, tsn: tsn ?? nextTSN,
      fragment: fragment)
    if tsn == nil { nextTSN &+= 1 }
    send(chunks: chunk)
  }

  /// Asks for a reset of streams to the server (RFC 6525 §4.1).
  package mutating func sendReset(of streams: [UInt16], lastTSN: UInt32? = nil) {
    var body = Self.words([nextResetNumber, 0, lastTSN ?? nextTSN &- 1])
    nextResetNumber &+= 1
    for stream in streams { body += [UInt8(stream >> 8), UInt8(truncatingIfNeeded: stream)] }
    let size = UInt32(4 + body.count)
    send(chunks: Self.chunk(.reconfiguration, flags: 0, Self.words([13 << 16 | size]) + body))
  }

  /// Acknowledges the server's data.
  package mutating func acknowledge(window: UInt32 = 100_000) {
    send(chunks: Self.chunk(.selectiveAcknowledgement, flags: 0, Self.words([lastServerTSN, window, 0])))
  }

  /// Acknowledges anything.
  package mutating func acknowledge(
    cumulative: UInt32, gaps: [SCTPSelectiveAck.GapBlock], duplicates: [TSN] = [], window: UInt32 = 100_000
  ) {
    var bytes = [UInt8](
      repeating: 0, count: SCTPSelectiveAck.size(gapBlocks: gaps.count, duplicates: duplicates.count))
    var writer = ByteWriter(bytes.mutableSpan)
    SCTPSelectiveAck.write(
      cumulativeTSN: TSN(cumulative), receiverWindow: window, gapBlocks: gaps.span, duplicates: duplicates.span,
      into: &writer)
    send(chunks: bytes)
  }

  /// Sends the INIT of a new association with the same ports; and echoes the cookie that comes for it.
  package mutating func beginAnew(seed: UInt64, echoes: Bool) {
    var options = DataChannelOptions()
    options.interleavesMessages = isInterleaved
    var client = DataChannelTransport(options: options)
    var sent = DataChannelOutbox()
    client.start(isClient: true, remoteMaximumMessageSize: nil, seed: seed, now: now, into: &sent)
    for _ in 0..<(echoes ? 3 : 1) {
      for i in 0..<sent.packets.count { server.handle(sent.packets.packet(i), now: now, into: &outbox) }
      sent.removeAll()
      for i in 0..<outbox.packets.count { client.handle(outbox.packets.packet(i), now: now, into: &sent) }
      take()
    }
  }

  /// Tells the server what a rate control has measured of the path.
  package mutating func setPath(rate: BitRate, loss: Double) {
    server.setPath(rate: rate, roundTrip: .milliseconds(100), loss: loss)
  }

  /// Lets the server's owner take messages, or not.
  package mutating func setReceiving(_ isOn: Bool) {
    server.setReceiving(isOn, now: now, into: &outbox)
    take()
  }

  package mutating func forward(to tsn: UInt32, stream: UInt16, number: UInt16) {
    nextTSN = tsn &+ 1
    let skip = SCTPForwardTSN.Skip(stream: StreamID(stream), isUnordered: false, messageNumber: UInt32(number))
    var bytes = [UInt8](repeating: 0, count: SCTPForwardTSN.size(skips: 1, isInterleaved: isInterleaved))
    var writer = ByteWriter(bytes.mutableSpan)
    SCTPForwardTSN.write(
      newCumulativeTSN: TSN(tsn), skips: [skip].span, isInterleaved: isInterleaved, into: &writer)
    send(chunks: bytes)
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

  package static func bytes(of data: SCTPData, payload: [UInt8]) -> [UInt8] {
    let size = SCTPData.headerSize(isInterleaved: data.isInterleaved) + payload.count
    var bytes = [UInt8](repeating: 0, count: (size + 3) & ~3)
    var writer = ByteWriter(bytes.mutableSpan)
    data.write(payload: payload.span, into: &writer)
    return bytes
  }

  private static func words(_ words: [UInt32]) -> [UInt8] {
    words.flatMap { word in stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt32($0)) } }
  }
}
