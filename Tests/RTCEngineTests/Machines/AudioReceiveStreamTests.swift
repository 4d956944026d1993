import RTCEngine
import RTCPrimitives
import RTCWire
import Testing

@Suite struct AudioReceiveStreamTests {
  private var stream = AudioReceiveStream(ssrc: SSRC(1), first: SequenceNumber(65_533))
  private var events: [Event] = []

  private var numbers: [Int64] {
    events.compactMap { if case .audioReceived(let packet) = $0 { packet.number & 0xFFFF } else { nil } }
  }

  private func at(_ milliseconds: Int64) -> Timestamp { .zero + .milliseconds(milliseconds) }

  private mutating func take(_ number: UInt16, at time: Int64) -> AudioReceiveStream.Outcome {
    var packet: [UInt8] = [0x80, 111]
    packet += [UInt8(number >> 8), UInt8(number & 0xFF), 0, 0, 0, 0, 0, 0, 0, 1, 0xFC]
    let header = RTPHeader(parsing: packet.span)!
    return stream.receive(header, payload: packet.span.extracting(header.payload), now: at(time), into: &events)
  }

  @Test mutating func packetsInOrderGoStraightThroughAWrap() {
    for number in [65_533, 65_534, 65_535, 0, 1] as [UInt16] { #expect(take(number, at: 0) == .taken) }
    #expect(numbers == [65_533, 65_534, 65_535, 0, 1])
    #expect(stream.deadline == nil)
  }

  @Test mutating func aLateOneIsWaitedForALittle() {
    for (number, time) in [(65_533, 0), (65_535, 40), (0, 60), (65_534, 61)] as [(UInt16, Int64)] {
      _ = take(number, at: time)
    }
    #expect(numbers == [65_533, 65_534, 65_535, 0])
  }

  @Test mutating func aLostOneIsNotWaitedForLong() {
    _ = take(65_533, at: 0)
    _ = take(65_535, at: 40)
    #expect(stream.deadline == at(40) + AudioReceiveStream.patience)
    stream.release(at(79), into: &events)
    #expect(numbers == [65_533])
    stream.release(at(80), into: &events)
    #expect(numbers == [65_533, 65_535] && stream.deadline == nil)
    #expect(take(65_534, at: 90) == .late)
    #expect(numbers.count == 2)
  }

  @Test mutating func aRepeatedOneIsHandedOverOnce() {
    _ = take(65_533, at: 0)
    #expect(take(65_533, at: 1) == .late)
    _ = take(65_535, at: 2)
    #expect(take(65_535, at: 3) == .late)
    _ = take(65_534, at: 4)
    #expect(numbers == [65_533, 65_534, 65_535])
  }

  @Test mutating func noMoreThanALimitIsHeld() {
    _ = take(65_533, at: 0)
    for number in 0...UInt16(AudioReceiveStream.maximumHeld) { _ = take(number, at: 1) }
    #expect(numbers == [65_533] + (0...Int64(AudioReceiveStream.maximumHeld)))
  }

  @Test mutating func aStreamBegunAnewIsFollowed() {
    _ = take(65_533, at: 0)
    _ = take(30_000, at: 1)
    _ = take(30_001, at: 2)
    _ = take(29_000, at: 3)  // backwards, too far for reordering
    #expect(numbers == [65_533, 30_000, 30_001, 29_000])
    let all = events.compactMap { if case .audioReceived(let packet) = $0 { packet.number } else { nil } }
    #expect(zip(all, all.dropFirst()).allSatisfy { $0 < $1 })
  }
}
