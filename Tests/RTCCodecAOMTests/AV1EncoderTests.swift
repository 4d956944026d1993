import CodingKit
import RTCCodecAOM
import RTCMedia
import RTCPrimitives
import RTCWire
import Testing

@Suite struct AV1EncoderTests {
  private typealias Loop = CodingLoop<AV1Context>

  private let size = PixelSize(width: 640, height: 352)

  private func settings(_ kilobits: Int64 = 1_000, chroma: ChromaSampling = .quarter) -> VideoEncoderSettings {
    VideoEncoderSettings(size: size, targetBitrate: .kilobitsPerSecond(kilobits), chroma: chroma)
  }

  @Test func `a resting page becomes visually lossless and then nothing is sent`() throws {
    let page = ColourPage(size: size)
    var loop = try Loop(settings(400))
    let first = try #require(try loop.show(page))
    #expect(first.isKeyFrame && first.codec == .av1 && first.chroma == .quarter)
    #expect(first.data.count < 25_000)
    try loop.rest(for: .seconds(Int64(30)))
    #expect(page.lumaPSNR(try #require(loop.shown)) >= 48)
    #expect(loop.encoder.refinementTime(now: loop.now) == nil)
    #expect(try loop.encoder.refine(now: loop.now) == nil)
    #expect(try loop.encode(changed: []) == nil)
    #expect(try loop.encode(changed: nil) == nil)
  }

  @Test func `coloured letters rest as sharp in colour as in luma when chroma is full`() throws {
    let page = ColourPage(size: size, chroma: .full)
    var loop = try Loop(settings(2_500, chroma: .full))
    let first = try #require(try loop.show(page))
    #expect(first.chroma == .full)
    try loop.rest(for: .seconds(Int64(30)))
    let shown = try #require(loop.shown)
    #expect(shown.format == .i444)
    #expect(page.colourPSNR(shown) >= 44)
    #expect(page.lumaPSNR(shown) >= 48)
    #expect(loop.encoder.refinementTime(now: loop.now) == nil)
  }

  @Test func `a letter changes nothing outside its superblock and costs little, however much is said to have changed`()
    throws
  {
    var page = ColourPage(size: size)
    var loop = try Loop(settings())
    try loop.show(page)
    try loop.rest(for: .seconds(Int64(30)))
    let before = try #require(loop.shown)
    let letter = page.type(3)
    let frame = try #require(try loop.show(page))
    #expect(frame.data.count < 500)
    let after = try #require(loop.shown)
    #expect(page.lumaPSNR(after) >= 48)
    for plane in 0..<3 {
      let side = plane == 0 ? 64 : 32
      let (x, y) = (letter.x * side / 64 / side, letter.y * side / 64 / side)
      let extent = PixelFormat.i420.planeExtent(plane, of: size)
      var differing = 0
      for row in 0..<extent.rows {
        for column in 0..<extent.rowBytes where row / side != y || column / side != x {
          let new = after.bytes(ofPlane: plane)[row * after.stride(ofPlane: plane) + column]
          if new != before.bytes(ofPlane: plane)[row * before.stride(ofPlane: plane) + column] { differing += 1 }
        }
      }
      #expect(differing == 0, "plane \(plane)")
    }
  }

  /// Blocks that are kept must not drift, frame by frame, from the pixels that viewers have.
  @Test func `hundreds of letters later the whole page is still as sharp`() throws {
    var page = ColourPage(size: size)
    var loop = try Loop(settings(2_000))
    try loop.show(page)
    try loop.rest(for: .seconds(Int64(20)))
    for number in 0..<200 {
      let rect = page.type(number % 60)
      if number % 10 == 0 { page.writeLine(number / 10 % 19 * 18, seed: UInt64(number)) }
      try loop.show(page, changed: number % 10 == 0 ? nil : [rect])
      try loop.rest(for: .milliseconds(50))
    }
    try loop.rest(for: .seconds(Int64(20)))
    #expect(page.lumaPSNR(try #require(loop.shown)) >= 48)
    #expect(loop.encoder.refinementTime(now: loop.now) == nil)
  }

  @Test func `a page that scrolls keeps to the rate and comes out as fine as that allows`() throws {
    var page = ColourPage(size: size)
    var loop = try Loop(settings(600))
    try loop.show(page)
    try loop.rest(for: .seconds(Int64(20)))
    let before = loop.frames.count
    for _ in 0..<60 {
      page.scroll()
      try loop.show(page)
      loop.now += .seconds(1.0 / 30)
    }
    let sent = loop.frames[before...]
    let bytes = sent.reduce(0) { $0 + $1.data.count }
    // Two seconds of the rate, and what was saved before.
    #expect(bytes < 600_000 / 8 * 5 / 2)
    #expect(sent.count > 30)
    try loop.rest(for: .seconds(Int64(20)))
    #expect(page.lumaPSNR(try #require(loop.shown)) >= 48)
  }

  /// Squares that change places add up to what was there before, which misled libaom.
  @Test(arguments: [ChromaSampling.quarter, .full])
  func `what changes beside a scroll is never left as it was`(chroma: ChromaSampling) throws {
    let size = PixelSize(width: 1300, height: 740)
    var page = ColourPage(size: size, chroma: chroma)
    var loop = try Loop(
      VideoEncoderSettings(size: size, targetBitrate: .kilobitsPerSecond(2_500), chroma: chroma))
    page.showCode(0)
    try loop.show(page)
    for step in 1..<60 {
      page.scroll()
      page.showCode(step)
      if try loop.show(page) != nil {
        let wrong = page.wrongSquares(try #require(loop.shown))
        #expect(wrong == 0, "step \(step)")
      }
      try loop.rest(for: .seconds(1.0 / 30))
    }
    try loop.rest(for: .seconds(Int64(5)))
    #expect(page.wrongSquares(try #require(loop.shown)) == 0)
  }

  /// Most of the page is what viewers have, 18 rows lower.
  @Test func `a slow scroll leaves what moved nearly as sharp as it was`() throws {
    for chroma in [ChromaSampling.quarter, .full] {
      let tall = PixelSize(width: 640, height: 720)
      var page = ColourPage(size: tall, chroma: chroma)
      var loop = try Loop(
        VideoEncoderSettings(size: tall, maxFrameRate: 5, targetBitrate: .megabitsPerSecond(1), chroma: chroma))
      try loop.show(page)
      try loop.rest(for: .seconds(Int64(40)))
      for _ in 0..<10 {
        page.scroll()
        let frame = try #require(try loop.show(page))
        #expect(frame.data.count < 20_000)
        let moved = page.lumaPSNR(try #require(loop.shown), rows: tall.height - 64)
        #expect(moved >= 45)
        try loop.rest(for: .milliseconds(200))
      }
      try loop.rest(for: .seconds(Int64(20)))
      #expect(page.lumaPSNR(try #require(loop.shown)) >= 48)
    }
  }

  @Test func `the first picture on a slow link leaves in time, if need be without its detail`() throws {
    let page = ColourPage(size: PixelSize(width: 1280, height: 720))
    var loop = try Loop(VideoEncoderSettings(size: page.size, targetBitrate: .kilobitsPerSecond(200)))
    let first = try #require(try loop.show(page))
    #expect(first.data.count < 18_000)
    #expect(page.lumaPSNR(try #require(loop.shown)) > 10)
    let other = ColourPage(size: page.size, seed: 5)
    try loop.rest(for: .seconds(Int64(60)))
    #expect(page.lumaPSNR(try #require(loop.shown)) >= 48)
    let change = try #require(try loop.show(other))
    #expect(!change.isKeyFrame && change.data.count < 12_000)
    try loop.rest(for: .seconds(Int64(60)))
    #expect(other.lumaPSNR(try #require(loop.shown)) >= 48)
  }

  @Test func `a key frame can be asked for, of the same picture too, and needs no other`() throws {
    let page = ColourPage(size: size)
    var loop = try Loop(settings())
    try loop.show(page)
    try loop.rest(for: .seconds(Int64(20)))
    let key = try #require(try loop.encode(changed: [], keyFrame: true))
    #expect(key.isKeyFrame)
    var late = try Loop(settings())
    late.shown = try late.decoder.decode(key.data)
    #expect(page.lumaPSNR(try #require(late.shown)) > 15)
    try loop.rest(for: .seconds(Int64(20)))
    #expect(page.lumaPSNR(try #require(loop.shown)) >= 48)
  }

  @Test func `the first unit of a key frame is the sequence header, and no frame has a temporal delimiter`() throws {
    for chroma in [ChromaSampling.quarter, .full] {
      var page = ColourPage(size: size, chroma: chroma)
      var loop = try Loop(settings(chroma: chroma))
      try loop.show(page)
      page.writeLine(36, seed: 9)
      try loop.show(page)
      loop.now += .seconds(Int64(1))
      try loop.encode(changed: nil, keyFrame: true)
      try loop.rest(for: .seconds(Int64(2)))
      #expect(loop.frames.filter(\.isKeyFrame).count == 2)
      for frame in loop.frames {
        let parsed = AV1OBU.units(in: frame.data.span)
        let units = try #require(parsed)
        #expect(units.allSatisfy { $0.header.hasSize && $0.header.kind != .temporalDelimiter })
        #expect((units.first?.header.kind == .sequenceHeader) == frame.isKeyFrame)
        guard frame.isKeyFrame, let unit = units.first else { continue }
        let sequence = AV1SequenceHeader(parsing: frame.data.span.extracting(unit.payload))
        let header = try #require(sequence)
        #expect(header.profile == (chroma == .full ? 1 : 0))
        #expect(header.size == size && header.bitDepth == 8 && !header.isStillPicture)
      }
    }
  }

  @Test func `frames travel in RTP and decode on the other side`() throws {
    let page = ColourPage(size: size)
    var loop = try Loop(settings())
    try loop.show(page)
    try loop.rest(for: .seconds(Int64(3)))
    var far = try Loop(settings())
    for frame in loop.frames {
      var packetizer = AV1Packetizer(frame.data.span, isKeyFrame: frame.isKeyFrame, room: 1_100)
      var depacketizer = AV1Depacketizer()
      while let piece = packetizer.next(in: frame.data.span) {
        let payload = Self.bytes(of: piece, in: frame.data)
        #expect(payload.count <= 1_100)
        depacketizer.append(payload.span)
      }
      far.shown = try far.decoder.decode(depacketizer.data)
    }
    #expect(page.lumaPSNR(try #require(far.shown)) == page.lumaPSNR(try #require(loop.shown)))
  }

  @Test func `the bitstream says what the samples mean`() throws {
    var loop = try Loop(settings())
    try loop.show(ColourPage(size: size))
    #expect(loop.decoder.colorSpace == .bt601Limited)
    let frame = VideoFrame(
      buffer: try #require(PixelBuffer.allocate(format: .i420, size: size) { _, _, _ in }), captureTime: loop.now,
      damage: nil, colorSpace: .bt709Limited)
    let job = EncodeJob(source: .frame(frame), changed: nil, captureTime: loop.now, now: loop.now)
    let key = try #require(try loop.encoder.encode(job))
    #expect(key.isKeyFrame)
    _ = try loop.decoder.decode(key.data)
    #expect(loop.decoder.colorSpace == .bt709Limited)
  }

  @Test func `another size or sampling begins with a key frame of it`() throws {
    var loop = try Loop(settings())
    try loop.show(ColourPage(size: size))
    let other = PixelSize(width: 333, height: 201)
    try loop.encoder.reconfigure(VideoEncoderSettings(size: other))
    #expect(loop.encoder.picture.size == other)
    loop.now += .seconds(Int64(1))
    let frame = try #require(try loop.show(ColourPage(size: other)))
    #expect(frame.isKeyFrame && frame.size == other)
    #expect(loop.shown?.size == other)
    try loop.encoder.reconfigure(VideoEncoderSettings(size: other, chroma: .full))
    #expect(loop.encoder.picture.format == .i444)
    loop.now += .seconds(Int64(1))
    let full = try #require(try loop.show(ColourPage(size: other, chroma: .full)))
    #expect(full.isKeyFrame && full.chroma == .full)
    #expect(loop.shown?.format == .i444)
  }

  @Test(arguments: [PixelSize(width: 1, height: 1), PixelSize(width: 17, height: 5), PixelSize(width: 130, height: 66)])
  func `small and odd pictures are coded`(_ size: PixelSize) throws {
    for chroma in [ChromaSampling.quarter, .full] {
      var loop = try Loop(VideoEncoderSettings(size: size, chroma: chroma))
      let page = ColourPage(size: size, chroma: chroma)
      try loop.show(page)
      try loop.rest(for: .seconds(Int64(5)))
      #expect(loop.shown?.size == size)
      #expect(page.lumaPSNR(try #require(loop.shown)) >= 44)
    }
  }

  @Test func `sizes that the codec cannot code are refused`() {
    for size in [PixelSize(width: 0, height: 10), PixelSize(width: 16_384, height: 10)] {
      #expect(throws: VideoEncoderError.unsupportedSize(size)) { try AV1Encoder(VideoEncoderSettings(size: size)) }
    }
  }

  @Test func `a frame of another size or format is refused, and the next fitting one coded`() throws {
    let encoder = try AV1Encoder(settings())
    func job(_ format: PixelFormat, _ size: PixelSize) throws -> EncodeJob {
      let buffer = try #require(PixelBuffer.allocate(format: format, size: size) { _, _, _ in })
      let frame = VideoFrame(buffer: buffer, captureTime: .zero, damage: nil, colorSpace: .bt601Limited)
      return EncodeJob(source: .frame(frame), changed: nil, captureTime: .zero, now: .zero)
    }
    let small = PixelSize(width: 64, height: 64)
    #expect(throws: VideoEncoderError.unsuitableFrame(.i420, small)) { try encoder.encode(job(.i420, small)) }
    #expect(throws: VideoEncoderError.unsuitableFrame(.i444, size)) { try encoder.encode(job(.i444, size)) }
    #expect(try encoder.encode(job(.i420, size))?.isKeyFrame == true)
  }

  @Test func `changes wait while what was sent before has not left`() throws {
    var page = ColourPage(size: size)
    var loop = try Loop(settings())
    try loop.show(page)
    try loop.rest(for: .seconds(Int64(20)))
    loop.encoder.setSendQueue(drained: loop.now + .milliseconds(500))
    let rect = page.type(1)
    #expect(try loop.show(page, changed: [rect]) == nil)
    let due = try #require(loop.encoder.refinementTime(now: loop.now))
    #expect(due >= loop.now + .milliseconds(300))
    try loop.rest(for: .seconds(Int64(2)))
    #expect(page.lumaPSNR(try #require(loop.shown)) >= 48)
  }

  @Test func `the quantisers keep to the range that is asked for`() throws {
    var settings = settings(200)
    settings.quantizerRange = 40...60
    var page = ColourPage(size: size)
    var loop = try Loop(settings)
    try loop.show(page)
    for number in 0..<10 {
      page.writeLine(number * 18, seed: UInt64(number + 50))
      try loop.show(page)
      try loop.rest(for: .milliseconds(300))
    }
    try loop.rest(for: .seconds(Int64(10)))
    #expect(loop.frames.allSatisfy { (25...37).contains($0.quantizer) })
    #expect(loop.encoder.refinementTime(now: loop.now) == nil)
  }

  @Test(arguments: ContentHint.allCases)
  func `every content hint gives frames that decode and a picture that comes to rest`(_ hint: ContentHint) throws {
    var settings = settings(1_500)
    settings.contentHint = hint
    var page = ColourPage(size: size)
    var loop = try Loop(settings)
    try loop.show(page)
    for _ in 0..<20 {
      page.scroll()
      try loop.show(page)
      loop.now += .milliseconds(33)
    }
    try loop.rest(for: .seconds(Int64(30)))
    #expect(page.lumaPSNR(try #require(loop.shown)) >= (hint == .motion ? 38 : 48))
    #expect(loop.encoder.refinementTime(now: loop.now) == nil)
  }

  private static func bytes(of piece: PayloadPiece, in data: [UInt8]) -> [UInt8] {
    (0..<piece.prefix.count).map { piece.prefix[$0] } + data[piece.range]
  }
}
