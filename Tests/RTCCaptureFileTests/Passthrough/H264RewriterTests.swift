import RTCCapture
import RTCCaptureFile
import RTCMedia
import Testing

/// H.264 from files becomes Annex B with its parameter sets in band.
@Suite struct H264RewriterTests {
  static let sequenceSet: [UInt8] = hex("6742c01fd9005005bb0110000003001000000303c0f1832480")
  static let pictureSet: [UInt8] = hex("68cb83cb20")
  static let idr: [UInt8] = [0x65, 0x88, 1, 2]
  static let slice: [UInt8] = [0x41, 0x9A, 3, 4]

  static func avcC(lengthSize: Int) -> [UInt8] {
    [1, 0x42, 0xC0, 0x1F, 0xFC | UInt8(lengthSize - 1), 0xE1, 0, UInt8(sequenceSet.count)] + sequenceSet
      + [1, 0, UInt8(pictureSet.count)] + pictureSet
  }

  static func boxed(_ units: [[UInt8]], lengthSize: Int) -> [UInt8] {
    units.flatMap { unit in Array(repeating: 0, count: lengthSize - 1) + [UInt8(unit.count)] + unit }
  }

  static func annexB(_ units: [[UInt8]]) -> [UInt8] {
    units.enumerated().flatMap { index, unit in
      (index == 0 || unit[0] == 0x67 || unit[0] == 0x68 ? [0, 0, 0, 1] : [0, 0, 1]) + unit
    }
  }

  private func rewriter(_ extradata: [UInt8]) throws -> H264Rewriter {
    try #require(H264Rewriter(extradata))
  }

  @Test(arguments: [1, 2, 3, 4])
  func `lengths of every size become start codes, and parameter sets come before an IDR picture`(size: Int) throws {
    var rewriter = try rewriter(Self.avcC(lengthSize: size))
    let key = rewriter.rewrite(Self.boxed([Self.idr, Self.idr], lengthSize: size))
    #expect(key?.data == Self.annexB([Self.sequenceSet, Self.pictureSet, Self.idr, Self.idr]))
    #expect(key?.isKeyFrame == true)
    let next = rewriter.rewrite(Self.boxed([Self.slice], lengthSize: size))
    #expect(next?.data == Self.annexB([Self.slice]))
    #expect(next?.isKeyFrame == false)
  }

  @Test func `parameter sets that are there already are not doubled, and replace the header's`() throws {
    var rewriter = try rewriter(Self.avcC(lengthSize: 4))
    let newer: [UInt8] = Self.pictureSet.dropLast() + [0x40]
    let both = Self.boxed([Self.sequenceSet, newer, Self.idr], lengthSize: 4)
    #expect(rewriter.rewrite(both)?.data == Self.annexB([Self.sequenceSet, newer, Self.idr]))
    let bare = Self.boxed([Self.idr], lengthSize: 4)
    #expect(rewriter.rewrite(bare)?.data == Self.annexB([Self.sequenceSet, newer, Self.idr]))
    let half = Self.boxed([newer, Self.idr], lengthSize: 4)
    #expect(rewriter.rewrite(half)?.data == Self.annexB([Self.sequenceSet, newer, Self.idr]))
  }

  @Test func `Annex B is taken as well, and its delimiters are left out`() throws {
    var rewriter = try rewriter([])
    let packet = Self.annexB([[9, 0xF0], Self.sequenceSet, Self.pictureSet, Self.idr, [12, 0xFF, 0x80]]) + [0, 0]
    #expect(rewriter.rewrite(packet)?.data == Self.annexB([Self.sequenceSet, Self.pictureSet, Self.idr]))
    #expect(rewriter.activeSet?.size == PixelSize(width: 1280, height: 720))
  }

  @Test func `slices that predict from two sides are noticed`() throws {
    var rewriter = try rewriter(Self.avcC(lengthSize: 4))
    let picture = rewriter.rewrite(Self.boxed([[0x01, 0b1010_0000, 0]], lengthSize: 4))
    #expect(picture?.hasBidirectionalSlices == true)
  }

  @Test(
    arguments: [[0, 0, 0, 9, 0x65], [0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF, 0x65], [0, 0, 0, 1, 6], []] as [[UInt8]])
  func `a packet without a whole picture is refused`(packet: [UInt8]) throws {
    var rewriter = try rewriter(Self.avcC(lengthSize: 4))
    #expect(rewriter.rewrite(packet) == nil)
  }

  @Test func `a header cut short anywhere is refused or read, and never breaks`() {
    let whole = Self.avcC(lengthSize: 4)
    for count in 1..<whole.count { #expect(H264Rewriter(Array(whole[..<count])) == nil) }
  }
}
