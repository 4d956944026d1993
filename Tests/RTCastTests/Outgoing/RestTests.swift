import RTCMedia
import RTCPrimitives
import RTCast
import Testing

@Suite struct RestTests {
  let size = PixelSize(width: 480, height: 272)

  @Test func `a resting source is refined until lossless then silent`() throws {
    let desktop = Desktop(size: size)
    let encoder = try VirtualEncoder(EncodingSettings(startBitrate: .kilobitsPerSecond(300)))
    try encoder.consume(desktop.frame(damage: nil, at: .zero))
    #expect(encoder.frames.count == 1)
    #expect(try encoder.rest(.seconds(Int64(10))) > 0)
    // 40 dB.
    #expect(desktop.meanSquareError(try #require(encoder.shown)) < 6.5)
    #expect(encoder.deadline == nil)
    #expect(try encoder.rest(.seconds(Int64(60))) == 0)
  }

  /// When it is sharp is up to the rate alone.
  @Test func `a picture becomes sharp as soon at a low frame rate`() throws {
    func restTime(_ frameRate: Double) throws -> Timestamp {
      let encoder = try VirtualEncoder(
        EncodingSettings(maxFrameRate: frameRate, startBitrate: .megabitsPerSecond(6)))
      let desktop = Desktop(size: PixelSize(width: 1920, height: 1080))
      try encoder.consume(desktop.frame(damage: nil, at: encoder.now))
      _ = try encoder.rest(.seconds(20))
      // The last says nothing new, a quarter of a second later.
      return try #require(encoder.frames.dropLast().last).captureTime
    }
    #expect(try restTime(5) - restTime(30) <= .milliseconds(20))
  }

  @Test func `what rests is refined while another part keeps changing`() throws {
    var desktop = Desktop(size: size)
    let encoder = try VirtualEncoder(EncodingSettings(startBitrate: .kilobitsPerSecond(300)))
    let damage = PixelRect(x: 32, y: 32, width: 20, height: 20)
    for step in 0..<200 {
      desktop.draw(damage, UInt8(step))
      try encoder.consume(desktop.frame(damage: step == 0 ? nil : [damage], at: encoder.now))
      _ = try encoder.rest(.milliseconds(50))
    }
    #expect(encoder.statistics.refinements > 0)
    #expect(desktop.meanSquareError(try #require(encoder.shown)) < 13)  // 37 dB
  }

  /// A screen that changes 30 times a second, captured 5 times a second: each picture is out of date soon after it came.
  @Test func `a picture that the next makes old is hardly refined and the last one is`() throws {
    func play(isAnnounced: Bool) throws -> (desktop: Desktop, encoder: VirtualEncoder, refinements: UInt64) {
      var desktop = Desktop(size: PixelSize(width: 1280, height: 720))
      let settings = EncodingSettings(maxFrameRate: 5, startBitrate: .megabitsPerSecond(1))
      let encoder = try VirtualEncoder(settings)
      var (forecast, controls) = (PictureForecast(), EncoderControls(settings))
      func rest(until end: Timestamp) throws {
        while encoder.now < end {
          controls.nextPicture = isAnnounced ? forecast.nextPicture(now: encoder.now) : nil
          controls.forecastLapse = isAnnounced ? forecast.lapse(now: encoder.now) : nil
          encoder.apply(controls)
          _ = try encoder.rest(min(.milliseconds(1), end - encoder.now))
        }
      }
      var before: UInt64 = 0
      for step in 0..<30 {
        if step == 15 { before = encoder.statistics.refinements }
        let begin = encoder.now
        desktop.moveWindow(step)
        forecast.notePicture(now: begin)
        try encoder.consume(desktop.frame(damage: step == 0 ? nil : [PixelRect(desktop.size)], at: begin))
        try rest(until: begin + .milliseconds(33))
        if step < 29 { forecast.announce(begin + .milliseconds(200), now: encoder.now) }
        try rest(until: begin + .milliseconds(200))
      }
      let refinements = encoder.statistics.refinements - before
      try rest(until: encoder.now + .seconds(Int64(3)))
      return (desktop, encoder, refinements)
    }
    let (told, untold) = (try play(isAnnounced: true), try play(isAnnounced: false))
    #expect(told.refinements <= 9, "three a second, beside five pictures")
    for (desktop, encoder, _) in [told, untold] {
      #expect(desktop.meanSquareError(try #require(encoder.shown)) < 6.5)
      #expect(encoder.deadline == nil)
    }
  }

  @Test func `frames without damage are not encoded`() throws {
    let desktop = Desktop(size: size)
    let encoder = try VirtualEncoder()
    try encoder.consume(desktop.frame(damage: nil, at: .zero))
    _ = try encoder.rest(.seconds(Int64(10)))
    let before = encoder.frames.count
    for _ in 0..<10 {
      try encoder.consume(desktop.frame(damage: [], at: encoder.now))
      _ = try encoder.rest(.milliseconds(100))
    }
    #expect(encoder.frames.count == before)
    #expect(encoder.statistics.framesCaptured == 11)
    #expect(encoder.statistics.rawCopies == 0)
  }
}
