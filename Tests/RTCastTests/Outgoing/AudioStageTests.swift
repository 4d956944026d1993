import RTCCodecOpus
import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCWire
import RTCast
import Testing

@Suite struct AudioStageTests {
  private func controls(active: Bool = true, muted: Bool = false) -> AudioEncoderControls {
    var controls = AudioEncoderControls(settings: AudioEncoderSettings())
    controls.isActive = active
    controls.isMuted = muted
    return controls
  }

  private func stage(_ controls: AudioEncoderControls) -> AudioStage {
    AudioStage(
      controls: controls,
      makeEncoder: { settings throws(AudioEncoderError) in
        do throws(AudioEncoderError) { return try WatchedEncoder(OpusAudioEncoder(settings)) } catch {
          Issue.record("\(error)")
          throw error
        }
      })
  }

  private func noise(milliseconds: Int, at time: TimeDelta, seed: UInt64 = 7) -> AudioFrame {
    var random = SeededGenerator(seed: seed)
    let samples = (0..<milliseconds * 48 * 2).map { _ in Float(random.next() & 0xFFFF) / 131_072 }
    return AudioFrame(format: .opus, samples: samples, captureTime: Timestamp.zero + time)
  }

  @Test(arguments: [7, 10, 33]) func `sound in any pieces becomes packets of twenty milliseconds`(piece: Int) {
    var stage = stage(controls())
    var packets: [EncodedAudioFrame] = []
    for index in 0..<40 {
      stage.consume(noise(milliseconds: piece, at: .milliseconds(Int64(index * piece)))) { packets.append($0) }
    }
    #expect(packets.count >= 40 * piece / 20 - 2)
    for (index, packet) in packets.enumerated() {
      #expect(packet.position == Int64(index) * 960 && packet.sampleCount == 960)
      #expect(abs((packet.captureTime - Timestamp.zero).milliseconds - Int64(index * 20)) <= 2)
    }
    #expect(packets.first?.startsTalkSpurt == true && packets.dropFirst().allSatisfy { !$0.startsTalkSpurt })
  }

  @Test func `a hole in the sound is a hole in the positions`() {
    var stage = stage(controls())
    var packets: [EncodedAudioFrame] = []
    stage.consume(noise(milliseconds: 100, at: TimeDelta.zero)) { packets.append($0) }
    stage.consume(noise(milliseconds: 100, at: .seconds(3))) { packets.append($0) }
    let after = packets.first { $0.captureTime >= Timestamp.zero + .seconds(2.9) }
    #expect(abs((after?.position ?? 0) - 3 * 48_000) <= 960)
    #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.position + 960 <= $1.position })
  }

  @Test func `nobody listens nothing is encoded`() {
    var stage = stage(controls(active: false))
    var packets: [EncodedAudioFrame] = []
    stage.consume(noise(milliseconds: 500, at: TimeDelta.zero)) { packets.append($0) }
    #expect(packets.isEmpty && stage.statistics.blocks >= 49)
    stage.apply(controls())
    stage.consume(noise(milliseconds: 500, at: .milliseconds(500))) { packets.append($0) }
    #expect(packets.first?.startsTalkSpurt == true && packets.count >= 23)
  }

  @Test func `muted sound costs next to nothing`() {
    var stage = stage(controls(muted: true))
    var bytes = 0
    for second in 0..<5 {
      stage.consume(noise(milliseconds: 1_000, at: .seconds(Double(second)))) { bytes += $0.data.count }
    }
    #expect(bytes < 2_000)
  }

  @Test func `what listeners ask for is done from the next packet on`() {
    var controls = controls()
    var stage = stage(controls)
    var packets: [EncodedAudioFrame] = []
    stage.consume(noise(milliseconds: 200, at: TimeDelta.zero)) { packets.append($0) }
    controls.preferences.isStereo = false
    controls.preferences.maximumBitrate = 16_000
    stage.apply(controls)
    let count = packets.count
    stage.consume(noise(milliseconds: 1_000, at: .milliseconds(200))) { packets.append($0) }
    let after = packets.dropFirst(count + 3)
    #expect(packets.prefix(count).allSatisfy { OpusPacket($0.data)?.channels == 2 })
    #expect(after.allSatisfy { OpusPacket($0.data)?.channels == 1 })
    // Some 11 kB without; the rate is an average over longer than this.
    #expect(after.map(\.data.count).reduce(0, +) < 3_000)
    controls.preferences = OpusPreferences()
    stage.apply(controls)
    stage.consume(noise(milliseconds: 200, at: .milliseconds(1_200))) { packets.append($0) }
    #expect(packets.last.flatMap { OpusPacket($0.data)?.channels } == 2)
  }

  @Test func `every packet says how loud it is`() {
    var stage = stage(controls())
    var packets: [EncodedAudioFrame] = []
    stage.consume(noise(milliseconds: 200, at: TimeDelta.zero)) { packets.append($0) }
    // Even noise between 0 and 0.5: its root mean square is 0.29.
    #expect(packets.dropFirst(2).allSatisfy { $0.level.map { (10...12).contains($0.attenuation) } ?? false })
    stage.apply(controls(muted: true))
    let count = packets.count
    stage.consume(noise(milliseconds: 1_000, at: .milliseconds(200))) { packets.append($0) }
    #expect(packets.count > count && packets.dropFirst(count + 1).allSatisfy { $0.level == .silence })
  }

  @Test func `what is held back is a silence and the times go on`() throws {
    var controls = controls()
    var stage = stage(controls)
    var packets: [EncodedAudioFrame] = []
    stage.consume(noise(milliseconds: 200, at: TimeDelta.zero)) { packets.append($0) }
    controls.isHeld = true
    stage.apply(controls)
    let count = packets.count
    stage.consume(noise(milliseconds: 1_000, at: .milliseconds(200))) { packets.append($0) }
    stage.consume(
      EncodedAudioFrame(data: [0xFC, 1, 2], position: 0, sampleCount: 960, captureTime: .zero + .milliseconds(1_200))
    ) { packets.append($0) }
    #expect(packets.count == count)
    controls.isHeld = false
    stage.apply(controls)
    stage.consume(noise(milliseconds: 200, at: .milliseconds(1_300))) { packets.append($0) }
    let first = try #require(packets.dropFirst(count).first)
    #expect(first.startsTalkSpurt && first.captureTime >= Timestamp.zero + .milliseconds(1_180))
    #expect(abs(first.position - (first.captureTime - Timestamp.zero).microseconds * 48 / 1000) <= 960)
  }

  @Test func `packets passed on and sound encoded here share one timeline`() {
    var stage = stage(controls())
    var packets: [EncodedAudioFrame] = []
    for index in 0..<10 {
      let time = Timestamp.zero + .milliseconds(Int64(index * 20))
      stage.consume(
        EncodedAudioFrame(data: [0xFC, 1, 2], position: 999, sampleCount: 960, captureTime: time)
      ) { packets.append($0) }
    }
    stage.consume(noise(milliseconds: 100, at: .milliseconds(200))) { packets.append($0) }
    #expect(packets.prefix(10).map(\.position) == (0..<10).map { $0 * 960 })
    #expect(abs((packets.dropFirst(10).first?.position ?? 0) - 9_600) <= 480)
  }

  @Test func `a clock that drifts makes no holes`() {
    var timeline = PacketTimeline()
    // 200 parts in a million slow, for an hour.
    var positions: [Int64] = []
    for packet in 0..<180_000 {
      positions.append(timeline.place(Timestamp.zero + .seconds(Double(packet) * 0.02 * 1.0002), samples: 960))
    }
    #expect(positions == (0..<180_000).map { Int64($0) * 960 })
  }

  @Test func `short holes add up until they are seen`() {
    var timeline = PacketTimeline()
    var time = TimeDelta.zero
    // A second of sound, and 14 ms of none: a looped file.
    for packet in 0..<5_000 {
      if packet > 0, packet % 50 == 0 { time = time + .milliseconds(14) }
      let position = timeline.place(Timestamp.zero + time, samples: 960)
      let apart = TimeDelta.microseconds(position * 1000 / 48) - time
      // A millisecond a second is what a clock may drift.
      #expect(abs(apart.milliseconds) <= 75 + Int64(packet) / 50, "after \(packet) packets")
      time = time + .milliseconds(20)
    }
  }
}

/// Opus, whose refusals are failures of the test.
private final class WatchedEncoder: AudioEncoder {
  private let encoder: OpusAudioEncoder

  init(_ encoder: OpusAudioEncoder) { self.encoder = encoder }

  var settings: AudioEncoderSettings { encoder.settings }

  func reconfigure(_ settings: AudioEncoderSettings) throws(AudioEncoderError) {
    try recording { () throws(AudioEncoderError) in try encoder.reconfigure(settings) }
  }

  func encode(_ samples: [Float]) throws(AudioEncoderError) -> [UInt8]? {
    try recording { () throws(AudioEncoderError) in try encoder.encode(samples) }
  }

  private func recording<Result>(_ work: () throws(AudioEncoderError) -> Result) throws(AudioEncoderError) -> Result {
    do throws(AudioEncoderError) { return try work() } catch {
      Issue.record("\(error)")
      throw error
    }
  }
}
