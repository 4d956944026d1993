import FeatureKit
import Glibc
import RTCCaptureCamera
import RTCMedia
import RTCTestKit
import Testing

@Suite struct RefusalTests {
  private static let wish = VideoFormat(
    size: PixelSize(width: 640, height: 480), frameRates: 0...30, pixelFormat: .i420)

  private func refusal(_ camera: String?, _ format: VideoFormat = wish) async throws -> CaptureError {
    let capturer = CameraCapturer(camera: camera)
    let collector = FrameCollector()
    capturer.startCapture(format: format, consumer: collector)
    defer { capturer.stopCapture() }
    guard case .failure(let error) = try #require(await collector.started()) else { throw Unexpected() }
    return error
  }

  private struct Unexpected: Error {}

  @Test(.feature("S1.22", "S3.38")) func `what is not a camera is refused by name, and can be tried again`()
    async throws
  {
    #expect(try await refusal("/dev/null") == .noSuchSource("/dev/null is not a camera."))
    #expect(try await refusal("/dev/null") == .noSuchSource("/dev/null is not a camera."))
    #expect(try await refusal("/nowhere/video0") == .noSuchSource("There is no camera at /nowhere/video0."))
    #expect(try await refusal("/") == .noSuchSource("/ is not a camera."))
    #expect(CameraCapturer(camera: "/dev/null").supportedFormats.isEmpty)
  }

  @Test(.enabled(if: (0..<64).allSatisfy { access("/dev/video\($0)", F_OK) != 0 }))
  func `without a camera the sentence says so`() async throws {
    let sentence = "There is no camera: no /dev/video* captures pictures. Connect one, or go on without."
    #expect(try await refusal(nil) == .noSuchSource(sentence))
    #expect(try await refusal("Integrated") == .noSuchSource(sentence))
    #expect(try FoundCamera.all().isEmpty)
    #expect(try await refusal("7") == .noSuchSource("There is no camera at /dev/video7."))
    #expect(try await refusal("video0") == .noSuchSource("There is no camera at /dev/video0."))
  }

  @Test func `a rate of nothing is refused`() async throws {
    var format = Self.wish
    format.frameRates = 0...0
    guard case .unsupportedFormat = try await refusal(nil, format) else { throw Unexpected() }
  }
}
