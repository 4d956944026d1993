package import RTCEngine
package import RTCMedia
package import RTCPrimitives
import RTCResample

/// The settings of an audio encoder; applied before each block.
package struct AudioEncoderControls: Sendable {
  package var settings: AudioEncoderSettings
  /// The preferences that listeners have signaled.
  package var preferences = OpusPreferences()
  /// Whether anybody listens.
  package var isActive = false
  package var isMuted = false
  /// Whether nothing is sent, whatever the source delivers.
  package var isHeld = false

  /// The settings to apply to the encoder.
  var effective: AudioEncoderSettings { preferences.applied(to: settings) }

  package init(settings: AudioEncoderSettings) { self.settings = settings }
}

/// Totals of an encoder of sound since it was made.
package struct AudioEncodingStatistics: Hashable, Sendable {
  /// Blocks of 10 ms that the source delivered.
  package var blocks: UInt64 = 0
  package var packetsEncoded: UInt64 = 0
  package var bytesEncoded: UInt64 = 0
  /// Packets that were silence and not sent.
  package var packetsSilent: UInt64 = 0
  /// Times the source's clock leapt.
  package var discontinuities: UInt64 = 0

  package init() {}
}

/// An encoder of sound and what brings blocks to it: sound of any kind in, Opus packets out. A machine without threads.
/// Used by one thread at a time.
package struct AudioStage: ~Copyable {
  package private(set) var statistics = AudioEncodingStatistics()

  private let makeEncoder: AudioEncoderFactory
  private var controls: AudioEncoderControls
  private var encoder: (any AudioEncoder)?
  private let framer: AudioFramer
  /// Samples of the next packet, and the capture time of the first.
  private var gathered: [Float] = []
  private var gatheredTime = Timestamp.zero
  /// The position of the next packet.
  private var timeline = PacketTimeline()
  private var wasSilent = true
  private var failures: [AudioEncoderError] = []

  package init(
    controls: AudioEncoderControls, makeEncoder: @escaping AudioEncoderFactory
  ) {
    self.controls = controls
    self.makeEncoder = makeEncoder
    framer = AudioFramer(channels: controls.settings.channels)
  }

  package mutating func apply(_ new: AudioEncoderControls) { controls = new }

  /// Failures since the last call.
  package mutating func takeFailures() -> [AudioEncoderError] {
    guard !failures.isEmpty else { return [] }
    defer { failures.removeAll() }
    return failures
  }

  /// Takes sound of any kind; passes on every packet it completes.
  package mutating func consume(_ frame: AudioFrame, emit: (EncodedAudioFrame) -> Void) {
    framer.consume(frame) { block in take(block, emit: emit) }
  }

  private mutating func take(_ block: AudioBlock, emit: (EncodedAudioFrame) -> Void) {
    statistics.blocks += 1
    if block.startsAfterGap { startAnew() }
    guard controls.isActive, !controls.isHeld, let encoder = preparedEncoder() else {
      gathered.removeAll(keepingCapacity: true)
      wasSilent = true
      return
    }
    gather(block)
    let due = encoder.settings.frameMilliseconds / 10 * AudioFramer.blockSampleCount * encoder.settings.channels
    if gathered.count >= due { encode(encoder, emit: emit) }
  }

  /// Passes a packet on that was Opus already.
  package mutating func consume(_ frame: EncodedAudioFrame, emit: (EncodedAudioFrame) -> Void) {
    guard controls.isActive, !controls.isMuted, !controls.isHeld else {
      wasSilent = true
      return
    }
    var frame = frame
    frame.position = timeline.place(frame.captureTime, samples: frame.sampleCount)
    frame.startsTalkSpurt = wasSilent
    wasSilent = false
    statistics.packetsEncoded += 1
    statistics.bytesEncoded += UInt64(frame.data.count)
    emit(frame)
  }

  // MARK: - Work

  /// Discards the collected samples: the source's clock has leapt, or the source has changed.
  private mutating func startAnew() {
    statistics.discontinuities += 1
    gathered.removeAll(keepingCapacity: true)
  }

  private mutating func gather(_ block: AudioBlock) {
    if gathered.isEmpty { gatheredTime = block.captureTime }
    if controls.isMuted {
      gathered.append(contentsOf: repeatElement(0, count: block.samples.count))
    } else {
      gathered.append(contentsOf: block.samples)
    }
  }

  private mutating func encode(_ encoder: any AudioEncoder, emit: (EncodedAudioFrame) -> Void) {
    let count = gathered.count / encoder.settings.channels
    let position = timeline.place(gatheredTime, samples: count)
    defer { gathered.removeAll(keepingCapacity: true) }
    do throws(AudioEncoderError) {
      guard let data = try encoder.encode(gathered) else {
        statistics.packetsSilent += 1
        wasSilent = true
        return
      }
      statistics.packetsEncoded += 1
      statistics.bytesEncoded += UInt64(data.count)
      emit(
        EncodedAudioFrame(
          data: data, position: position, sampleCount: count, captureTime: gatheredTime, startsTalkSpurt: wasSilent,
          level: AudioLevel(gathered)))
      wasSilent = false
    } catch {
      self.encoder = nil
      failures.append(error)
    }
  }

  private mutating func preparedEncoder() -> (any AudioEncoder)? {
    do throws(AudioEncoderError) {
      let settings = controls.effective
      if let encoder {
        if encoder.settings != settings { try encoder.reconfigure(settings) }
      } else {
        encoder = try makeEncoder(settings)
      }
    } catch {
      failures.append(error)
    }
    return encoder
  }
}

/// Gives every packet its place in samples at 48 kHz: one after the other, and after a leap of the source's clock where
/// that clock says, never back.
package struct PacketTimeline: Sendable {
  /// Less than this apart, time and samples mean the same moment: clocks of sound devices drift.
  package static let tolerance = TimeDelta.milliseconds(60)
  private static let rate: Int64 = 48_000

  /// The expected position and time of the next packet; nil before the first.
  private var next: (position: Int64, time: Timestamp)?

  package init() {}

  package mutating func place(_ time: Timestamp, samples: Int) -> Int64 {
    let duration = TimeDelta(nanoseconds: Int64(samples) * 1_000_000_000 / Self.rate)
    guard let next else {
      self.next = (Int64(samples), time + duration)
      return 0
    }
    let ahead = time - next.time
    var (position, moment) = (next.position, time)
    if ahead > Self.tolerance {
      position += ahead.nanoseconds / 1_000 * Self.rate / 1_000_000
    } else if ahead >= .zero - Self.tolerance {
      // Slowly, as clocks drift: short holes in the sound add up until they are seen.
      let most = duration.nanoseconds / 1_000
      moment = next.time + TimeDelta(nanoseconds: max(-most, min(most, ahead.nanoseconds)))
    }
    self.next = (position + Int64(samples), moment + duration)
    return position
  }
}
