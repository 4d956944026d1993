import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

@Suite struct RetransmissionCacheTests {
  private let start = Timestamp.zero + .seconds(1)
  private let interval = TimeDelta.milliseconds(40)
  private let piece = PayloadPiece(prefix: PayloadPrefix(), range: 0..<10, isLast: false)
  private let payloadTypes = CodecPayloadTypes(media: PayloadType(96), rtx: PayloadType(97))

  private func filled(_ numbers: Range<Int>) -> RetransmissionCache {
    var cache = RetransmissionCache()
    var source = SyntheticVideo()
    let frame = FrameBytes(source.next(start))
    for number in numbers {
      cache.insert(
        RetransmissionCache.Packet(
          number: SequenceNumber(UInt16(truncatingIfNeeded: number)), timestamp: RTPTimestamp(1), payload: piece,
          payloadTypes: payloadTypes, sent: start + .milliseconds(Int64(number - numbers.lowerBound)),
          transportNumber: TransportSequenceNumber(UInt16(truncatingIfNeeded: number + 7)), frame: frame))
    }
    return cache
  }

  private func request(_ number: UInt16, of cache: inout RetransmissionCache, after delay: Int64) -> Bool {
    cache.request(SequenceNumber(number), now: start + .milliseconds(delay), interval: interval)
  }

  private func drain(_ cache: inout RetransmissionCache, _ now: Timestamp) -> [UInt16] {
    var numbers: [UInt16] = []
    while let packet = cache.nextRepair(now) { numbers.append(packet.number.value) }
    return numbers
  }

  @Test func `what is asked for comes in order and once`() {
    var cache = filled(65_000..<66_000)
    for number in [65_500, 65_100, 65_500, 65_999] as [Int] {
      cache.request(SequenceNumber(UInt16(truncatingIfNeeded: number)), now: start, interval: interval)
    }
    #expect(drain(&cache, start) == [65_500, 65_100, UInt16(truncatingIfNeeded: 65_999)])
    #expect(cache.queuedCount == 0)
  }

  @Test func `a second request counts only after the interval`() {
    var cache = filled(0..<10)
    #expect(request(5, of: &cache, after: 0))
    #expect(drain(&cache, start) == [5])
    #expect(!request(5, of: &cache, after: 39))
    #expect(request(5, of: &cache, after: 40))
  }

  @Test func `the old and the unknown are forgotten`() {
    var cache = filled(0..<2_000)
    #expect(!request(975, of: &cache, after: 0))
    #expect(request(976, of: &cache, after: 0))
    #expect(!request(2_000, of: &cache, after: 0))
    #expect(cache.count == RetransmissionCache.capacity)
  }

  @Test func `a flood of requests queues each packet once`() {
    var cache = filled(0..<1_024)
    for _ in 0..<50 {
      for number in 0..<1_024 { cache.request(SequenceNumber(UInt16(number)), now: start, interval: .zero) }
    }
    #expect(cache.queuedCount == 1_024)
  }

  @Test func `a queued packet that is overwritten is not sent`() {
    var cache = filled(0..<1_024)
    for number in [3, 4, 5] as [UInt16] { cache.request(SequenceNumber(number), now: start, interval: interval) }
    let frame = SyntheticVideo.bytes(number: 1, isKeyFrame: false, count: 50)
    var source = SyntheticVideo()
    var encoded = source.next(start)
    encoded.data = frame
    cache.insert(
      RetransmissionCache.Packet(
        number: SequenceNumber(1_028), timestamp: RTPTimestamp(1), payload: piece, payloadTypes: payloadTypes,
        sent: start, transportNumber: TransportSequenceNumber(0), frame: FrameBytes(encoded)))
    #expect(drain(&cache, start) == [3, 5])
  }

  @Test func `time lets go of frames`() {
    var cache = filled(0..<1_000)
    cache.removeAll(before: start + .milliseconds(600))
    #expect(cache.count == 400)
  }

  @Test func `the tail is what comes after the last arrival`() {
    var history = SentPacketHistory()
    history.send(40)
    _ = history.report([10, 12, 14], count: 0)
    var cache = filled(0..<10)  // numbers 7…16 on the transport
    cache.requestTail(limit: 32, now: start, history: history)
    #expect(drain(&cache, start) == [8, 9])
    _ = history.report([16], count: 1)
    #expect(cache.newestTransportNumber == TransportSequenceNumber(16))
    cache.requestTail(limit: 32, now: start, history: history)
    #expect(drain(&cache, start) == [])
    cache.requestTail(limit: 4, now: start, history: SentPacketHistory())
    #expect(drain(&cache, start) == [6, 7, 8, 9])
  }

  @Test func `a packet sent again arrives under its new number`() {
    var history = SentPacketHistory()
    history.send(40)
    var cache = filled(0..<10)
    cache.renumber(SequenceNumber(9), TransportSequenceNumber(30))
    _ = history.report([30], count: 0)
    cache.requestTail(limit: 32, now: start, history: history)
    #expect(drain(&cache, start) == [])
  }
}
