import RTCMedia

/// The notice at the end of a stream: the fault, if there is one, and the remedy.
struct PipeEnding {
  enum Cause: Hashable {
    case endOfInput
    case failed(errno: Int32)
    /// A line that should be the stream's header.
    case header(Y4MError)
    /// The data at the place of a picture are not a picture.
    case noPicture
  }

  let cause: Cause
  let stream: PipeStream
  let format: PipeCapturer.Format

  /// When not a single picture was shown.
  var refusal: CaptureError {
    switch cause {
    case .failed(let code): .unavailable("The input cannot be read: \(SystemReason.text(code)).")
    case .header(let error):
      if case .unsupportedSampling = error { .unsupportedFormat(error.sentence) } else { .noSuchSource(error.sentence) }
    case .noPicture: .noSuchSource("The stream has a header, but no picture follows it.")
    case .endOfInput: .noSuchSource(nothingWhole)
    }
  }

  /// When pictures were shown; nil if nothing is missing.
  var complaint: String? {
    switch cause {
    case .failed(let code): "The input cannot be read any more: \(SystemReason.text(code))."
    case .header(.notYUV4MPEG2), .header(.lineTooLong), .noPicture:
      "The stream is damaged: no picture follows after \(count). The cast ends there."
    case .header(let error): error.sentence
    case .endOfInput: incomplete
    }
  }

  private var nothingWhole: String {
    if stream.pictures > 0 { return "The stream was read to its end; there is nothing more in it." }
    switch (stream.position, stream.layout) {
    case (.picture(let read), let layout?) where read > 0 || format == .yuv4mpeg2:
      return "The input ended after \(read) bytes of its first picture, which has \(layout.streamBytes); \(advice)"
    case (.line(let line), nil) where !line.isEmpty:
      return "The input was cut off within the YUV4MPEG2 header, after \(line.count) bytes; \(advice)"
    case (.line, _?): return "The stream has a header, but no picture follows it."
    default: return "The input is empty; the program that should write it failed, or wrote nothing."
    }
  }

  private var incomplete: String? {
    switch stream.position {
    case .line(let line):
      return line.isEmpty ? nil : "The stream was cut off right after \(count); \(advice)"
    case .picture(let read):
      guard format == .yuv4mpeg2 else {
        let whole = stream.layout?.streamBytes ?? 0
        return read == 0
          ? nil
          : "The input is no multiple of \(whole) bytes, one picture: the last \(read) bytes were left out, after "
            + "\(count); \(advice)"
      }
      return "The last picture is incomplete and was left out, after \(count); \(advice)"
    }
  }

  private var advice: String {
    guard format != .yuv4mpeg2, let size = stream.layout?.size else { return "was its writer ended?" }
    return "is \(size) the size that it was written with?"
  }

  private var count: String { stream.pictures == 1 ? "1 whole picture" : "\(stream.pictures) whole pictures" }
}
