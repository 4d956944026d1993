import RTCCaptureFile
import RTCMedia
import Testing

/// Which files can be passed on, and what a viewer is told of them.
@Suite struct PassthroughDecisionTests {
  private let folder: ScratchFolder
  init() throws { folder = try ScratchFolder() }

  private static let source = "-f lavfi -i testsrc=size=160x90:rate=25 -frames:v 10"
  private static let h264 = "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id="

  @Test(arguments: [
    ("a.mp4", "-pix_fmt yuv420p -c:v libx264 -profile:v baseline -level 31", h264 + "42e01f"),
    ("a.mkv", "-pix_fmt yuv420p -c:v libx264 -profile:v main -bf 0 -level 40", h264 + "4d0028"),
    ("a.ts", "-pix_fmt yuv420p -c:v libx264 -profile:v high -bf 0 -level 42", h264 + "64002a"),
    ("a.webm", "-c:v libvpx", ""),
    ("a.webm", "-pix_fmt yuv420p -c:v libvpx-vp9 -cpu-used 8", "profile-id=0"),
    ("a.mkv", "-pix_fmt yuv420p -c:v libaom-av1 -cpu-used 8 -usage realtime", "profile=0;level-idx=0;tier=0"),
  ]) func `a stream that browsers take is offered with its profile`(
    name: String, encoder: String, parameters: String
  ) throws {
    let file = try folder.sample(name, "\(Self.source) \(encoder)")
    let format = try #require(try format(of: file))
    #expect(format.parameters == parameters)
    #expect(format.size == PixelSize(width: 160, height: 90))
  }

  @Test(arguments: [
    ("a.mp4", "-pix_fmt yuv420p -c:v libx264 -bf 2"),
    ("a.ts", "-pix_fmt yuv420p -c:v libx264 -bf 2"),
    ("a.mp4", "-pix_fmt yuv420p10le -c:v libx264 -bf 0"),
    ("a.mp4", "-pix_fmt yuv444p -c:v libx264 -bf 0"),
    ("a.mp4", "-pix_fmt yuv420p -c:v libx264 -bf 0 -flags +ilme+ildct -s 160x96"),
    ("a.webm", "-pix_fmt yuv444p -c:v libvpx-vp9 -cpu-used 8"),
    ("a.mkv", "-pix_fmt yuv420p10le -c:v libaom-av1 -cpu-used 8 -usage realtime"),
    ("a.mp4", "-pix_fmt yuv420p -c:v mpeg4"),
    ("a.mp4", "-pix_fmt yuv420p -c:v libx265 -x265-params log-level=none"),
    // Pixels that are not square, as the container says it, and as H.264 alone does.
    ("a.mp4", "-pix_fmt yuv420p -c:v libx264 -bf 0 -vf setsar=64/45"),
    ("a.ts", "-pix_fmt yuv420p -c:v libx264 -bf 0 -bsf:v h264_metadata=sample_aspect_ratio=64/45"),
  ]) func `a stream that browsers do not take is not offered, and is not passed on`(name: String, encoder: String)
    throws
  {
    let file = try folder.sample(name, "\(Self.source) \(encoder)")
    #expect(try format(of: file) == nil)
    #expect(try player(file).passthroughRefusal != nil)
  }

  @Test func `the reason is a sentence`() throws {
    let file = try folder.sample("a.mp4", "\(Self.source) -pix_fmt yuv420p -c:v mpeg4")
    #expect(
      try player(file).passthroughRefusal
        == "The pictures are coded as mpeg4, which browsers do not take; they take H.264, VP8, VP9 and AV1.")
  }

  @Test func `hidden VP8 frames end the passing on`() throws {
    let file = try folder.twoPassSample(
      "a.webm",
      "-f lavfi -i testsrc2=size=160x90:rate=25 -frames:v 60 -c:v libvpx -cpu-used 5 -auto-alt-ref 1 "
        + "-lag-in-frames 25 -b:v 200k")
    let passed = try PassedOn.all(of: file)
    #expect(passed.pictures.count < 60)
    #expect(passed.refusals.first?.contains("alt-ref") == true)
  }

  @Test(arguments: [
    // Intra refresh: the container has key frames, none of which is whole at once.
    ("a.mp4", "-x264-params intra-refresh=1:keyint=25 -frames:v 400", 275...277, "key frame for 11 seconds"),
    ("a.mp4", "-x264-params keyint=infinite -frames:v 400", 275...277, "key frame for 11 seconds"),
    ("a.mp4", "-g 250 -frames:v 400", 400...400, ""),
    // Cut off before the only key frame that is whole.
    (
      "a.ts", "-x264-params intra-refresh=1:keyint=25 -frames:v 100 -bsf:v noise=drop=eq(n\\,0)", 0...0,
      "do not begin with a key frame"
    ),
  ]) func `pictures that nobody can begin with are passed on no further`(
    name: String, coding: String, passed: ClosedRange<Int>, why: String
  ) throws {
    let file = try folder.sample(
      name, "-f lavfi -i testsrc=size=160x90:rate=25 -pix_fmt yuv420p -c:v libx264 -preset ultrafast -bf 0 \(coding)")
    let result = try PassedOn.all(of: file)
    #expect(passed.contains(result.pictures.count), "\(result.pictures.count)")
    #expect(result.refusals.first?.contains(why) ?? why.isEmpty, "\(result.refusals)")
  }

  @Test func `how pictures are to be turned is told before they come`() throws {
    let upright = try folder.sample("upright.mp4", "\(Self.source) -pix_fmt yuv420p -c:v libx264 -bf 0")
    let turned = try folder.sample("turned.mp4", "-i \(upright) -c copy -metadata:s:v rotate=270")
    #expect(try format(of: upright)?.rotation == VideoRotation.none)
    #expect(try format(of: turned)?.rotation == .clockwise90)
    #expect(try player(turned).source.video?.supportedFormats.first?.size == PixelSize(width: 90, height: 160))
  }

  private func player(_ path: String) throws -> FilePlayer {
    try FilePlayer(
      path: path, options: FilePlayer.Options(), clock: .asFastAsConsumed(from: PassedOn.start), passthrough: .standard,
      hosts: Probe.hosts)
  }

  private func format(of path: String) throws -> EncodedVideoFormat? {
    (try player(path).source.video as? any EncodedVideoCapturer)?.encodedFormat
  }
}
