import RTCPrimitives
import RTCWire
import Testing

@Suite struct RTPExtensionValueTests {
  @Test func `stream names are short and printable`() throws {
    let name = try #require(RTPStreamID("video"))
    #expect("\(name)" == "video" && name.count == 5)
    #expect(writtenBytes { name.write(into: &$0) } == wireBytes("766964656f"))
    #expect(parsing(wireBytes("766964656f"), RTPStreamID.init(parsing:)) == name)
    let longest = try #require(RTPStreamID("0123456789abcdef"))
    #expect("\(longest)" == "0123456789abcdef")
    #expect(longest != RTPStreamID("0123456789abcdeg"))
    for bad in ["", "0123456789abcdefg", "a b", "ä"] { #expect(RTPStreamID(bad) == nil) }
    #expect(parsing(wireBytes("7600"), RTPStreamID.init(parsing:)) == nil)
    #expect(parsing([], RTPStreamID.init(parsing:)) == nil)
  }

  @Test func `abs-send-time counts in 2⁻¹⁸ s and wraps after 64 s`() throws {
    #expect(AbsoluteSendTime(Timestamp(nanoseconds: 1_000_000_000)).value == 1 << 18)
    #expect(AbsoluteSendTime(Timestamp(nanoseconds: 64_500_000_000)).value == 1 << 17)
    #expect(writtenBytes { AbsoluteSendTime(0x15846C).write(into: &$0) } == wireBytes("15846c"))
    #expect(parsing(wireBytes("15846c"), AbsoluteSendTime.init(parsing:)) == AbsoluteSendTime(0x15846C))
    #expect(parsing(wireBytes("1584"), AbsoluteSendTime.init(parsing:)) == nil)
    let (late, early) = (AbsoluteSendTime(1 << 17), AbsoluteSendTime(0xFE_0000))
    #expect(late.since(early) == .seconds(1))
    #expect(early.since(late) == .seconds(-1))
  }

  @Test func `transport sequence numbers read from both versions`() {
    #expect(parsing(wireBytes("1234"), TransportSequenceNumber.init(parsing:))?.value == 0x1234)
    #expect(parsing(wireBytes("12340001"), TransportSequenceNumber.init(parsing:))?.value == 0x1234)
    #expect(parsing(wireBytes("12"), TransportSequenceNumber.init(parsing:)) == nil)
    #expect(TransportSequenceNumber(0).isNewer(than: TransportSequenceNumber(65_535)))
  }

  @Test func `content type looks at one bit`() {
    #expect(parsing([1], VideoContentType.init(parsing:)) == .screenshare)
    #expect(parsing([0x20], VideoContentType.init(parsing:)) == .unspecified)
    #expect(parsing([], VideoContentType.init(parsing:)) == nil)
    #expect(writtenBytes { VideoContentType.screenshare.write(into: &$0) } == [1])
  }

  @Test func `playout delay has two bounds in units of 10 ms`() throws {
    let delay = PlayoutDelay(minimum: .milliseconds(109), maximum: .seconds(100))
    #expect(delay.minimum == .milliseconds(100) && delay.maximum == .milliseconds(40_950))
    #expect(writtenBytes { delay.write(into: &$0) } == wireBytes("00afff"))
    #expect(parsing(wireBytes("00afff"), PlayoutDelay.init(parsing:)) == delay)
    #expect(parsing(wireBytes("fff001"), PlayoutDelay.init(parsing:)) == nil)
    #expect(PlayoutDelay(minimum: .milliseconds(-5), maximum: .zero) == .immediate)
  }

  @Test func `orientation has a turn and two flags`() {
    let turned = VideoOrientation(rotation: .clockwise270, isFlipped: true, isBackCamera: true)
    #expect(writtenBytes { turned.write(into: &$0) } == [0x0F])
    #expect(parsing([0xFF], VideoOrientation.init(parsing:)) == turned)
    #expect(parsing([0x01], VideoOrientation.init(parsing:))?.rotation == .clockwise90)
    #expect(parsing([0, 0], VideoOrientation.init(parsing:)) == nil)
  }

  @Test func `capture time has an optional clock offset`() {
    let short = AbsoluteCaptureTime(captured: NTPTimestamp(0x0102_0304_0506_0708))
    let long = AbsoluteCaptureTime(captured: short.captured, clockOffset: -1)
    #expect(writtenBytes { short.write(into: &$0) } == wireBytes("0102030405060708"))
    #expect(writtenBytes { long.write(into: &$0) } == wireBytes("0102030405060708ffffffffffffffff"))
    #expect(parsing(wireBytes("0102030405060708"), AbsoluteCaptureTime.init(parsing:)) == short)
    #expect(parsing(wireBytes("0102030405060708ffffffffffffffff"), AbsoluteCaptureTime.init(parsing:)) == long)
    #expect(parsing(wireBytes("010203040506070800"), AbsoluteCaptureTime.init(parsing:)) == nil)
  }

  @Test func `a color space is four bytes, or more with what we pass over`() throws {
    #expect(writtenBytes { ColorSpaceDescription.bt601Limited.write(into: &$0) } == wireBytes("06060610"))
    #expect(parsing(wireBytes("01010110"), ColorSpaceDescription.init(parsing:)) == .bt709Limited)
    let sited = try #require(parsing(wireBytes("0102032a"), ColorSpaceDescription.init(parsing:)))
    #expect(sited.range == .full && sited.matrix == 3)
    #expect(writtenBytes { sited.write(into: &$0) } == wireBytes("0102032a"))
    let hdr = wireBytes("09100910") + [UInt8](repeating: 7, count: 24)
    #expect(parsing(hdr, ColorSpaceDescription.init(parsing:))?.transfer == 16)
    for bad in ["", "010101", "0101011000"] {
      #expect(parsing(wireBytes(bad), ColorSpaceDescription.init(parsing:)) == nil)
    }
  }

  @Test func `audio level has a voice flag`() {
    let level = AudioLevelIndication(level: AudioLevel(attenuation: 30), hasVoice: true)
    #expect(writtenBytes { level.write(into: &$0) } == [0x9E])
    #expect(parsing([0x9E], AudioLevelIndication.init(parsing:)) == level)
    #expect(AudioLevelIndication(level: AudioLevel(attenuation: 200), hasVoice: false).level == .silence)
    #expect(parsing([], AudioLevelIndication.init(parsing:)) == nil)
  }
}
