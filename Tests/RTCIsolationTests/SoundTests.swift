import Glibc
import RTCCodecOpus
import RTCIsolation
import RTCMedia
import RTCNet
import RTCPrimitives
import RTCast
import Testing

/// B9: sound is decoded in a process without rights, and the player never waits for it.
@Suite(.serialized) struct SoundTests {
  private struct Failure: Error {}

  /// Packets of 20 ms of a tone.
  private func packets(_ count: Int) throws -> [[UInt8]] {
    let encoder = try OpusAudioEncoder(AudioEncoderSettings())
    return try (0..<count).compactMap { number in
      var samples: [Float] = []
      for index in 0..<960 {
        let sample = 0.3 * sinf(Float(number * 960 + index) * 0.05)
        samples += [sample, sample]
      }
      return try encoder.encode(samples)
    }
  }

  /// The first result of `attempt` once its process is ready; packets lost until then reach no decoder.
  private func first(_ attempt: () throws -> [Float]) throws -> [Float] {
    let deadline = MonotonicClock.now() + .seconds(60)
    while MonotonicClock.now() < deadline {
      if let sound = try? attempt() { return sound }
      sched_yield()
    }
    throw Failure()
  }

  @Test func `B9: sound from the process is that which is decoded here`() throws {
    let stage = DecoderStage()
    let (isolated, own) = (try stage.decoders.audioFactory()(2), try OpusAudioDecoder(channels: 2))
    let packets = try packets(20)
    #expect(try first { try isolated.decode(packets[0]) } == own.decode(packets[0]))
    for packet in packets[1..<10] { #expect(try isolated.decode(packet) == own.decode(packet)) }
    #expect(try isolated.conceal(sampleCount: 960) == own.conceal(sampleCount: 960))
    #expect(
      try isolated.recover(sampleCount: 960, from: packets[12]) == own.recover(sampleCount: 960, from: packets[12]))
    for packet in packets[12...] { #expect(try isolated.decode(packet) == own.decode(packet)) }
    #expect(throws: AudioDecoderError.emptyPacket) { try isolated.decode([]) }
    // Refused there, and the process goes on.
    #expect(throws: AudioDecoderError.self) { try isolated.decode([255]) }
    #expect(throws: AudioDecoderError.self) { try isolated.conceal(sampleCount: 7) }
    #expect(try isolated.decode(packets[3]).count == 1_920)
    #expect(stage.sentences == [])
  }

  @Test func `B9: sound goes on after its process has ended`() throws {
    let stage = DecoderStage("crash")
    let (decoder, packets) = (try stage.decoders.audioFactory()(2), try packets(4))
    _ = try first { try decoder.decode(packets[0]) }
    _ = try decoder.decode(packets[1])
    #expect(throws: AudioDecoderError.self) { try decoder.decode(packets[2]) }
    #expect(stage.sentences.count == 1 && stage.sentences[0].contains("signal 11"))
    #expect(try first { try decoder.decode(packets[3]) }.count == 1_920)
  }

  @Test func `B9: who plays does not wait for a process that hangs, which is ended`() throws {
    let stage = DecoderStage("hang", soundPatience: .milliseconds(200))
    let (decoder, packets) = (try stage.decoders.audioFactory()(2), try packets(4))
    _ = try first { try decoder.decode(packets[0]) }
    // The machine may be so busy that a packet is late; the third to arrive hangs.
    let deadline = MonotonicClock.now() + .seconds(60)
    while stage.sentences.isEmpty, MonotonicClock.now() < deadline {
      _ = try? decoder.decode(packets[1])
      sched_yield()
    }
    #expect(stage.sentences.count == 1 && stage.sentences[0].contains("did not answer"))
    #expect(try first { try decoder.decode(packets[3]) }.count == 1_920)
  }

  @Test func `B9: sound longer than a packet can be is no sound`() throws {
    let decoder = try DecoderStage("long").decoders.audioFactory()(2)
    let packets = try packets(3)
    _ = try first { try decoder.decode(packets[0]) }
    _ = try decoder.decode(packets[1])
    #expect(throws: AudioDecoderError.self) { try decoder.decode(packets[2]) }
  }
}
