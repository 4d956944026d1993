import RTCPrimitives
import RTCWire
import Testing

@Suite struct PacketizerTests {
  private let frame = (0..<2_500).map { UInt8(truncatingIfNeeded: $0) }

  @Test func `VP8 has a descriptor of four bytes before every part`() throws {
    var split = VP8Packetizer(frameSize: frame.count, pictureID: VP8PictureID(0x1234), room: 1_004)
    #expect(split.remaining == 3)
    let parts = payloads(of: frame) { split.next() }
    #expect(parts.map { Array($0.bytes[..<4]) } == ["90809234", "80809234", "80809234"].map { wireBytes($0) })
    #expect(parts.map(\.bytes.count) == [838, 838, 836] && parts.map(\.isLast) == [false, false, true])
    #expect(parts.flatMap { $0.bytes[4...] } == frame)
    #expect(split.remaining == 0 && split.remainingBytes(of: frame.count) == 0)
  }

  @Test func `a VP9 key frame whose size nobody read says none, and is a key frame`() throws {
    var split = VP9Packetizer(frameSize: 100, kind: .key(nil), pictureID: VP9PictureID(7), room: 1_000)
    let payload = try #require(payloads(of: Array(frame.prefix(100))) { split.next() }.first)
    var reader = ByteReader(payload.bytes.span)
    let parsed = VP9PayloadDescriptor(parsing: &reader)
    let descriptor = try #require(parsed)
    #expect(descriptor.startsKeyFrame && descriptor.structure == nil)
  }

  @Test func `VP9 has the size before the first part of a key frame`() throws {
    var split = VP9Packetizer(
      frameSize: frame.count, kind: .key(.init(width: 640, height: 360)), pictureID: VP9PictureID(7), room: 1_008)
    let parts = payloads(of: frame) { split.next() }
    #expect(parts.map { Array($0.bytes[..<3]) } == ["8a8007", "808007", "848007"].map { wireBytes($0) })
    #expect(parts.allSatisfy { $0.bytes.count <= 1_008 })
    var whole: [UInt8] = []
    for part in parts {
      var reader = ByteReader(part.bytes.span)
      let parsed = VP9PayloadDescriptor(parsing: &reader)
      let descriptor = try #require(parsed)
      if part.isLast { #expect(descriptor.endsFrame) }
      whole += part.bytes[reader.offset...]
    }
    #expect(whole == frame)
  }

  @Test func `VP9 in temporal layers says of each part its layer and what its frame needs`() throws {
    for (place, kind) in [
      (VP9Packetizer.Place(temporal: 0, references: []), VP9Packetizer.Kind.key(.init(width: 640, height: 360))),
      (VP9Packetizer.Place(temporal: 1, references: [1]), .predicted),
      (VP9Packetizer.Place(temporal: 0, references: [2]), .predicted),
    ] {
      var split = VP9Packetizer(
        frameSize: frame.count, kind: kind, place: place, pictureID: VP9PictureID(7), room: 1_008)
      let parts = payloads(of: frame) { split.next() }
      #expect(parts.count == 3 && parts.allSatisfy { $0.bytes.count <= 1_008 })
      var whole: [UInt8] = []
      for part in parts {
        var reader = ByteReader(part.bytes.span)
        let parsed = VP9PayloadDescriptor(parsing: &reader)
        let descriptor = try #require(parsed)
        #expect(descriptor.isFlexible && descriptor.references == place.references)
        #expect(descriptor.isInterPredicted == !place.references.isEmpty)
        let layer = try #require(descriptor.layer)
        #expect(layer == .init(temporal: place.temporal, isSwitchingUpPoint: true))
        whole += part.bytes[reader.offset...]
      }
      #expect(whole == frame)
    }
  }

  @Test func `a VP9 frame of one packet begins and ends in it, and is predicted unless it is a key frame`() {
    var split = VP9Packetizer(frameSize: 100, kind: .predicted, pictureID: VP9PictureID(0x7FFF), room: 1_000)
    let parts = payloads(of: frame) { split.next() }
    #expect(parts.count == 1 && Array(parts[0].bytes[..<3]) == wireBytes("ccffff"))
  }
}
