import RTCEngine
import RTCPrimitives
import RTCWire
import Testing

/// Whose an incoming packet is (RFC 8843 §9.2), without a peer around.
@Suite struct RTPDemultiplexerTests {
  private let map: RTPHeaderExtensionMap = {
    var map = RTPHeaderExtensionMap()
    map[.mid] = 1
    return map
  }()
  private let now = Timestamp.zero + .seconds(10)
  private let (first, second, third): (TransceiverID, TransceiverID, TransceiverID)

  init() {
    var random = SeededGenerator(seed: 1)
    var negotiation = Negotiation(
      sessionID: 1, cname: "c",
      transport: LocalTransport(
        credentials: ICECredentials(usernameFragment: "abcdefgh", password: String(repeating: "p", count: 24)),
        fingerprint: (0..<32).map { _ in UInt8(truncatingIfNeeded: random.next()) }))
    let ids = (0..<3).map { _ in negotiation.add(LocalTransceiver(kind: .video, direction: .recvonly, codecs: [])) }
    (first, second, third) = (ids[0], ids[1], ids[2])
  }

  private func demultiplexer() -> RTPDemultiplexer {
    var demultiplexer = RTPDemultiplexer()
    demultiplexer.configure(
      [
        section(first, "a", payloadTypes: [96, 97], sources: [11]),
        section(second, "b", payloadTypes: [96, 97], sources: []),
        section(third, "c", payloadTypes: [111], sources: []),
      ], extensionMap: map)
    return demultiplexer
  }

  private func section(
    _ id: TransceiverID, _ mid: String, payloadTypes: [UInt8], sources: [UInt32]
  ) -> RTPDemultiplexer.Section {
    RTPDemultiplexer.Section(
      transceiver: id, mid: RTPStreamID(mid), payloadTypes: payloadTypes.map { PayloadType($0) },
      sources: sources.map { SSRC($0) }, isReceived: true)
  }

  private func packet(_ ssrc: UInt32, payloadType: UInt8 = 96, mid: String? = nil) throws -> IncomingPacket {
    var extensions = RTPOutgoingExtensions()
    extensions.mid = mid.flatMap { RTPStreamID($0) }
    let outgoing = RTPOutgoingHeader(
      payloadType: PayloadType(payloadType), sequenceNumber: SequenceNumber(1), timestamp: RTPTimestamp(1),
      ssrc: SSRC(ssrc), extensions: extensions)
    var bytes = [UInt8](repeating: 0, count: 100)
    var count = 0
    do {
      var writer = ByteWriter(bytes.mutableSpan)
      _ = outgoing.write(into: &writer, map: map)
      count = writer.offset
    }
    let span = bytes.span.extracting(0..<count + 10)
    guard let header = RTPHeader(parsing: span) else { throw RTPHeaderIsMissing() }
    return IncomingPacket(header, in: span, map: map)
  }

  /// A reference, for `#expect` takes no value that changes.
  private final class Bench {
    var demultiplexer: RTPDemultiplexer
    init(_ demultiplexer: RTPDemultiplexer) { self.demultiplexer = demultiplexer }
    func destination(_ packet: IncomingPacket, _ now: Timestamp) -> RTPDemultiplexer.Destination {
      demultiplexer.destination(of: packet, now: now)
    }
  }

  private struct RTPHeaderIsMissing: Error {}

  @Test func `the m section that a packet names comes first and is remembered`() throws {
    let bench = Bench(demultiplexer())
    #expect(try bench.destination(packet(77), now) == .nobody(.unknownStream))
    #expect(try bench.destination(packet(77, mid: "b"), now) == .transceiver(second, releasedBy: nil))
    #expect(try bench.destination(packet(77), now) == .transceiver(second, releasedBy: nil))
    #expect(try bench.destination(packet(78, mid: "x"), now) == .nobody(.unknownStream))
  }

  @Test func `a described source needs no name`() throws {
    let bench = Bench(demultiplexer())
    #expect(bench.demultiplexer.knows(SSRC(11)) && !bench.demultiplexer.knows(SSRC(12)))
    #expect(try bench.destination(packet(11), now) == .transceiver(first, releasedBy: nil))
  }

  @Test func `a payload type of one transceiver alone names it`() throws {
    let bench = Bench(demultiplexer())
    #expect(try bench.destination(packet(5, payloadType: 111), now) == .transceiver(third, releasedBy: nil))
    #expect(try bench.destination(packet(6, payloadType: 97), now) == .nobody(.unknownStream))
    bench.demultiplexer.remove(second)
    #expect(try bench.destination(packet(6, payloadType: 97), now) == .transceiver(first, releasedBy: nil))
  }

  @Test func `a source that changes hands is released but not too often`() throws {
    let bench = Bench(demultiplexer())
    let later = now + .seconds(5)
    #expect(try bench.destination(packet(11, mid: "b"), later) == .transceiver(second, releasedBy: first))
    #expect(try bench.destination(packet(11, mid: "a"), later + .milliseconds(10)) == .nobody(.sourceCollision))
  }
}
