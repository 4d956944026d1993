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

  /// Whether this machine has cameras or not, and whether they are open to whoever runs the tests.
  @Test func `a camera that is not there is said with the way on`() async throws {
    let unheard = "no camera is called so 7f3a"
    let names: [String]
    do throws(CaptureError) {
      names = try FoundCamera.all().map(\.name)
    } catch {
      guard case .notPermitted = try await refusal(unheard) else { throw Unexpected() }
      return
    }
    if names.isEmpty {
      let sentence = "There is no camera: no /dev/video* captures pictures. Connect one, or cast something else."
      #expect(try await refusal(nil) == .noSuchSource(sentence))
      #expect(try await refusal(unheard) == .noSuchSource(sentence))
    } else {
      let sentence = "No camera is called “\(unheard)”; there are: \(names.joined(separator: ", "))."
      #expect(try await refusal(unheard) == .noSuchSource(sentence))
    }
    let free = try #require((0..<1_000).first { access("/dev/video\($0)", F_OK) != 0 })
    for wanted in ["\(free)", "video\(free)"] {
      #expect(try await refusal(wanted) == .noSuchSource("There is no camera at /dev/video\(free)."))
    }
  }

  @Test func `a rate of nothing is refused`() async throws {
    var format = Self.wish
    format.frameRates = 0...0
    guard case .unsupportedFormat = try await refusal(nil, format) else { throw Unexpected() }
  }
}
