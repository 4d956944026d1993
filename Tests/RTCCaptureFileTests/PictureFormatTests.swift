import FeatureKit
import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Testing

@Suite(.timeLimit(.minutes(2))) struct PictureFormatTests {
  private func first(_ clip: Clip) async throws -> (Playback.Picture, converted: Int) {
    let playback = try Playback(clip, pictureLimit: 1)
    let record = await playback.play()
    return (try #require(record.pictures.first), playback.player.convertedPictures)
  }

  private func isNear(_ samples: [Int], _ wanted: [Int], within tolerance: Int = 2) -> Bool {
    samples.count >= wanted.count && zip(samples, wanted).allSatisfy { abs($0 - $1) <= tolerance }
  }

  /// Red 64, green 128, blue 192 in I420 of limited range by BT.601.
  private static let steel = [116, 166, 95]

  @Test(arguments: ["yuv422p", "yuv420p10le", "yuv422p10le", "yuv444p12le", "yuv411p", "yuv410p", "yuv440p"])
  func `other samplings and depths become I420`(_ format: String) async throws {
    let clip = try Clip("a.nut", "-f lavfi -i color=c=0x4080c0:s=160x98:r=25 -t 0.2 -pix_fmt \(format) -c:v ffv1")
    let (picture, converted) = try await first(clip)
    #expect(picture.format == .i420 && picture.size == PixelSize(width: 160, height: 98))
    #expect(isNear(picture.middle, Self.steel), "\(format) \(picture.middle)")
    #expect(picture.colorSpace == .bt601Limited)
    #expect(converted >= 1)
  }

  @Test(arguments: [("yuv420p", PixelFormat.i420), ("yuv444p", .i444), ("nv12", .nv12), ("yuva420p", .i420)])
  func `formats that are passed on are not copied`(_ format: String, _ wanted: PixelFormat) async throws {
    let codec = format == "nv12" ? "rawvideo" : "ffv1"
    let clip = try Clip("a.nut", "-f lavfi -i color=c=0x4080c0:s=160x98:r=25 -t 0.2 -pix_fmt \(format) -c:v \(codec)")
    let (picture, converted) = try await first(clip)
    #expect(picture.format == wanted)
    #expect(isNear(picture.middle, Self.steel), "\(format) \(picture.middle)")
    #expect(converted == 0)
  }

  @Test(arguments: ["rgb24", "bgr24", "gbrp", "rgb565le", "pal8", "bgra", "rgba", "rgb48le"])
  func `red green and blue stay that`(_ format: String) async throws {
    let codec = ["gbrp": "ffv1"][format] ?? (format == "pal8" ? "png" : "rawvideo")
    let clip = try Clip("a.nut", "-f lavfi -i color=c=0x4080c0:s=160x98:r=25 -t 0.2 -pix_fmt \(format) -c:v \(codec)")
    let (picture, _) = try await first(clip)
    let isRed = format == "rgba"
    #expect(picture.format == (isRed ? .rgba : .bgra))
    #expect(
      isNear(picture.middle, isRed ? [64, 128, 192] : [192, 128, 64], within: format == "pal8" ? 40 : 8),
      "\(format) \(picture.middle)")
    #expect(picture.colorSpace == .sRGB)
  }

  @Test func `full range becomes limited`() async throws {
    let clip = try Clip(
      "a.avi", "-f lavfi -i color=c=0x4080c0:s=160x96:r=25 -t 0.2 -c:v mjpeg -pix_fmt yuvj420p -q:v 1")
    let (picture, converted) = try await first(clip)
    #expect(picture.format == .i420)
    #expect(isNear(picture.middle, Self.steel), "\(picture.middle)")
    #expect(converted >= 1)
    let tagged = try Clip(
      "b.mkv",
      "-f lavfi -i color=c=0x4080c0:s=160x96:r=25 -t 0.2 -vf scale=out_range=full -c:v libx264 -qp 0 "
        + "-pix_fmt yuv420p -color_range pc")
    #expect(isNear(try await first(tagged).0.middle, Self.steel))
  }

  @Test func `gray pictures have no colour`() async throws {
    let clip = try Clip("a.png", "-f lavfi -i color=white:s=64x64 -frames:v 1 -pix_fmt gray")
    let (picture, _) = try await first(clip)
    #expect(isNear(picture.middle, [235, 128, 128], within: 1), "\(picture.middle)")
  }

  @Test(arguments: [
    ("160x96", "", ColorSpace.bt601Limited), ("1280x720", "", .bt709Limited),
    ("160x96", "-colorspace bt709", .bt709Limited), ("1280x720", "-colorspace smpte170m", .bt601Limited),
  ]) func `the matrix is the file's or follows the height`(_ size: String, _ tag: String, _ wanted: ColorSpace)
    async throws
  {
    let clip = try Clip("a.mkv", "-f lavfi -i color=gray:s=\(size):r=25 -t 0.1 -c:v libx264 -pix_fmt yuv420p \(tag)")
    #expect(try await first(clip).0.colorSpace == wanted)
  }

  @Test func `wide colours are brought to high definition`() async throws {
    let clip = try Clip(
      "a.mkv",
      "-f lavfi -i color=c=0x4080c0:s=160x96:r=25 -t 0.1 "
        + "-vf scale=out_color_matrix=bt2020 -c:v ffv1 -pix_fmt yuv420p10le -colorspace bt2020nc")
    let (picture, _) = try await first(clip)
    #expect(picture.colorSpace == .bt709Limited)
    #expect(isNear(picture.middle, [118, 163, 97], within: 3), "\(picture.middle)")
  }

  @Test(
    .feature("S0.72"), arguments: [(90, VideoRotation.clockwise270), (180, .half), (270, .clockwise90), (0, .none)])
  func `rotation says how to turn the picture clockwise`(_ counterclockwise: Int, _ wanted: VideoRotation) async throws
  {
    let clip = try Clip(
      "turned.mov",
      "-f lavfi -i color=black:s=64x48:r=25,drawbox=x=0:y=0:w=32:h=24:color=white:t=fill -t 0.2 -c:v libx264 "
        + "-pix_fmt yuv420p $DIR/upright.mov",
      "-i $DIR/upright.mov -c copy -metadata:s:v rotate=\(counterclockwise)")
    #expect(try await first(clip).0.rotation == wanted)
    // The program turns the picture when it decodes: the white corner goes round with the clock.
    let upright = try Shell.run(
      "ffmpeg -v error -i '\(clip.path)' -frames:v 1 -vf scale=2:2:flags=area -f rawvideo "
        + "-pix_fmt gray - | od -An -tu1")
    let corners = upright.split(whereSeparator: { $0 == " " || $0 == "\n" }).map { Int($0) ?? 0 }
    let brightest = corners.indices.max { corners[$0] < corners[$1] }
    let places: [VideoRotation: Int] = [.none: 0, .clockwise90: 1, .half: 3, .clockwise270: 2]
    #expect(brightest == places[wanted], "\(corners)")
  }

  @Test(arguments: [
    ("wide.mkv", "-vf setsar=64/45", 1024), ("narrow.mkv", "-vf setsar=8/9", 640), ("square.mkv", "", 720),
    ("wide.ts", "-bsf:v h264_metadata=sample_aspect_ratio=64/45", 1024), ("broken.mkv", "-vf setsar=1/100", 720),
  ]) func `pixels become square`(_ name: String, _ aspect: String, _ width: Int) async throws {
    let clip = try Clip(
      name, "-f lavfi -i color=c=0x4080c0:s=720x96:r=25 -t 0.2 -c:v libx264 -pix_fmt yuv420p \(aspect)")
    let (picture, _) = try await first(clip)
    #expect(picture.size == PixelSize(width: width, height: 96))
    #expect(isNear(picture.middle, Self.steel), "\(picture.middle)")
  }

  /// Rows of two pictures by turns: those of the second are made anew of the first's, on whichever rows these are.
  @Test(arguments: [("tff", 49), ("bff", 48)]) func `interlaced pictures lose their comb`(_ order: String, _ row: Int)
    async throws
  {
    let clip = try Clip(
      "woven.ts",
      "-f lavfi -i color=c=black:s=64x\(row * 2):r=25,geq=lum='if(mod(Y+\(row)\\,2)\\,235\\,16)':cb=128:cr=128 -t 0.2 "
        + "-vf setfield=\(order) -c:v mpeg2video -q:v 1 -flags +ilme+ildct -top \(order == "tff" ? 1 : 0)")
    let (picture, _) = try await first(clip)
    #expect(picture.size.height / 2 == row)
    #expect(picture.middle[0] > 225, "\(picture.middle)")
  }

  @Test func `mirrored pictures are mirrored back`() async throws {
    let clip = try Clip("mirrored.mp4", "-f lavfi -i testsrc=size=64x48:rate=25 -t 0.2 -c:v libx264 -pix_fmt yuv420p")
    let wanted = try clip.pictures("-vf hflip")
    // The matrix of the track's header (ISO/IEC 14496-12 §8.3.2): its first coefficient, 1 as 16.16, becomes −1.
    var bytes = clip.bytes
    let header = try #require(bytes.indices.first { bytes[$0...].starts(with: "tkhd".utf8) })
    let matrix = header + 4 + 40
    #expect(Array(bytes[matrix..<matrix + 4]) == [0, 1, 0, 0])
    bytes.replaceSubrange(matrix..<matrix + 4, with: [0xFF, 0xFF, 0, 0])
    clip.write(bytes)
    let picture = try await first(clip).0
    #expect(picture.rotation == .none && picture.sum == wanted.first?.sum)
    #expect(try FilePlayer.open(path: clip.path, hosts: Probe.hosts).passthroughRefusal?.contains("mirrored") == true)
  }

  @Test func `a size that changes mid stream is followed`() async throws {
    let clip = try Clip(
      "joined.ts",
      "-f lavfi -i testsrc=size=160x120:rate=25 -t 1 -c:v libx264 -bf 2 -pix_fmt yuv420p $DIR/a.ts",
      "-f lavfi -i testsrc=size=320x180:rate=25 -t 1 -c:v libx264 -bf 2 -pix_fmt yuv420p $DIR/b.ts",
      "-f lavfi -i testsrc=size=16x16 -t 0.1")
    try Shell.run("cd $(dirname '\(clip.path)') && cat a.ts b.ts > joined.ts")
    let record = await (try Playback(clip)).play()
    #expect(record.pictures.prefix(20).allSatisfy { $0.size.width == 160 })
    #expect(record.pictures.suffix(20).allSatisfy { $0.size.width == 320 })
    #expect((48...50).contains(record.pictures.count), "\(record.pictures.count)")
    // The second part's times begin anew; the player closes the leap.
    for (picture, next) in zip(record.pictures, record.pictures.dropFirst()) {
      #expect((0...120).contains((next.time - picture.time).milliseconds))
    }
    #expect(record.videoEnd == .finished)
  }
}
