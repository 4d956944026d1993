#if X264
  import CodingKit
  import RTCCodecX264
  import RTCMedia
  import RTCPrimitives
  import RTCWire
  import Testing

  @Suite struct H264EncoderTests {
    private typealias Loop = CodingLoop<X264Context>

    private let size = PixelSize(width: 640, height: 352)

    private func settings(_ kilobits: Int64 = 1_000, chroma: ChromaSampling = .quarter) -> VideoEncoderSettings {
      VideoEncoderSettings(size: size, targetBitrate: .kilobitsPerSecond(kilobits), chroma: chroma)
    }

    /// Plays a film, or shows another page 25 times a second, for six seconds at 300 kbit/s.
    /// - Returns: how many of the pictures of the last four seconds were coded.
    private func codedShare(isFilm: Bool) throws -> Double {
      var wanted = settings(300)
      wanted.maxFrameRate = 25
      var (loop, page, coded) = (try Loop(wanted), ColourPage(size: size), 0)
      try loop.show(page)
      for number in 0..<150 {
        loop.now += .milliseconds(Int64(40))
        if isFilm {
          page.play(number, in: PixelRect(size))
        } else {
          page = ColourPage(size: size, seed: UInt64(number) + 7)
        }
        if try loop.show(page) != nil, number >= 50 { coded += 1 }
      }
      return Double(coded) / 100
    }

    @Test func `a film keeps its frames and gives up sharpness, and text keeps sharpness`() throws {
      let (film, text) = (try codedShare(isFilm: true), try codedShare(isFilm: false))
      #expect(film >= 0.8 && text <= 0.5, "\(film) of the film, \(text) of the text")
    }

    @Test func `a resting page becomes visually lossless and then nothing is sent`() throws {
      let page = ColourPage(size: size)
      var loop = try Loop(settings(400))
      let first = try #require(try loop.show(page))
      #expect(first.isKeyFrame && first.codec == .h264 && first.chroma == .quarter)
      #expect(first.data.count < 25_000)
      try loop.rest(for: .seconds(Int64(40)))
      #expect(page.lumaPSNR(try #require(loop.shown)) >= 48)
      #expect(loop.encoder.refinementTime(now: loop.now) == nil)
      #expect(try loop.encoder.refine(now: loop.now) == nil)
      #expect(try loop.encode(changed: []) == nil)
      #expect(try loop.encode(changed: nil) == nil)
    }

    @Test func `a clock that ticks holds up no refinement of the page beside it`() throws {
      var page = ColourPage(size: size)
      var loop = try Loop(settings(400))
      try loop.show(page)
      try loop.rest(for: .milliseconds(500))
      let rect = page.type(0)
      try #require(try loop.show(page, changed: [rect]) != nil)
      #expect(try loop.rest(for: .milliseconds(249)) > 4_000, "a third of the rate")
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

    @Test(arguments: ChromaSampling.allCases)
    func `a letter changes nothing outside its macroblocks and costs little, however much is said to have changed`(
      chroma: ChromaSampling
    ) throws {
      var page = ColourPage(size: size, chroma: chroma)
      var loop = try Loop(settings(4_000, chroma: chroma))
      try loop.show(page)
      try loop.rest(for: .seconds(Int64(30)))
      let before = try #require(loop.shown)
      let letter = page.type(3)
      let frame = try #require(try loop.show(page))
      #expect(frame.data.count < 700)
      let after = try #require(loop.shown)
      #expect(page.lumaPSNR(after) >= 48)
      // Three more frames about a macroblock elsewhere: what was skipped once is skipped again.
      for number in 20..<23 {
        _ = page.type(number)
        let more = try #require(try loop.show(page))
        #expect(more.data.count < 700)
      }
      let last = try #require(loop.shown)
      for plane in 0..<3 {
        let side = plane == 0 || chroma == .full ? 16 : 8
        let (columns, rows) = (letter.x / 16...(letter.maxX - 1) / 16, letter.y / 16...(letter.maxY - 1) / 16)
        let later = (40 + 20 * 9) / 16...(40 + 23 * 9) / 16
        let extent = before.format.planeExtent(plane, of: size)
        var (differing, drifted) = (0, 0)
        for row in 0..<extent.rows {
          for column in 0..<extent.rowBytes where !rows.contains(row / side) || !columns.contains(column / side) {
            let old = before.bytes(ofPlane: plane)[row * before.stride(ofPlane: plane) + column]
            if after.bytes(ofPlane: plane)[row * after.stride(ofPlane: plane) + column] != old { differing += 1 }
            guard !rows.contains(row / side) || !later.contains(column / side) else { continue }
            if last.bytes(ofPlane: plane)[row * last.stride(ofPlane: plane) + column] != old { drifted += 1 }
          }
        }
        #expect(differing == 0 && drifted == 0, "plane \(plane)")
      }
    }

    /// Macroblocks that are kept must not drift, frame by frame, from the pixels that viewers have.
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

    /// Most of the page is what viewers have, 18 rows lower.
    @Test(arguments: ChromaSampling.allCases)
    func `a slow scroll leaves what moved nearly as sharp as it was`(chroma: ChromaSampling) throws {
      let tall = PixelSize(width: 640, height: 720)
      var page = ColourPage(size: tall, chroma: chroma)
      var loop = try Loop(
        VideoEncoderSettings(size: tall, maxFrameRate: 5, targetBitrate: .megabitsPerSecond(1), chroma: chroma))
      try loop.show(page)
      try loop.rest(for: .seconds(Int64(60)))
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

    @Test(arguments: ChromaSampling.allCases)
    func `a scroll takes little and stays sharp, up and down, and where it turns`(chroma: ChromaSampling) throws {
      let tall = PixelSize(width: 648, height: 720)
      var page = ColourPage(size: tall, chroma: chroma)
      var loop = try Loop(VideoEncoderSettings(size: tall, targetBitrate: .megabitsPerSecond(8), chroma: chroma))
      try loop.show(page)
      try loop.rest(for: .seconds(Int64(20)))
      for isBack in [false, false, true, true, true, false] {
        if isBack { page.scrollBack() } else { page.scroll() }
        loop.now += .milliseconds(33)
        let frame = try #require(try loop.show(page))
        #expect(frame.data.count < 25_000)
        let shown = try #require(loop.shown)
        #expect(page.lumaPSNR(shown) >= 44)
        #expect(chroma == .quarter || page.colourPSNR(shown) >= 40)
      }
    }

    @Test func `a page that scrolls on a fast link becomes as fine as one that rests`() throws {
      var page = ColourPage(size: size)
      var loop = try Loop(settings(8_000))
      try loop.show(page)
      for _ in 0..<60 {
        page.scroll()
        loop.now += .milliseconds(33)
        try loop.show(page)
      }
      #expect(page.lumaPSNR(try #require(loop.shown)) >= 47)
    }

    @Test func `a new page that scrolls is made legible before anything of it becomes fine`() throws {
      let tall = PixelSize(width: 1280, height: 720)
      var loop = try Loop(VideoEncoderSettings(size: tall, targetBitrate: .kilobitsPerSecond(1_500)))
      try loop.show(ColourPage(size: tall, seed: 7))
      try loop.rest(for: .seconds(Int64(20)))
      var page = ColourPage(size: tall)
      try loop.show(page)
      var unreadable = 0
      for _ in 0..<45 {
        page.scroll()
        loop.now += .milliseconds(33)
        guard let frame = try loop.show(page), page.lumaPSNR(try #require(loop.shown)) < 24 else { continue }
        unreadable += 1
        #expect(frame.quantizer >= 30)
      }
      #expect(unreadable > 5)
    }

    @Test func `the first picture on a slow link leaves in time, if need be without its detail`() throws {
      let page = ColourPage(size: PixelSize(width: 1280, height: 720))
      var loop = try Loop(VideoEncoderSettings(size: page.size, targetBitrate: .kilobitsPerSecond(200)))
      let first = try #require(try loop.show(page))
      #expect(first.data.count < 18_000)
      #expect(page.lumaPSNR(try #require(loop.shown)) > 10)
      let other = ColourPage(size: page.size, seed: 5)
      try loop.rest(for: .seconds(Int64(80)))
      #expect(page.lumaPSNR(try #require(loop.shown)) >= 48)
      let change = try #require(try loop.show(other))
      #expect(!change.isKeyFrame && change.data.count < 18_000)
      try loop.rest(for: .seconds(Int64(80)))
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

    @Test(arguments: ChromaSampling.allCases)
    func `a key frame is its parameter sets and slices, and other frames are slices`(chroma: ChromaSampling) throws {
      for threads in [1, 2] {
        let large = PixelSize(width: 1280, height: 720)
        var page = ColourPage(size: large, chroma: chroma)
        var loop = try Loop(
          VideoEncoderSettings(size: large, targetBitrate: .megabitsPerSecond(5), threads: threads, chroma: chroma))
        try loop.show(page)
        page.writeLine(36, seed: 9)
        try loop.show(page)
        loop.now += .seconds(Int64(1))
        try loop.encode(changed: nil, keyFrame: true)
        try loop.rest(for: .seconds(Int64(1)))
        #expect(loop.frames.filter(\.isKeyFrame).count == 2)
        for frame in loop.frames {
          #expect(frame.data.starts(with: [0, 0, 0, 1]))
          let units = Self.units(of: frame.data)
          let kinds = units.map { H264NALUnitHeader.Kind(rawValue: $0[0]) }
          let slices = Array(
            repeating: frame.isKeyFrame ? H264NALUnitHeader.Kind.idrSlice : .slice, count: threads)
          let sets: [H264NALUnitHeader.Kind] = frame.isKeyFrame ? [.sequenceParameterSet, .pictureParameterSet] : []
          #expect(kinds == sets + slices)
          guard frame.isKeyFrame, let unit = units.first else { continue }
          let parsed = H264SequenceParameterSet(parsing: unit.span)
          let sequence = try #require(parsed)
          #expect(sequence.size == large && sequence.reorderDepth == 0 && !sequence.isInterlaced)
          #expect(
            sequence.profile == (chroma == .full ? 244 : 66) && sequence.chromaFormat == (chroma == .full ? 3 : 1))
          // Constrained baseline is what main decoders take of baseline.
          #expect(chroma == .full || sequence.constraints & 0x40 != 0)
          #expect(sequence.level == 31)
        }
      }
    }

    @Test(arguments: [
      (PixelSize(width: 320, height: 180), 30, 1_000, 31), (PixelSize(width: 1280, height: 720), 60, 1_000, 32),
      (PixelSize(width: 1920, height: 1080), 30, 1_000, 40), (PixelSize(width: 1920, height: 1080), 60, 1_000, 42),
      (PixelSize(width: 640, height: 352), 30, 18_000, 32), (PixelSize(width: 3840, height: 2160), 30, 1_000, 51),
    ]) func `the level follows the size and the rates`(
      size: PixelSize, frameRate: Int, kilobits: Int, level: Int
    ) throws {
      let encoder = try H264Encoder(
        VideoEncoderSettings(
          size: size, maxFrameRate: Double(frameRate), targetBitrate: .kilobitsPerSecond(Int64(kilobits)), threads: 1))
      let key = try #require(try encoder.encode(EncodeJob(changed: nil, captureTime: .zero, now: .zero)))
      let unit = try #require(Self.units(of: key.data).first)
      let sequence = H264SequenceParameterSet(parsing: unit.span)
      #expect(sequence?.level == UInt8(level))
    }

    @Test func `frames travel in RTP and decode on the other side`() throws {
      let page = ColourPage(size: size)
      var loop = try Loop(settings())
      try loop.show(page)
      try loop.rest(for: .seconds(Int64(3)))
      let far = try Loop(settings())
      var shown: PixelBuffer?
      for frame in loop.frames {
        var packetizer = H264Packetizer(frame.data.span, room: 1_100)
        var data: [UInt8] = []
        while let piece = packetizer.next(in: frame.data.span) {
          let payload: [UInt8] = (0..<piece.prefix.count).map { piece.prefix[$0] } + frame.data[piece.range]
          #expect(payload.count <= 1_100)
          let parsed = H264Payload(parsing: payload.span)
          try #require(parsed).append(payload.span, to: &data)
        }
        shown = try far.decoder.decode(data)
      }
      #expect(page.lumaPSNR(try #require(shown)) == page.lumaPSNR(try #require(loop.shown)))
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
      let other = PixelSize(width: 332, height: 202)
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

    @Test(arguments: [
      PixelSize(width: 1, height: 1), PixelSize(width: 17, height: 5), PixelSize(width: 130, height: 66),
    ])
    func `small and odd pictures are coded, odd sides of 4-2-0 with one more`(_ size: PixelSize) throws {
      for chroma in ChromaSampling.allCases {
        var loop = try Loop(VideoEncoderSettings(size: size, chroma: chroma))
        let page = ColourPage(size: size, chroma: chroma)
        let key = try #require(try loop.show(page))
        try loop.rest(for: .seconds(Int64(5)))
        let shown = try #require(loop.shown)
        let even = PixelSize(width: (size.width + 1) / 2 * 2, height: (size.height + 1) / 2 * 2)
        #expect(shown.size == (chroma == .full ? size : even) && key.size == shown.size)
        #expect(page.lumaPSNR(shown) >= 44)
        let (stride, luma) = (shown.stride(ofPlane: 0), shown.bytes(ofPlane: 0))
        guard shown.size.width > size.width else { continue }
        let across = abs(Int(luma[size.width]) - Int(luma[size.width - 1]))
        let down = abs(Int(luma[size.height * stride]) - Int(luma[(size.height - 1) * stride]))
        #expect(across < 8 && down < 8)
      }
    }

    @Test func `sizes that the codec cannot code are refused`() {
      for size in [
        PixelSize(width: 0, height: 10), PixelSize(width: 16_385, height: 10), PixelSize(width: 8_192, height: 8_192),
      ] {
        #expect(throws: VideoEncoderError.unsupportedSize(size)) { try H264Encoder(VideoEncoderSettings(size: size)) }
      }
    }

    @Test func `a frame of another size or format is refused, and the next fitting one coded`() throws {
      let encoder = try H264Encoder(settings())
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
      #expect(loop.frames.allSatisfy { (20...30).contains($0.quantizer) })
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

    private static func units(of data: [UInt8]) -> [[UInt8]] {
      var (stream, units) = (H264ByteStream(data.span), [[UInt8]]())
      while let unit = stream.nextUnit(in: data.span) { units.append(Array(data[unit])) }
      return units
    }
  }
#endif
