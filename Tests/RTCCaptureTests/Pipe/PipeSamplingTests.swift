import RTCCapture
import RTCMedia
import RTCTestKit
import Testing

/// ffmpeg's pictures as they arrive, against ffmpeg's own conversion of them.
@Suite struct PipeSamplingTests {
  private static let picture = "-f lavfi -i testsrc2=size=98x50:rate=50 -frames:v 2"

  /// A pipe with what ffmpeg writes.
  private func writer(_ arguments: String) throws -> StreamWriter {
    let writer = StreamWriter()
    writer.write(try ffmpegOutput(arguments))
    writer.end()
    return writer
  }

  private func frames(_ arguments: String) async throws -> [VideoFrame] {
    let writer = try writer(arguments)
    let capturer = PipeCapturer(.descriptor(writer.reading))
    let collector = FrameCollector()
    capturer.startCapture(format: wanted(), consumer: collector)
    var frames: [VideoFrame] = []
    while let frame = await collector.frame() { frames.append(frame) }
    capturer.stopCapture()
    return frames
  }

  /// The planes' bytes, one after another.
  private func bytes(_ frame: VideoFrame) -> [UInt8] {
    (0..<frame.buffer.format.planeCount).flatMap { index in
      let plane = frame.buffer.bytes(ofPlane: index)
      return plane.indices.map { plane[$0] }
    }
  }

  /// The largest and the mean difference; nil when the counts differ.
  private func difference(_ one: [UInt8], _ other: [UInt8]) -> (worst: Int, mean: Double)? {
    guard one.count == other.count, !one.isEmpty else { return nil }
    let differences = zip(one, other).map { abs(Int($0) - Int($1)) }
    return (differences.max()!, Double(differences.reduce(0, +)) / Double(one.count))
  }

  /// ffmpeg rounds depths otherwise and takes more rows into account where it halves them.
  @Test(arguments: [
    ("yuv420p", "yuv420p", 0), ("yuv444p", "yuv444p", 0), ("yuv422p", "yuv420p", 8), ("yuv420p10le", "yuv420p", 2),
    ("yuv422p10le", "yuv420p", 8), ("yuv444p12le", "yuv444p", 2), ("yuva444p", "yuv444p", 0),
  ]) func `every sampling comes out as ffmpeg converts it`(sampling: String, reference: String, tolerance: Int)
    async throws
  {
    let got = try await frames("\(Self.picture) -pix_fmt \(sampling) -strict -1 -f yuv4mpegpipe -")
    let expected = try ffmpegOutput(
      "\(Self.picture) -vf format=\(sampling),format=\(reference) -f rawvideo -")
    guard let (worst, mean) = difference(got.flatMap { bytes($0) }, expected) else {
      Issue.record("\(got.count) pictures of 2")
      return
    }
    #expect(worst <= tolerance)
    #expect(mean < 0.7)
  }

  @Test(arguments: ["gray", "gray10le"])
  func `shades of grey, which ffmpeg makes in full range, come out limited and without colour`(sampling: String)
    async throws
  {
    let got = try await frames("\(Self.picture) -pix_fmt \(sampling) -strict -1 -f yuv4mpegpipe -")
    let expected = try ffmpegOutput("\(Self.picture) -vf format=yuv420p -f rawvideo -")
    guard let frame = got.first, let (worst, _) = difference(Array(bytes(frame)[..<4_900]), Array(expected[..<4_900]))
    else {
      Issue.record("\(got.count) pictures of 2")
      return
    }
    #expect(worst <= 2)
    #expect(bytes(frame)[4_900...].allSatisfy { $0 == 128 })
  }

  @Test func `full range becomes what browsers expect`() async throws {
    let full = try await frames("\(Self.picture) -vf scale=out_range=full -pix_fmt yuvj420p -f yuv4mpegpipe -")
    let limited = try await frames("\(Self.picture) -vf scale=out_range=limited -pix_fmt yuv420p -f yuv4mpegpipe -")
    guard full.count == 2, limited.count == 2 else {
      Issue.record("pictures are missing")
      return
    }
    let worst = zip(bytes(full[0]), bytes(limited[0])).map { abs(Int($0) - Int($1)) }.max() ?? 255
    #expect(worst <= 3)
  }

  @Test func `a sampling that is not taken is refused with what to do`() async throws {
    let writer = try writer("\(Self.picture) -pix_fmt yuv411p -f yuv4mpegpipe -")
    let collector = FrameCollector()
    let capturer = PipeCapturer(.descriptor(writer.reading))
    capturer.startCapture(format: wanted(), consumer: collector)
    guard case .failure(.unsupportedFormat(let sentence)) = await collector.started() else {
      Issue.record("not refused")
      return
    }
    #expect(sentence.contains("-pix_fmt yuv420p"))
    capturer.stopCapture()
  }
}
