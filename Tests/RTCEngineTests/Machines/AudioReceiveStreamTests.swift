import RTCEngine
import RTCPrimitives
import RTCWire
import Testing

@Suite struct AudioReceiveStreamTests {
  private var stream = AudioReceiveStream(ssrc: SSRC(1), first: SequenceNumber(65_533))
  private var received: [ReceivedAudio] = []

  private var numbers: [Int64] { received.map { $0.number & 0xFFFF } }

  private mutating func take(_ number: UInt16, at time: Int64 = 0) {
    var packet: [UInt8] = [0x80, 111]
    packet += [UInt8(number >> 8), UInt8(number & 0xFF), 0, 0, 0, 0, 0, 0, 0, 1, 0xFC]
    let header = RTPHeader(parsing: packet.span)!
    received.append(
      stream.receive(
        header, payload: packet.span.extracting(header.payload), now: .zero + .milliseconds(time)))
  }

  @Test mutating func `packets go straight through and their numbers never wrap`() {
    for number in [65_533, 65_534, 65_535, 0, 1] as [UInt16] { take(number) }
    #expect(numbers == [65_533, 65_534, 65_535, 0, 1])
    #expect(zip(received, received.dropFirst()).allSatisfy { $0.number + 1 == $1.number })
    #expect(stream.statistics.cumulativeLost == 0 && stream.statistics.received == 5)
  }

  @Test mutating func `late ones are handed over under their own numbers`() {
    for (number, time) in [(65_533, 0), (65_535, 40), (0, 60), (65_534, 61)] as [(UInt16, Int64)] {
      take(number, at: time)
    }
    #expect(received.map { $0.number - received[0].number } == [0, 2, 3, 1])
    #expect(received.map(\.received.milliseconds) == [0, 40, 60, 61])
  }

  @Test mutating func `ones before the first have numbers too`() {
    take(65_533)
    take(65_530)
    #expect(received[1].number == received[0].number - 3 && received[1].number > 0)
  }

  @Test mutating func `lost ones are counted`() {
    for number in [65_533, 65_534, 2] as [UInt16] { take(number) }
    #expect(stream.statistics.cumulativeLost == 3)
    let fractions = [stream.takeFractionLost(), stream.takeFractionLost()]
    #expect(fractions == [128, 0])
  }

  @Test mutating func `a stream begun anew is followed and its numbers keep rising`() {
    take(65_533)
    take(30_000)
    take(30_001)
    take(29_000)  // backwards, too far for reordering
    #expect(numbers == [65_533, 30_000, 30_001, 29_000])
    #expect(zip(received, received.dropFirst()).allSatisfy { $0.number < $1.number })
  }

  @Test mutating func `another source goes on above the numbers of the one before`() {
    take(65_533)
    let last = stream.newestNumber
    stream = AudioReceiveStream(ssrc: SSRC(2), first: SequenceNumber(7), numbersFrom: last)
    take(7)
    take(6)
    #expect(received[1].number > last && received[2].number == received[1].number - 1)
    #expect(numbers == [65_533, 7, 6])
  }
}
