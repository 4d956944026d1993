import RTCMedia
import RTCPrimitives
import RTCast
import Testing

@Suite struct PipelineRestTests {
  let size = PixelSize(width: 480, height: 272)

  @Test func `a resting source is refined until lossless then silent`() throws {
    let desktop = Desktop(size: size)
    let pipeline = try VirtualPipeline(PipelineSettings(startBitrate: .kilobitsPerSecond(300)))
    try pipeline.consume(desktop.frame(damage: nil, at: .zero))
    #expect(pipeline.frames.count == 1)
    #expect(try pipeline.rest(.seconds(Int64(10))) > 0)
    // 40 dB.
    #expect(desktop.meanSquareError(try #require(pipeline.shown)) < 6.5)
    #expect(pipeline.deadline == nil)
    #expect(try pipeline.rest(.seconds(Int64(60))) == 0)
  }

  @Test func `what rests is refined while another part keeps changing`() throws {
    var desktop = Desktop(size: size)
    let pipeline = try VirtualPipeline(PipelineSettings(startBitrate: .kilobitsPerSecond(300)))
    let damage = PixelRect(x: 32, y: 32, width: 20, height: 20)
    for step in 0..<200 {
      desktop.draw(damage, UInt8(step))
      try pipeline.consume(desktop.frame(damage: step == 0 ? nil : [damage], at: pipeline.clock.now))
      _ = try pipeline.rest(.milliseconds(50))
    }
    #expect(pipeline.statistics.refinements > 0)
    #expect(desktop.meanSquareError(try #require(pipeline.shown)) < 13)  // 37 dB
  }

  @Test func `frames without damage are not encoded`() throws {
    let desktop = Desktop(size: size)
    let pipeline = try VirtualPipeline()
    try pipeline.consume(desktop.frame(damage: nil, at: .zero))
    _ = try pipeline.rest(.seconds(Int64(10)))
    let before = pipeline.frames.count
    for _ in 0..<10 {
      try pipeline.consume(desktop.frame(damage: [], at: pipeline.clock.now))
      _ = try pipeline.rest(.milliseconds(100))
    }
    #expect(pipeline.frames.count == before)
    #expect(pipeline.statistics.framesCaptured == 11)
    #expect(pipeline.statistics.rawCopies == 0)
  }
}
