package import RTCMedia
package import RTCPrimitives

/// 10 ms of sound at 48 kHz.
package struct AudioBlock: Sendable {
  /// 480 for each channel, interleaved, −1…1. The framer uses the memory again when it is not kept.
  package var samples: [Float]
  /// The position of the first sample, in samples at 48 kHz since the framer's first. Increases by 480 from block to
  /// block, and by more where sound is missing.
  package var position: Int64
  /// The capture time of the first sample. Steady: 10 ms from block to block, except for the deviation of the source's
  /// clock.
  package var captureTime: Timestamp
  /// The first of all, and the first after sound that is missing.
  package var startsAfterGap: Bool

  package init(samples: [Float], position: Int64, captureTime: Timestamp, startsAfterGap: Bool) {
    self.samples = samples
    self.position = position
    self.captureTime = captureTime
    self.startsAfterGap = startsAfterGap
  }
}

/// Makes exact blocks of 10 ms at 48 kHz with one or two channels from sound of any rate, channels and length. Used by
/// one thread at a time; a block needs no allocation.
///
/// Rate and channels may change from frame to frame, and frames may be missing: old and new sound are crossfaded over 5
/// ms, so that no noise arises. The source's times may be unsteady by 40 ms. A gap of up to 200 ms is filled with
/// silence; at a longer one `position` leaps. A source whose time goes back by more than 40 ms is believed: `position`
/// continues, times are its own.
package final class AudioFramer {
  /// Counters of repairs.
  package struct Counters: Hashable, Sendable {
    /// Frames without a sample, with a count that is no multiple of the channels, or of an impossible format.
    package var ignoredFrames = 0
    /// Values that were not finite or outside −1…1, before and after resampling.
    package var repairedSamples = 0
    /// Times the source changed its rate or channels.
    package var formatChanges = 0
    /// Holes that were filled with silence.
    package var filledGaps = 0
    /// Holes that were left: `position` leapt.
    package var leaps = 0
    /// Times that went back.
    package var rewinds = 0

    /// All at 0.
    package init() {}
  }

  /// Samples of each channel in a block.
  package static let blockSampleCount = 480
  /// 1 or 2, of the blocks.
  package let channels: Int
  /// The counters since the start.
  package private(set) var counters = Counters()

  private static let jitterLimit = TimeDelta.milliseconds(40)
  private static let fillLimit = TimeDelta.milliseconds(200)
  /// 5 ms.
  private static let fadeLength = 240
  private static let fadeIn = (0..<fadeLength).map { AudioFramer.rise(Float($0) + 0.5) }

  private var stretch: AudioStretch?
  /// The position of its first sample.
  private var stretchStart: Int64 = 0
  private var timeline = AudioTimeline()
  /// Not yet delivered; its first sample stands at `position`.
  private var pending: [Float] = []
  private var position: Int64 = 0
  private var startsAfterGap = true
  private var hasBegun = false
  /// The sound to fade from, and the number of faded samples.
  private var tail: [Float] = []
  private var faded = 0
  private var resampled: [Float] = []
  private var block: [Float]

  /// - Parameter channels: 1 or 2, of the blocks.
  package init(channels: Int = 2) {
    precondition((1...2).contains(channels), "Blocks have one channel or two.")
    self.channels = channels
    block = [Float](repeating: 0, count: Self.blockSampleCount * channels)
    faded = Self.fadeLength
  }

  /// Takes a frame and delivers the blocks that it completes, in order, before it returns.
  package func consume(_ frame: AudioFrame, deliver: (AudioBlock) -> Void) {
    guard place(frame, deliver), let stretch else { return }
    // In parts, so that a frame of an hour takes no more memory than its own.
    let samples = frame.samples.span
    let part = max(1, frame.format.sampleRate / 10) * frame.format.channels
    var start = 0
    while start < samples.count {
      let end = min(start + part, samples.count)
      counters.repairedSamples += stretch.take(samples.extracting(start..<end), into: &resampled)
      append()
      emit(deliver)
      start = end
    }
  }

  /// The source has ended: the rest is delivered, padded with silence. Frames may follow again.
  package func finish(deliver: (AudioBlock) -> Void) {
    guard stretch != nil else { return }
    endStretch()
    pad()
    emit(deliver)
    stretch = nil
  }

  /// Finds the frame's place in time and makes `stretch` one that takes it; false when nothing does.
  private func place(_ frame: AudioFrame, _ deliver: (AudioBlock) -> Void) -> Bool {
    guard (1...8).contains(frame.format.channels), AudioResampler.inputRates.contains(frame.format.sampleRate),
      !frame.samples.isEmpty, frame.samples.count % frame.format.channels == 0
    else {
      counters.ignoredFrames += 1
      return false
    }
    guard let current = stretch else { return resume(frame) }
    let rate = Int64(current.format.sampleRate)
    let heard = TimeDelta(
      nanoseconds: current.consumed / rate * 1_000_000_000 + current.consumed % rate * 1_000_000_000 / rate)
    let offset = frame.captureTime - (timeline.time(of: stretchStart) + heard)
    if offset > Self.fillLimit { return leap(frame, deliver) }
    if offset > Self.jitterLimit {
      fill(offset)
    } else if offset < .zero - Self.jitterLimit {
      counters.rewinds += 1
      endStretch()
      timeline.restart(at: frame.captureTime, position: end)
    } else {
      timeline.note(offset: offset, over: frame.duration)
      if current.format == frame.format { return true }
      endStretch()
    }
    if current.format != frame.format { counters.formatChanges += 1 }
    return begin(frame.format)
  }

  /// The position of the next sample.
  private var end: Int64 { position + Int64(pending.count / channels) }

  private func begin(_ format: AudioFormat) -> Bool {
    stretchStart = end
    do throws(AudioResamplerError) {
      stretch = try AudioStretch(format: format, channels: channels)
    } catch {
      // Memory alone can be wanting: the format was looked at.
      stretch = nil
      counters.ignoredFrames += 1
    }
    return stretch != nil
  }

  /// The first frame of all, or after `finish`.
  private func resume(_ frame: AudioFrame) -> Bool {
    if hasBegun { position += max(0, Self.gap(frame.captureTime - timeline.time(of: position))) }
    hasBegun = true
    startsAfterGap = true
    timeline.restart(at: frame.captureTime, position: position)
    fadeFromSilence()
    return begin(frame.format)
  }

  private func leap(_ frame: AudioFrame, _ deliver: (AudioBlock) -> Void) -> Bool {
    counters.leaps += 1
    if let stretch, stretch.format != frame.format { counters.formatChanges += 1 }
    finish(deliver: deliver)
    return resume(frame)
  }

  private func fill(_ gap: TimeDelta) {
    counters.filledGaps += 1
    endStretch()
    resampled.append(contentsOf: repeatElement(0, count: Int(gap.sampleCount) * channels))
    append()
    fadeFromSilence()
  }

  /// A clock may leap by years; a day of silence is as good.
  private static func gap(_ delta: TimeDelta) -> Int64 { min(delta, .seconds(86_400)).sampleCount }

  /// Ends the stretch: its rest becomes sound, and its extrapolation is what the next sound fades from.
  private func endStretch() {
    guard let stretch else { return }
    var next: [Float] = []
    stretch.end(fade: Self.fadeLength, into: &resampled, tail: &next)
    append()
    // If it ended before it was faded in, the sound it fades from lasts a little longer.
    for index in 0..<max(0, Self.fadeLength - faded) {
      let weight = Self.fadeIn[faded + index]
      for sample in index * channels..<(index + 1) * channels {
        next[sample] = next[sample] * weight + tail[faded * channels + sample] * (1 - weight)
      }
    }
    tail = next
    faded = 0
  }

  private func fadeFromSilence() {
    tail.removeAll(keepingCapacity: true)
    tail.append(contentsOf: repeatElement(0, count: Self.fadeLength * channels))
    faded = 0
  }

  /// Silence up to a whole block, at least until the old sound has faded.
  private func pad() {
    let faded = pending.count + (Self.fadeLength - faded) * channels
    let blocks = (faded + block.count - 1) / block.count
    resampled.append(contentsOf: repeatElement(0, count: blocks * block.count - pending.count))
    append()
  }

  /// Appends resampled sound to the pending, faded and clipped.
  private func append() {
    var index = 0
    while faded < Self.fadeLength, index < resampled.count {
      let weight = Self.fadeIn[faded]
      for channel in 0..<channels {
        resampled[index + channel] =
          resampled[index + channel] * weight + tail[faded * channels + channel] * (1 - weight)
      }
      index += channels
      faded += 1
    }
    for value in resampled {
      if value.magnitude > 1 { counters.repairedSamples += 1 }
      pending.append(min(1, max(-1, value)))
    }
    resampled.removeAll(keepingCapacity: true)
  }

  private func emit(_ deliver: (AudioBlock) -> Void) {
    var start = 0
    while pending.count - start >= block.count {
      for index in block.indices { block[index] = pending[start + index] }
      start += block.count
      let first = startsAfterGap
      let place = position
      startsAfterGap = false
      position += Int64(Self.blockSampleCount)
      deliver(
        AudioBlock(
          samples: block, position: place, captureTime: timeline.time(of: place), startsAfterGap: first))
    }
    pending.removeFirst(start)
  }

  /// Half a period of a cosine, from 0 to 1 over the length of a fade.
  private static func rise(_ index: Float) -> Float {
    // Smoothstep: flat at both ends as the cosine is, and needs no library.
    let t = index / Float(fadeLength)
    return t * t * (3 - 2 * t)
  }
}
