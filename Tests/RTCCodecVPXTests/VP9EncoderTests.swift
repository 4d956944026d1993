import RTCCodecVPX
import RTCMedia
import RTCPrimitives
import Testing

@Suite struct VP9EncoderTests {
  /// Cut superblocks, and odd planes of colour.
  private let size = PixelSize(width: 637, height: 359)

  private func settings(
    _ chroma: ChromaSampling = .quarter, _ rate: BitRate = .megabitsPerSecond(2), hint: ContentHint = .detail
  ) -> VideoEncoderSettings {
    VideoEncoderSettings(size: size, contentHint: hint, targetBitrate: rate, chroma: chroma)
  }

  @Test(arguments: [ChromaSampling.quarter, .full])
  func `viewers decode exactly what the encoder believes they have`(chroma: ChromaSampling) throws {
    var page = ColouredPage(size: size)
    var loop = try VP9Loop(settings(chroma, .kilobitsPerSecond(600)))
    for step in 0..<40 {
      let rect = PixelRect(x: step * 37 % 500, y: step * 53 % 300, width: 90, height: 44)
      if step % 3 == 2 { page.scroll(by: 6) } else { page.write(in: rect) }
      page.draw(into: loop.encoder.picture)
      _ = try loop.encode(changed: step % 3 == 2 ? nil : [rect])
      loop.now += .milliseconds(33)
      if step % 5 == 4 { _ = try loop.refine() }
      let shown = try #require(loop.shown)
      for index in 0..<3 { try #require(shown.samples(index) == loop.encoder.shownSamples(index)) }
    }
  }

  @Test(arguments: [ChromaSampling.quarter, .full])
  func `every other frame of a movement can be done without`(chroma: ChromaSampling) throws {
    var page = ColouredPage(size: size)
    var wanted = settings(chroma)
    wanted.scalabilityMode = .l1t2
    var loop = try VP9Loop(wanted)
    let baseDecoder = try VP9Decoder()
    var frames: [EncodedFrame] = []
    func note(_ frame: EncodedFrame?) throws {
      guard let frame else { return }
      frames.append(frame)
      let shown = try #require(loop.shown)
      // libvpx does not filter its own picture of a frame that none needs.
      guard frame.layer.temporal == 0 else { return }
      let isAsBelieved = (0..<3).allSatisfy { shown.samples($0) == loop.encoder.shownSamples($0) }
      try #require(isAsBelieved, "frame \(frame.number)")
      let shownByBase = try #require(try baseDecoder.decode(frame.data))
      let isSame = (0..<3).allSatisfy { shownByBase.samples($0) == shown.samples($0) }
      try #require(isSame, "frame \(frame.number) without the upper layer")
    }
    page.draw(into: loop.encoder.picture)
    try note(loop.encode(changed: nil))
    for step in 0..<61 {
      page.scroll(by: 6)
      // What stands still meanwhile must not be lost in the upper layer.
      if step % 7 == 3 { page.write(in: PixelRect(x: 40 + step, y: 100, width: 90, height: 20)) }
      page.draw(into: loop.encoder.picture)
      loop.now += .milliseconds(33)
      try note(loop.encode(changed: nil))
      // The next step comes before what is in the upper layer is coded again.
      if let due = loop.encoder.refinementTime(now: loop.now), due < loop.now + .milliseconds(30),
        frames.last?.layer.temporal == 1
      {
        Issue.record("refined \(due - loop.now) after a frame of the upper layer")
      }
    }
    let upper = frames.filter { $0.layer.temporal == 1 }
    #expect(upper.count > frames.count / 3 && upper.count <= frames.count / 2)
    // Each needs the newest of the lowest layer, and no other.
    var base: UInt64?
    for frame in frames {
      #expect(frame.references == .frames(frame.isKeyFrame ? [] : [base ?? .max]))
      if frame.layer.temporal == 0 { base = frame.number }
    }
    while let due = loop.encoder.refinementTime(now: loop.now), frames.count < 1_000 {
      loop.now = max(due, loop.now + .milliseconds(1))
      try note(loop.refine())
    }
    #expect(frames.last?.layer.temporal == 0)
    #expect(page.luma(try #require(loop.shown)) >= 48)
  }

  @Test func `small changes and slow movements are all in the lowest layer`() throws {
    var page = ColouredPage(size: size)
    var wanted = settings()
    wanted.scalabilityMode = .l1t2
    var loop = try VP9Loop(wanted)
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    for step in 0..<20 {
      let rect = PixelRect(x: 40 + step * 9, y: 100, width: 9, height: 16)
      if step % 2 == 0 { page.write(in: rect) } else { page.scroll(by: 6) }
      page.draw(into: loop.encoder.picture)
      loop.now += .milliseconds(step % 2 == 0 ? 33 : 200)
      let frame = try loop.encode(changed: step % 2 == 0 ? [rect] : nil)
      #expect(frame?.layer.temporal ?? 0 == 0)
    }
  }

  @Test(arguments: [ChromaSampling.quarter, .full])
  func `a picture that rests looks as it is and then nothing is sent`(chroma: ChromaSampling) throws {
    let page = ColouredPage(size: size)
    var loop = try VP9Loop(settings(chroma, .kilobitsPerSecond(600)))
    page.draw(into: loop.encoder.picture)
    let first = try #require(try loop.encode(changed: nil))
    #expect(first.isKeyFrame && first.data.count < 60_000)
    _ = try loop.rest(for: .seconds(Int64(30)))
    let shown = try #require(loop.shown)
    #expect(page.luma(shown) >= 48)
    #expect(chroma == .quarter || page.rgb(shown) >= 44)
    #expect(loop.encoder.refinementTime(now: loop.now) == nil)
    #expect(try loop.encoder.refine(now: loop.now) == nil)
    #expect(try loop.encode(changed: []) == nil)
  }

  @Test(arguments: [ChromaSampling.quarter, .full])
  func `a change leaves the rest of the picture as it was, bit by bit`(chroma: ChromaSampling) throws {
    var page = ColouredPage(size: size)
    var loop = try VP9Loop(settings(chroma))
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    _ = try loop.rest(for: .seconds(Int64(30)))
    let before = try #require(loop.shown)
    // All of it within one superblock, not at its edge.
    let rect = PixelRect(x: 210, y: 146, width: 12, height: 14)
    page.write(in: rect)
    page.draw(into: loop.encoder.picture)
    let frame = try #require(try loop.encode(changed: [rect]))
    #expect(frame.data.count < 700)
    let after = try #require(loop.shown)
    let superblock = PixelRect(x: 192, y: 128, width: 64, height: 64)
    var differing = 0
    let (a, b) = (before.samples(0), after.samples(0))
    for y in 0..<size.height {
      for x in 0..<size.width where a[y * size.width + x] != b[y * size.width + x] {
        if !(superblock.x..<superblock.maxX ~= x && superblock.y..<superblock.maxY ~= y) { differing += 1 }
      }
    }
    #expect(differing == 0)
    #expect(page.luma(after, in: superblock) >= 46)
  }

  @Test func `what became coarse beside a coarse change is made fine again`() throws {
    var page = ColouredPage(size: size)
    var loop = try VP9Loop(settings())
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    _ = try loop.rest(for: .seconds(Int64(30)))
    loop.encoder.setTargetBitrate(.kilobitsPerSecond(100))
    // Stripes through many superblocks, over and over.
    for step in 0..<6 {
      let stripes = (0..<5).map { PixelRect(x: 0, y: 24 + 64 * $0, width: size.width, height: 20) }
      for stripe in stripes { page.write(in: stripe) }
      page.draw(into: loop.encoder.picture)
      loop.now += .milliseconds(Int64(300 + step))
      _ = try loop.encode(changed: stripes)
    }
    let beside = (0..<5).map { PixelRect(x: 0, y: 64 * $0 + 8, width: size.width, height: 8) }
    let coarse = try #require(loop.shown)
    #expect(beside.contains { page.luma(coarse, in: $0) < 46 }, "a change is coded with what stands beside it")
    loop.encoder.setTargetBitrate(.megabitsPerSecond(2))
    _ = try loop.rest(for: .seconds(Int64(30)))
    let shown = try #require(loop.shown)
    for rect in beside { #expect(page.luma(shown, in: rect) >= 47) }
  }

  @Test func `what was said to have changed and has not costs next to nothing`() throws {
    var page = ColouredPage(size: size)
    var loop = try VP9Loop(settings())
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    _ = try loop.rest(for: .seconds(Int64(30)))
    let whole = try loop.encode(changed: nil)
    #expect(whole.map { $0.data.count < 400 } ?? true)
    let rect = PixelRect(x: 330, y: 200, width: 8, height: 12)
    page.fill(rect, (40, 90, 200))
    page.draw(into: loop.encoder.picture)
    let frame = try #require(try loop.encode(changed: nil))
    #expect(frame.data.count < 700)
    #expect(page.luma(try #require(loop.shown)) >= 48)
  }

  @Test(arguments: [ChromaSampling.quarter, .full])
  func `a page that scrolls keeps to the rate and the frame rate`(chroma: ChromaSampling) throws {
    var page = ColouredPage(size: size)
    let rate = BitRate.kilobitsPerSecond(500)
    var loop = try VP9Loop(settings(chroma, rate))
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    _ = try loop.rest(for: .seconds(Int64(30)))
    var (frames, bytes) = (0, 0)
    for _ in 0..<90 {
      page.scroll(by: 6)
      page.draw(into: loop.encoder.picture)
      loop.now += .nanoseconds(33_333_333)
      if let frame = try loop.encode(changed: nil) { (frames, bytes) = (frames + 1, bytes + frame.data.count) }
    }
    #expect(Double(bytes) <= Double(rate.bytes(in: .seconds(Int64(3)))) * 1.15)
    #expect(frames >= 75)
    #expect(page.luma(try #require(loop.shown)) >= 26)
  }

  @Test func `a film keeps its frame rate, however coarse`() throws {
    var page = ColouredPage(size: size)
    var loop = try VP9Loop(settings(.quarter, .kilobitsPerSecond(200), hint: .motion))
    var frames = 0
    for _ in 0..<30 {
      page.write(in: PixelRect(x: 0, y: 0, width: 400, height: 300))
      page.draw(into: loop.encoder.picture)
      if try loop.encode(changed: nil) != nil { frames += 1 }
      loop.now += .milliseconds(100)
    }
    #expect(frames >= 24)
  }

  @Test func `a key frame that is asked for needs no other frame and is refined again`() throws {
    let page = ColouredPage(size: size)
    var loop = try VP9Loop(settings(.full))
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    _ = try loop.rest(for: .seconds(Int64(30)))
    let key = try #require(try loop.encode(changed: [], keyFrame: true))
    #expect(key.isKeyFrame)
    let late = try VP9Decoder()
    #expect(try late.decode(key.data)?.size == size)
    _ = try loop.rest(for: .seconds(Int64(30)))
    #expect(page.luma(try #require(loop.shown)) >= 48)
  }

  @Test func `no key frame comes unasked`() throws {
    var page = ColouredPage(size: PixelSize(width: 160, height: 96))
    var made = settings()
    made.size = page.size
    var loop = try VP9Loop(made)
    for index in 0..<300 {
      page.write(in: PixelRect(x: 0, y: 0, width: 160, height: index % 90 == 0 ? 96 : 20))
      page.draw(into: loop.encoder.picture)
      loop.now += .milliseconds(33)
      let frame = try loop.encode(changed: nil)
      #expect(index == 0 || frame?.isKeyFrame != true)
    }
  }

  @Test func `another size or chroma is taken over, with a key frame`() throws {
    var loop = try VP9Loop(settings())
    ColouredPage(size: size).draw(into: loop.encoder.picture)
    #expect(try loop.encode(changed: nil)?.chroma == .quarter)
    #expect(loop.shown?.format == .i420)
    var new = settings(.full)
    new.size = PixelSize(width: 800, height: 450)
    try loop.encoder.reconfigure(new)
    #expect(loop.encoder.picture.format == .i444 && loop.encoder.picture.size == new.size)
    let page = ColouredPage(size: new.size)
    page.draw(into: loop.encoder.picture)
    loop.now += .seconds(Int64(1))
    let frame = try #require(try loop.encode(changed: []))
    #expect(frame.isKeyFrame && frame.size == new.size && frame.chroma == .full)
    #expect(loop.shown?.format == .i444 && loop.shown?.size == new.size)
  }

  @Test(arguments: [(ChromaSampling.quarter, UInt8(0)), (.full, 1)])
  func `the bitstream says its profile and what its colours mean`(chroma: ChromaSampling, profile: UInt8) throws {
    var loop = try VP9Loop(settings(chroma))
    ColouredPage(size: size).draw(into: loop.encoder.picture)
    let frame = try #require(try loop.encode(changed: nil))
    // Two bits of a marker, then the profile, its low bit first.
    #expect(frame.data[0] >> 5 & 1 == profile && frame.data[0] >> 4 & 1 == 0)
    #expect(loop.decoder.colorSpace == .bt601Limited)
  }

  @Test func `the quantizer stays within what was asked for`() throws {
    var bounded = settings()
    bounded.quantizerRange = 50...60
    var loop = try VP9Loop(bounded)
    ColouredPage(size: size).draw(into: loop.encoder.picture)
    let first = try #require(try loop.encode(changed: nil))
    #expect(31...37 ~= first.quantizer)
    loop.now += .seconds(Int64(3))
    while let due = loop.encoder.refinementTime(now: loop.now) {
      loop.now = max(due, loop.now + .milliseconds(1))
      if let frame = try loop.refine() { #expect(31...37 ~= frame.quantizer) }
    }
  }

  @Test func `while what was made before waits, changes are left out and come later`() throws {
    var page = ColouredPage(size: size)
    var loop = try VP9Loop(settings())
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    _ = try loop.rest(for: .seconds(Int64(30)))
    loop.encoder.setSendQueue(drained: loop.now + .milliseconds(500))
    page.write(in: PixelRect(x: 100, y: 100, width: 60, height: 40))
    page.draw(into: loop.encoder.picture)
    #expect(try loop.encode(changed: [PixelRect(x: 100, y: 100, width: 60, height: 40)]) == nil)
    let due = try #require(loop.encoder.refinementTime(now: loop.now))
    #expect(due >= loop.now + .milliseconds(300))
    _ = try loop.rest(for: .seconds(Int64(3)))
    #expect(page.luma(try #require(loop.shown)) >= 47)
  }

  @Test func `frames that do not fit and sizes beyond 16k are refused`() throws {
    let loop = try VP9Loop(settings(.full))
    let frame = VideoFrame(
      buffer: try #require(PixelBuffer.allocate(format: .i420, size: size) { _, _, _ in }), captureTime: .zero,
      colorSpace: .bt601Limited)
    #expect(throws: VideoEncoderError.unsuitableFrame(.i420, size)) {
      try loop.encoder.encode(EncodeJob(source: .frame(frame), changed: nil, captureTime: .zero, now: .zero))
    }
    let huge = PixelSize(width: 16_384, height: 16)
    #expect(throws: VideoEncoderError.unsupportedSize(huge)) { try VP9Encoder(VideoEncoderSettings(size: huge)) }
  }

  @Test(arguments: [PixelSize(width: 1, height: 1), PixelSize(width: 3, height: 70), PixelSize(width: 70, height: 2)])
  func `tiny pictures are coded`(tiny: PixelSize) throws {
    for chroma in [ChromaSampling.quarter, .full] {
      var loop = try VP9Loop(VideoEncoderSettings(size: tiny, chroma: chroma))
      _ = try #require(try loop.encode(changed: nil))
      loop.now += .seconds(Int64(1))
      loop.encoder.picture.withMutablePlane(0) { $0[0] = 200 }
      _ = try loop.encode(changed: nil)
      _ = try loop.rest(for: .seconds(Int64(5)))
      #expect(loop.shown?.size == tiny)
    }
  }
}

/// An encoder, a decoder of what it makes, and virtual time.
private struct VP9Loop {
  let encoder: VP9Encoder
  let decoder: VP9Decoder
  var now = Timestamp.zero
  var shown: PixelBuffer?

  init(_ settings: VideoEncoderSettings) throws {
    encoder = try VP9Encoder(settings)
    decoder = try VP9Decoder()
  }

  mutating func encode(changed: [PixelRect]?, keyFrame: Bool = false) throws -> EncodedFrame? {
    try show(encoder.encode(EncodeJob(changed: changed, keyFrame: keyFrame, captureTime: now, now: now)))
  }

  /// Refines whenever the encoder wants to, until it is done or `limit` has passed; returns the bytes this took.
  mutating func rest(for limit: TimeDelta) throws -> Int {
    let end = now + limit
    var (frames, bytes) = (0, 0)
    while let due = encoder.refinementTime(now: now), due <= end, frames < 1000 {
      now = max(due, now + .milliseconds(1))
      if let frame = try refine() { (frames, bytes) = (frames + 1, bytes + frame.data.count) }
    }
    now = max(now, end)
    return bytes
  }

  mutating func refine() throws -> EncodedFrame? { try show(encoder.refine(now: now)) }

  private mutating func show(_ frame: EncodedFrame?) throws -> EncodedFrame? {
    if let frame { shown = try decoder.decode(frame.data) }
    return frame
  }
}
