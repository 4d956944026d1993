import FeatureKit
import RTCMedia
import RTCPrimitives
import RTCast
import Testing

/// Which pictures are copied on their way to the encoder, and which it reads where they lie.
@Suite struct PicturesInPlaceTests {
  private static let size = PixelSize(width: 64, height: 48)

  /// Pictures that differ from each other, as a source delivers them.
  private func frames(
    _ format: PixelFormat, size: PixelSize = size, colorSpace: ColorSpace = .bt601Limited, damage: [PixelRect]? = nil
  ) throws -> [VideoFrame] {
    try (0..<4).map { index in
      let buffer = PixelBuffer.allocate(format: format, size: size) { plane, bytes, _ in
        for place in bytes.indices { bytes[place] = plane == 0 ? UInt8(60 + index * 40) : 128 }
      }
      return VideoFrame(
        buffer: try #require(buffer), captureTime: .zero + .milliseconds(Int64(index) * 100),
        damage: index == 0 ? nil : damage, colorSpace: colorSpace)
    }
  }

  /// Encodes them one after the other; each is decoded and compared by its first sample.
  private func encode(_ frames: [VideoFrame]) throws -> EncodingStatistics {
    let encoder = try VirtualEncoder()
    for frame in frames {
      encoder.now = frame.captureTime
      try encoder.consume(frame)
      _ = try encoder.rest(.milliseconds(100))
      guard frame.buffer.format == .i420, frame.size == Self.size else { continue }
      let shown = try #require(encoder.shown)
      #expect(abs(Int(shown.bytes(ofPlane: 0)[0]) - Int(frame.buffer.bytes(ofPlane: 0)[0])) < 20)
    }
    return encoder.statistics
  }

  @Test(.feature("S4.16")) func `whole pictures in the encoder's format are not copied`() throws {
    let statistics = try encode(try frames(.i420))
    #expect(statistics.framesCaptured == 4 && statistics.framesEncoded >= 4)
    #expect(statistics.framesConverted == 0 && statistics.rawCopies == 0)
  }

  @Test func `pictures in another format or colour space, and those with damage, are`() throws {
    #expect(try encode(try frames(.bgra, colorSpace: .sRGB)).framesConverted == 4)
    #expect(try encode(try frames(.nv12)).framesConverted == 4)
    #expect(try encode(try frames(.i420, colorSpace: .bt601Full)).framesConverted == 4)
    let damage = [PixelRect(Self.size)]
    #expect(try encode(try frames(.i420, damage: damage)).framesConverted == 3, "the first is whole")
  }
}
