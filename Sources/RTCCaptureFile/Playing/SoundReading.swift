internal import CFFmpeg
internal import RTCMedia
internal import RTCPrimitives

/// Decodes a player's sound and puts it where the delivery finds it. On the reader thread.
final class SoundReading {
  /// Times that are off by less are roundings of the container: the count of samples is truer.
  private static let tolerance = TimeDelta.milliseconds(10)

  private let core: PlaybackCore
  private let decoder: CodecContext
  private let converter = SoundConverter()
  /// Where the sound so far ends: a start and the samples since, so that nothing adds up.
  private var chain: (start: TimeDelta, rate: Int, samples: Int)?
  private var bridge = SoundBridge()

  init?(_ stream: MediaStream, core: PlaybackCore) {
    guard let decoder = try? CodecContext(stream) else { return nil }
    self.core = core
    self.decoder = decoder
  }

  func decode(_ work: PacketLog.Work) {
    if work.startsAnew {
      reset()
      bridge = SoundBridge()
    }
    switch work.entry {
    case .packet(let packet):
      core.monitor.note { state, _ in state.audio.sent += 1 }
      decoder.send(packet.payload)
      collect()
    case .boundary(let floor, _):
      decoder.send(nil)
      collect()
      reset()
      bridge.passEnded()
      core.monitor.change { state, _ in PlayerState.finishPass(&state.audio, floor: floor) }
    }
  }

  func reset() {
    decoder.flush()
    chain = nil
  }

  private func collect() {
    while let frame = decoder.receive() {
      var owned: UnsafeMutablePointer<AVFrame>? = frame
      defer { av_frame_free(&owned) }
      guard let (format, samples) = converter.samples(of: frame) else { continue }
      let told = frame.pointee.best_effort_timestamp
      let count = samples.count / format.channels
      let time = place(told == cffmpeg_no_timestamp ? nil : TimeDelta(nanoseconds: told), count, format.sampleRate)
      var piece = SoundPiece(format: format, samples: samples, time: time)
      core.monitor.change { state, _ in
        state.audio.made += 1
        guard state.decodesSound, piece.drop(before: state.audio.floor) else { return }
        state.audio.total += 1
        if let filling = bridge.filling(before: piece) { state.sounds.append(filling) }
        state.sounds.append(piece)
      }
    }
  }

  private func place(_ told: TimeDelta?, _ count: Int, _ rate: Int) -> TimeDelta {
    if let chain, chain.rate == rate {
      let end = chain.start + SoundPiece.duration(chain.samples, at: rate)
      if told.map({ abs(($0 - end).nanoseconds) < Self.tolerance.nanoseconds }) ?? true {
        self.chain?.samples += count
        return end
      }
    }
    let start = told ?? chain.map { $0.start + SoundPiece.duration($0.samples, at: $0.rate) } ?? .zero
    chain = (start, rate, count)
    return start
  }
}
