import RTCCaptureFile
import RTCMedia
import Testing

/// Frames passed on without decoding are, byte for byte, the output of FFmpeg's own bitstream filters for the file.
@Suite struct BitstreamFilterTests {
  private let folder: ScratchFolder
  init() throws { folder = try ScratchFolder() }

  private static let source = "-f lavfi -i testsrc=size=160x90:rate=25 -frames:v 60 -pix_fmt yuv420p"

  @Test(arguments: ["mp4", "mov", "mkv"]) func `H.264 out of boxes is what h264_mp4toannexb makes of it`(
    container: String
  ) throws {
    let file = try folder.sample("a.\(container)", "\(Self.source) -c:v libx264 -preset veryfast -bf 0 -g 20")
    try compare(file, "h264_mp4toannexb", keyFrames: 3)
  }

  @Test func `delimiters and filler are left out of H.264`() throws {
    let file = try folder.sample(
      "a.mp4",
      "\(Self.source) -c:v libx264 -preset veryfast -bf 0 -g 20 -b:v 2M -maxrate 2M -bufsize 200k "
        + "-x264-params aud=1:nal-hrd=cbr:force-cfr=1")
    let plain = try FilteredPackets(file, "h264_mp4toannexb")
    let filtered = try FilteredPackets(file, "h264_mp4toannexb,filter_units=remove_types=9|12")
    #expect(plain.packets != filtered.packets)
    try compare(file, "h264_mp4toannexb,filter_units=remove_types=9|12", keyFrames: 3)
  }

  @Test func `H.264 of a transport stream is kept, without its delimiters`() throws {
    let file = try folder.sample("a.ts", "\(Self.source) -c:v libx264 -preset veryfast -bf 0 -g 20")
    try compare(file, "filter_units=remove_types=9", keyFrames: 3)
  }

  @Test(arguments: [
    ("webm", "-c:v libvpx -deadline realtime -cpu-used 8"), ("ivf", "-c:v libvpx -deadline realtime -cpu-used 8"),
    ("mkv", "-c:v libvpx-vp9 -deadline realtime -cpu-used 8"),
  ]) func `VP8 and VP9 are passed on as they are`(container: String, encoder: String) throws {
    let file = try folder.sample("a.\(container)", "\(Self.source) \(encoder) -g 20")
    try compare(file, "null", keyFrames: 3)
  }

  @Test func `hidden VP9 frames travel with the picture they serve`() throws {
    let file = try folder.twoPassSample(
      "a.webm", "\(Self.source) -c:v libvpx-vp9 -cpu-used 5 -auto-alt-ref 1 -lag-in-frames 25 -b:v 200k -g 30")
    try compare(file, "null", keyFrames: 2)

    let apart = try FilteredPackets(file, "vp9_superframe_split")
    let joined = try FilteredPackets(file, "vp9_superframe_split,vp9_superframe")
    #expect(apart.packets.count > joined.packets.count)
    var rewriter = VP9Rewriter()
    var pictures: [[UInt8]] = []
    for packet in apart.packets {
      switch rewriter.rewrite(packet.span) {
      case .picture(let picture): pictures.append(picture.data)
      case .hidden: break
      case .malformed: Issue.record("a packet of libvpx was refused")
      }
    }
    #expect(pictures == joined.packets)
  }

  @Test(arguments: ["ivf", "mkv", "mp4"]) func `AV1 is what av1_metadata makes of it, without temporal delimiters`(
    container: String
  ) throws {
    let file = try folder.sample(
      "a.\(container)", "\(Self.source) -c:v libaom-av1 -cpu-used 8 -usage realtime -g 20")
    try compare(file, "av1_metadata=td=remove:delete_padding=1", keyFrames: 3)
  }

  @Test func `an AV1 key frame without a sequence header gets one`() throws {
    let file = try folder.sample("a.mkv", "\(Self.source) -c:v libaom-av1 -cpu-used 8 -usage realtime -g 20")
    let whole = try FilteredPackets(file, "av1_metadata=td=remove:delete_padding=1")
    let bare = try FilteredPackets(file, "filter_units=remove_types=1|2|15")
    #expect(whole.packets != bare.packets)
    var rewriter = AV1Rewriter(extradata: whole.extradata.span)
    let rewritten = bare.packets.map { rewriter.rewrite($0.span)?.data }
    #expect(rewritten == whole.packets)
  }

  @Test func `Opus is passed on as it is, and positions follow its lengths`() throws {
    let file = try folder.sample(
      "a.webm", "-f lavfi -i sine=frequency=440:duration=2:sample_rate=48000 -c:a libopus -frame_duration 40")
    let passed = try PassedOn.all(of: file)
    #expect(passed.sounds.count >= 50)
    #expect(passed.sounds.allSatisfy { $0.sampleCount == 1920 })
    #expect(zip(passed.sounds, passed.sounds.dropFirst()).allSatisfy { $1.position - $0.position == 1920 })
    #expect(passed.sounds.map(\.startsTalkSpurt).filter { $0 }.count == 1)
  }

  private func compare(_ file: String, _ filters: String, keyFrames: Int) throws {
    let expected = try FilteredPackets(file, filters)
    let passed = try PassedOn.all(of: file)
    #expect(passed.pictures.count == 60)
    #expect(passed.pictures.map(\.data) == expected.packets)
    #expect(passed.pictures.map(\.isKeyFrame) == expected.keys)
    #expect(passed.pictures.filter(\.isKeyFrame).count == keyFrames)
    #expect(passed.pictures.map(\.number) == Array(0..<60))
    #expect(passed.pictures.allSatisfy { $0.size == PixelSize(width: 160, height: 90) })
    #expect(zip(passed.pictures, passed.pictures.dropFirst()).allSatisfy { $0.captureTime < $1.captureTime })
  }
}
