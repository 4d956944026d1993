import RTCEngine
import RTCMedia
import RTCPrimitives
import Testing

@Suite struct SendersThatBeginAnew {
  private typealias Receiver = VideoReceiver

  @Test func `numbers from long ago are taken for a new beginning when they go on`() {
    var receiver = Receiver(first: 30_000)
    receiver.take(30_000, frame: 0, payload: Receiver.vp8(key: true))
    receiver.take(20_000, frame: 1, payload: Receiver.vp8(key: true))
    receiver.take(20_001, frame: 2, payload: Receiver.vp8())
    #expect(receiver.shown == [0])
    receiver.take(20_002, frame: 3, payload: Receiver.vp8())
    // What was held back is asked for, and then all of it is there.
    #expect(receiver.stream.missing.count == 2)
    receiver.take(20_000, frame: 1, payload: Receiver.vp8(key: true), isRepair: true)
    receiver.take(20_001, frame: 2, payload: Receiver.vp8(), isRepair: true)
    #expect(receiver.shown == [0, 1, 2, 3])
    #expect(receiver.stream.framesReceived == 4)
  }

  @Test func `single packets from long ago change nothing`() {
    var receiver = Receiver(first: 30_000)
    receiver.take(30_000, frame: 0, payload: Receiver.vp8(key: true))
    for step in 1..<6 {
      let outcome = receiver.take(20_000 + step, frame: 100, payload: Receiver.vp8(key: true))
      #expect(outcome == .late)
      receiver.take(30_000 + step, frame: step, payload: Receiver.vp8())
    }
    #expect(receiver.shown == [0, 1, 2, 3, 4, 5])
  }

  @Test func `timestamps wrap between two pictures and within the wait for one`() {
    var receiver = Receiver(first: 100)
    let last = Int(UInt32.max) / 3_000
    receiver.take(100, frame: last, payload: Receiver.vp8(key: true))
    receiver.take(102, frame: last + 2, payload: Receiver.vp8())
    receiver.take(101, frame: last + 1, payload: Receiver.vp8())
    #expect(receiver.frames.map(\.timestamp.value) == (0..<3).map { UInt32(truncatingIfNeeded: (last + $0) * 3_000) })
    #expect(receiver.frames[2].timestamp.isNewer(than: receiver.frames[0].timestamp))
  }

  @Test func `a payload that no packet can hold is refused`() {
    var receiver = Receiver(first: 100)
    let outcome = receiver.take(100, frame: 0, payload: Receiver.vp8(key: true) + [UInt8](repeating: 1, count: 60_000))
    #expect(outcome == .malformed)
    #expect(receiver.frames.isEmpty)
  }

  @Test func `the rest of a key frame that never comes is not waited for for ever`() {
    var receiver = Receiver(first: 100)
    receiver.take(100, frame: 0, payload: Receiver.vp8(key: true), isLast: false)
    #expect(receiver.stream.keyFrameWantedAt == receiver.now + VideoReceiveStream.stall)
  }

  @Test func `without repairs a hole means a key frame as soon as reordering cannot heal it`() {
    var receiver = Receiver(first: 100)
    receiver.take(100, frame: 0, payload: Receiver.vp8(key: true))
    receiver.take(102, frame: 2, payload: Receiver.vp8())
    receiver.now += receiver.stream.patience
    let asked = receiver.stream.repairsDue(
      receiver.now, roundTrip: .milliseconds(20), isAgreed: false, frames: &receiver.frames)
    #expect(asked == nil && receiver.stream.keyFrameWantedAt == receiver.now)
  }

  @Test func `patience grows with reordering and shrinks again`() {
    var receiver = Receiver(first: 100)
    let calm = receiver.stream.patience
    receiver.take(100, frame: 0, payload: Receiver.vp8(key: true))
    receiver.take(102, frame: 2, payload: Receiver.vp8())
    receiver.now += .milliseconds(20)
    receiver.take(101, frame: 1, payload: Receiver.vp8())
    #expect(receiver.stream.patience == .milliseconds(25))
    for number in 3..<3_000 { receiver.take(100 + number, frame: number, payload: Receiver.vp8()) }
    #expect(receiver.stream.patience == calm)
  }

  @Test func `an answer to a request is no reordering`() {
    var receiver = Receiver(first: 100)
    receiver.take(100, frame: 0, payload: Receiver.vp8(key: true))
    receiver.take(102, frame: 2, payload: Receiver.vp8())
    receiver.now += .milliseconds(5)
    let asked = receiver.stream.repairsDue(receiver.now, roundTrip: .milliseconds(20), frames: &receiver.frames)
    #expect(asked == [SequenceNumber(101)])
    receiver.now += .milliseconds(21)
    receiver.take(101, frame: 1, payload: Receiver.vp8())  // without RTX it looks like the packet itself
    #expect(receiver.stream.patience == .milliseconds(5))
  }
}
