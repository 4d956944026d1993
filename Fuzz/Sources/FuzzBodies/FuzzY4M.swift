import RTCCapture

/// A stream's header line: an accepted one can be shown, a refused one has a short sentence.
public func fuzzY4M(_ bytes: Span<UInt8>) {
  do throws(Y4MError) {
    let header = try Y4MHeader(parsing: bytes)
    precondition((1...8192).contains(header.size.width) && (1...8192).contains(header.size.height))
    precondition(header.frameRate.map { (0.01...1000).contains($0) } ?? true)
    precondition((8...16).contains(header.sampling.bitDepth))
  } catch {
    precondition(error.sentence.utf8.count < 400)
  }
}
