import RTCMedia
import RTCast
import Testing

/// The format requested from a source with several, such as a camera.
@Suite struct FormatChoiceTests {
  private let camera = ManyFormats([
    VideoFormat(size: PixelSize(width: 1280, height: 720), frameRates: 0...30, pixelFormat: .bgra),
    VideoFormat(size: PixelSize(width: 1280, height: 720), frameRates: 0...10, pixelFormat: .i420),
    VideoFormat(size: PixelSize(width: 640, height: 480), frameRates: 0...60, pixelFormat: .i420),
  ])

  @Test func `without a size the first format is asked for, no faster than it is`() throws {
    let format = try #require(Broadcast.format(of: camera, size: nil, frameRate: 60))
    #expect(format.size == PixelSize(width: 1280, height: 720) && format.frameRates == 0...30)
  }

  @Test func `with a size the rate is that of the format nearest to it, not of the first`() throws {
    let small = PixelSize(width: 640, height: 360)
    let format = try #require(Broadcast.format(of: camera, size: small, frameRate: 60))
    #expect(format.size == small && format.frameRates == 0...60)
  }

  @Test func `of two formats of a size the one that is fast enough counts`() throws {
    let format = try #require(Broadcast.format(of: camera, size: PixelSize(width: 1280, height: 720), frameRate: 15))
    #expect(format.pixelFormat == .bgra && format.frameRates == 0...15)
  }

  @Test func `a source that offers nothing is asked all the same, and says why it cannot`() throws {
    let format = try #require(Broadcast.format(of: ManyFormats([]), size: nil, frameRate: 30))
    #expect(format.frameRates == 0...30)
    #expect(Broadcast.format(of: nil, size: nil, frameRate: 30) == nil)
  }
}

/// A source that is never started.
private final class ManyFormats: VideoCapturer {
  let supportedFormats: [VideoFormat]
  let isScreencast = false

  init(_ formats: [VideoFormat]) { supportedFormats = formats }

  func startCapture(format: VideoFormat, consumer: any VideoConsumer) {}
  func stopCapture() {}
}
