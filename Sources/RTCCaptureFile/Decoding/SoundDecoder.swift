internal import CFFmpeg
internal import RTCMedia
internal import RTCPrimitives

/// Decodes a stream of sound. Used by one thread.
final class SoundDecoder {
  /// Times that are off by less are roundings of the container: the count of samples is truer.
  private static let tolerance = TimeDelta.milliseconds(10)

  private let decoder: CodecContext
  private let converter = SoundConverter()
  /// The end of the sound so far, as a start and the samples since, so that rounding errors do not add up.
  private var chain: (start: TimeDelta, rate: Int, samples: Int)?

  /// Creates a decoder; nil when nothing can decode the stream.
  init?(_ stream: MediaStream) {
    guard let decoder = try? CodecContext(stream) else { return nil }
    self.decoder = decoder
  }

  func decode(_ packet: PacketPayload) -> [SoundPiece] {
    decoder.send(packet)
    return collect()
  }

  func finish() -> [SoundPiece] {
    decoder.send(nil)
    let pieces = collect()
    reset()
    return pieces
  }

  func reset() {
    decoder.flush()
    chain = nil
  }

  private func collect() -> [SoundPiece] {
    var pieces: [SoundPiece] = []
    while let frame = decoder.receive() {
      var owned: UnsafeMutablePointer<AVFrame>? = frame
      defer { av_frame_free(&owned) }
      guard let (format, samples) = converter.samples(of: frame) else { continue }
      let told = frame.pointee.best_effort_timestamp
      let count = samples.count / format.channels
      let time = place(told == cffmpeg_no_timestamp ? nil : TimeDelta(nanoseconds: told), count, format.sampleRate)
      pieces.append(SoundPiece(format: format, samples: samples, time: time))
    }
    return pieces
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
