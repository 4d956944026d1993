import FeatureKit
import Glibc
import RTCCodecOpus
import RTCEngine
import RTCMedia
import RTCPlayout
import RTCPrimitives
import Synchronization
import Testing

/// A clock that a test sets.
final class HandClock: Sendable {
  private let time = Mutex(Timestamp.zero)
  var now: Timestamp { time.withLock { $0 } }
  func advance(_ delta: TimeDelta) { time.withLock { $0 += delta } }
}

/// Keeps what it hears.
final class Recorder: AudioSink {
  private let heard = Mutex<(frames: [AudioFrame], ends: Int)>(([], 0))
  private let onFrame: @Sendable () -> Void

  init(onFrame: @escaping @Sendable () -> Void = {}) { self.onFrame = onFrame }

  func hear(_ frame: AudioFrame) {
    heard.withLock { $0.frames.append(frame) }
    onFrame()
  }

  func audioDidEnd() { heard.withLock { $0.ends += 1 } }

  var frames: [AudioFrame] { heard.withLock { $0.frames } }
  var ends: Int { heard.withLock { $0.ends } }
  var left: [Float] {
    frames.flatMap { frame in stride(from: 0, to: frame.samples.count, by: 2).map { frame.samples[$0] } }
  }
}

@Suite struct Playouts {
  private let clock = HandClock()
  private let playout: AudioPlayout
  private let packets: [[UInt8]]

  init() throws {
    packets = try Listening.tone(1_000)
    let clock = clock
    playout = AudioPlayout(decoder: try OpusAudioDecoder(channels: 1)) { clock.now }
  }

  /// A packet each 20 ms, and sound asked for in pieces of `count` samples as a device does.
  /// - Returns: the left channel.
  @discardableResult
  private func play(_ milliseconds: Int, from start: Int = 0, asking count: Int = 480) -> [Float] {
    var left: [Float] = []
    var due = 0
    for time in start..<(start + milliseconds) {
      if time % 20 == 0 {
        let index = time / 20
        playout.receive(
          ReceivedAudio(
            payload: packets[index % packets.count], number: Int64(index), timestamp: RTPTimestamp(UInt32(index * 960)),
            marker: false, received: clock.now))
      }
      due += 48
      while due >= count {
        let sound = playout.render(sampleCount: count, delay: .milliseconds(40))
        left += stride(from: 0, to: sound.count, by: 2).map { sound[$0] }
        due -= count
      }
      clock.advance(.milliseconds(1))
    }
    return left
  }

  @Test(arguments: [7, 480, 512, 2_000]) func `a device may ask for any amount`(count: Int) {
    let left = play(3_000, asking: count)
    #expect(abs(ToneMeasure.frequency(left[48_000...]) - 1_000) < 1)
    #expect(ToneMeasure.longestGap(left[48_000...]) < 2)
    #expect(playout.render(sampleCount: 0, delay: .zero).isEmpty)
    #expect(playout.render(sampleCount: -1, delay: .zero).isEmpty)
  }

  @Test(.feature("S0.76"))
  func `raw buffers are tapped as they were sent, in blocks of 10 ms with the time they are heard at`()
    throws
  {
    let recorder = Recorder()
    playout.add(recorder)
    playout.volume = 0.1
    // The decoder's first sound is louder than what was sent.
    let quiet = play(2_000).suffix(48_000)
    let frames = recorder.frames
    #expect(frames.count >= 190)
    #expect(frames.allSatisfy { $0.format == .opus && $0.samples.count == 960 })
    #expect(recorder.left.suffix(48_000).max().map { (0.35...0.5).contains($0) } == true)
    #expect(quiet.max().map { (0.03...0.06).contains($0) } == true)
    #expect(zip(frames, frames.dropFirst()).allSatisfy { ($1.captureTime - $0.captureTime) == .milliseconds(10) })
    playout.remove(recorder)
    play(200, from: 2_000)
    #expect(recorder.frames.count == frames.count && recorder.ends == 0)
  }

  @Test(.feature("S0.68")) func `a disabled sound is received on and silent, for sinks too`() {
    let recorder = Recorder()
    playout.add(recorder)
    play(1_000)
    playout.isEnabled = false
    let silent = play(1_000, from: 1_000)
    // What is left of the block that was made before fades out.
    #expect(silent.dropFirst(960).allSatisfy { $0 == 0 })
    #expect(recorder.left.suffix(9_600).allSatisfy { $0 == 0 })
    playout.isEnabled = true
    let heard = play(1_000, from: 2_000)
    #expect(ToneMeasure.longestGap(heard.dropFirst(960)) < 2)
    #expect(playout.statistics.buffer.packetsReceived == 150)
    #expect(playout.statistics.buffer.packetsLost == 0)
  }

  @Test(arguments: [(Float.nan, Float(0)), (-1, 0), (.infinity, 10), (0.5, 0.5)])
  func `a volume is kept within its bounds`(wanted: Float, kept: Float) {
    playout.volume = wanted
    #expect(playout.volume == kept)
  }

  @Test func `the end is told once, and nothing is heard after it`() {
    let (recorder, late) = (Recorder(), Recorder())
    playout.add(recorder)
    play(500)
    let count = recorder.frames.count
    playout.end()
    playout.end()
    #expect(play(500, from: 500).allSatisfy { $0 == 0 })
    #expect(recorder.ends == 1 && recorder.frames.count == count)
    playout.add(late)
    #expect(late.ends == 1)
  }

  @Test func `a sink may end the sound and remove itself from inside a call`() {
    let playout = playout
    let recorder = Recorder { playout.end() }
    playout.add(recorder)
    play(200)
    #expect(recorder.frames.count == 1 && recorder.ends == 1)
    let box = Mutex<Recorder?>(nil)
    let other = Recorder { if let sink = box.withLock({ $0 }) { playout.remove(sink) } }
    box.withLock { $0 = other }
    playout.add(other)
    #expect(other.ends == 1)
    // It holds itself otherwise.
    box.withLock { $0 = nil }
  }

  @Test func `what is heard when is known, and an added delay moves it`() throws {
    play(2_000)
    let before = try #require(playout.lastHeard)
    playout.addedDelay = .milliseconds(300)
    play(6_000, from: 2_000)
    let after = try #require(playout.lastHeard)
    let sent = TimeDelta.nanoseconds(Int64(after.timestamp.distance(from: before.timestamp)) * 62_500 / 3)
    let lengthened = (after.time - before.time) - sent
    #expect((280...320).contains(lengthened.milliseconds))
  }

  @Test func `packets that nobody plays are kept within bounds`() {
    for index in 0..<2_000 {
      playout.receive(
        ReceivedAudio(
          payload: packets[0], number: Int64(index), timestamp: RTPTimestamp(UInt32(index * 960)), marker: false,
          received: clock.now))
      clock.advance(.milliseconds(20))
    }
    #expect(playout.statistics.packetsUnheard == 1_600)
    let left = play(3_000, from: 40_000)
    #expect(ToneMeasure.longestGap(left.suffix(48_000)) < 2)
    #expect(playout.statistics.buffer.delay < .milliseconds(200))
  }

  @Test func `the sender's clock is measured`() throws {
    var due = Timestamp.zero
    var index = 0
    for _ in 0..<6_000 {
      while due <= clock.now {
        playout.receive(
          ReceivedAudio(
            payload: packets[index % 50], number: Int64(index), timestamp: RTPTimestamp(UInt32(index * 960)),
            marker: false, received: due))
        index += 1
        due += .microseconds(20_000 - 4)  // 200 millionths
      }
      _ = playout.render(sampleCount: 480, delay: .zero)
      clock.advance(.milliseconds(10))
    }
    #expect((150...250).contains(playout.statistics.drift))
  }
}
