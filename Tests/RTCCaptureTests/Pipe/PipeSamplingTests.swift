import RTCCapture
import RTCMedia
import RTCTestKit
import Testing

/// ffmpeg's pictures as they arrive, against ffmpeg's own conversion of them.
@Suite struct PipeSamplingTests {
  private static let picture = "-f lavfi -i testsrc2=size=98x50:rate=50 -frames:v 2"

  private func frames(_ command: String) async -> [VideoFrame] {
    let output = CommandOutput.ffmpeg(command)
    let capturer = PipeCapturer(.descriptor(output.descriptor))
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

  @Test(arguments: [
    ("yuv420p", "yuv420p", 0), ("yuv444p", "yuv444p", 0), ("gray", "gray", 0), ("yuv422p", "yuv420p", 3),
    ("yuv420p10le", "yuv420p", 2), ("yuv422p10le", "yuv420p", 3), ("yuv444p12le", "yuv444p", 2),
    ("gray10le", "gray", 2),
    ("yuva444p", "yuv444p", 0),
  ])
  func `Every sampling comes out as ffmpeg converts it`(sampling: String, reference: String, tolerance: Int) async {
    let first = await frames("\(Self.picture) -pix_fmt \(sampling) -strict -1 -f yuv4mpegpipe -")
    guard first.count == 2 else {
      Issue.record("\(first.count) pictures of 2")
      return
    }
    let expected = CommandOutput.ffmpeg(
      "\(Self.picture) -vf format=\(sampling),format=\(reference) -f rawvideo -"
    ).bytes()
    let got = first.flatMap { frame in reference == "gray" ? Array(bytes(frame).prefix(98 * 50)) : bytes(frame) }
    #expect(got.count == expected.count)
    let worst = zip(got, expected).map { abs(Int($0) - Int($1)) }.max() ?? 255
    #expect(worst <= tolerance)
    if reference == "gray" { #expect(bytes(first[0]).suffix(from: 98 * 50).allSatisfy { $0 == 128 }) }
  }

  @Test func `Full range becomes what browsers expect`() async {
    let full = await frames("\(Self.picture) -vf scale=out_range=full -pix_fmt yuvj420p -f yuv4mpegpipe -")
    let limited = await frames("\(Self.picture) -vf scale=out_range=limited -pix_fmt yuv420p -f yuv4mpegpipe -")
    guard full.count == 2, limited.count == 2 else {
      Issue.record("pictures are missing")
      return
    }
    let worst = zip(bytes(full[0]), bytes(limited[0])).map { abs(Int($0) - Int($1)) }.max() ?? 255
    #expect(worst <= 3)
  }

  @Test func `A sampling that is not taken is refused with what to do`() async {
    let output = CommandOutput.ffmpeg("\(Self.picture) -pix_fmt yuv411p -f yuv4mpegpipe -")
    let collector = FrameCollector()
    let capturer = PipeCapturer(.descriptor(output.descriptor))
    capturer.startCapture(format: wanted(), consumer: collector)
    guard case .failure(.unsupportedFormat(let sentence)) = await collector.started() else {
      Issue.record("not refused")
      return
    }
    #expect(sentence.contains("-pix_fmt yuv420p"))
    capturer.stopCapture()
  }
}
