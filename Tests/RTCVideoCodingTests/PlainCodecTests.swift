import CodingKit
import RTCMedia
import RTCPrimitives
import RTCVideoCoding
import Testing

/// An encoder and its viewer on virtual time, in the codec of the tests.
private struct PlainLoop {
  let encoder: BlockEncoder<PlainContext>
  private var decoder = PlainDecoder()
  var now = Timestamp.zero + .seconds(Int64(1))
  private(set) var shown: PlainPicture?
  private(set) var frames: [EncodedFrame] = []

  init(_ settings: VideoEncoderSettings) throws { encoder = try BlockEncoder(settings) }

  @discardableResult
  mutating func show(_ page: ColourPage, changed: [PixelRect]? = nil) throws -> EncodedFrame? {
    page.draw(into: encoder.picture)
    return try show(encoder.encode(EncodeJob(changed: changed, captureTime: now, now: now)))
  }

  /// Refines whenever the encoder wants to, before `end`.
  mutating func refine(before end: Timestamp) throws {
    while let due = encoder.refinementTime(now: now), due < end, frames.count < 10_000 {
      now = max(due, now + .milliseconds(1))
      _ = try show(encoder.refine(now: now))
    }
    now = max(now, end)
  }

  private mutating func show(_ frame: EncodedFrame?) throws -> EncodedFrame? {
    guard let frame else { return nil }
    let decoded = decoder.decode(frame.data)
    let picture = try #require(decoded)
    for plane in 0..<3 { #expect(picture.planes[plane] == encoder.shownSamples(plane), "plane \(plane)") }
    shown = picture
    frames.append(frame)
    return frame
  }
}

/// A codec that consists of a context and its tables is refined, scrolled and paced as the others are.
@Suite struct PlainCodecTests {
  private let size = PixelSize(width: 642, height: 362)

  private func settings(_ rate: Int64, _ frameRate: Double = 30) -> VideoEncoderSettings {
    VideoEncoderSettings(size: size, maxFrameRate: frameRate, targetBitrate: .kilobitsPerSecond(rate))
  }

  @Test func `a decoder has what the encoder has bit for bit, and at rest the exact picture`() throws {
    var page = ColourPage(size: size)
    var loop = try PlainLoop(settings(4_000))
    try loop.show(page)
    #expect(loop.frames[0].isKeyFrame && loop.frames[0].quantizer > 1)
    try loop.refine(before: loop.now + .seconds(Int64(5)))
    for letter in 0..<5 {
      let rect = page.type(letter)
      try loop.show(page, changed: [rect])
      loop.now = loop.now + .milliseconds(100)
    }
    for _ in 0..<10 {
      page.scroll()
      try loop.show(page)
      loop.now = loop.now + .milliseconds(33)
    }
    try loop.refine(before: loop.now + .seconds(Int64(20)))
    let exact = InputPicture(size: size)
    page.draw(into: exact)
    for plane in 0..<3 {
      let (stride, extent) = (exact.stride(ofPlane: plane), PixelFormat.i420.planeExtent(plane, of: size))
      let samples = exact.withPlane(plane) { bytes in
        (0..<extent.rows).flatMap { y in (0..<extent.rowBytes).map { bytes[y * stride + $0] } }
      }
      #expect(loop.shown?.planes[plane] == samples, "plane \(plane)")
    }
    #expect(loop.encoder.refinementTime(now: loop.now) == nil)
  }

  /// The frames in the second before the time of the next picture, and in the second after it: the picture does not come.
  private func framesOfRest(isAnnounced: Bool) throws -> (before: Int, after: Int) {
    var page = ColourPage(size: size)
    var loop = try PlainLoop(settings(4_000))
    try loop.show(page)
    try loop.refine(before: loop.now + .seconds(Int64(10)))
    // Everything is new, and coarse: the rate is short of what the page costs.
    page = ColourPage(size: size, seed: 77)
    let frame = try loop.show(page)
    #expect(frame.map { $0.quantizer > 1 } == true)
    let time = loop.now + .seconds(Int64(1))
    if isAnnounced { loop.encoder.setNextPicture(by: time) }
    let count = loop.frames.count
    try loop.refine(before: time)
    let before = loop.frames.count - count
    try loop.refine(before: time + .seconds(Int64(1)))
    return (before, loop.frames.count - count - before)
  }

  @Test func `a picture is not refined while the next one is announced, and is refined when its time is over`() throws {
    let (announced, unannounced) = (try framesOfRest(isAnnounced: true), try framesOfRest(isAnnounced: false))
    #expect(unannounced.before > 0, "without an announcement the picture rests, and is refined: \(unannounced)")
    #expect(announced.before == 0 && announced.after > 0, "\(announced)")
  }
}
