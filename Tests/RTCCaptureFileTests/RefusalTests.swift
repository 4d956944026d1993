import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Testing

@Suite(.timeLimit(.minutes(2))) struct RefusalTests {
  private func refusal(_ path: String) -> CaptureError? {
    do throws(CaptureError) {
      _ = try FilePlayer.open(path: path, hosts: Probe.hosts)
      return nil
    } catch {
      return error
    }
  }

  private func refusal(_ clip: Clip) -> CaptureError? { withExtendedLifetime(clip) { refusal(clip.path) } }

  private func isMissing(_ error: CaptureError?, _ words: String) -> Bool {
    guard case .noSuchSource(let sentence) = error else { return false }
    return sentence.contains(words)
  }

  @Test func `a missing file is said to be missing`() {
    #expect(isMissing(refusal("/tmp/no-such-clip.mp4"), "There is no file /tmp/no-such-clip.mp4"))
  }

  @Test func `a folder is not a file`() { #expect(isMissing(refusal("/tmp"), "is a folder")) }

  @Test func `a device is not read to its end`() { #expect(isMissing(refusal("/dev/zero"), "not a plain file")) }

  @Test func `an empty file is said to be empty`() throws {
    #expect(isMissing(refusal(try Clip("empty.mp4", bytes: [])), "is empty"))
  }

  @Test(arguments: ["noise.mp4", "noise.mp3", "noise.mkv", "noise.bin", "noise.png"]) func `random bytes are refused`(
    _ name: String
  ) async throws {
    var generator = SeededGenerator(seed: 7)
    let clip = try Clip(name, bytes: (0..<100_000).map { _ in UInt8.random(in: 0...255, using: &generator) })
    await expectNothing(clip)
  }

  @Test func `an MP4 without its index breaks off`() throws {
    let whole = try Clip("whole.mp4", "-f lavfi -i \(Clip.pictures) -t 1 -c:v libx264")
    let clip = try Clip("cut.mp4", bytes: Array(whole.bytes.prefix(whole.bytes.count / 2)))
    #expect(isMissing(refusal(clip), "breaks off"))
  }

  @Test func `a truncated file plays as far as it goes`() async throws {
    let whole = try Clip("whole.mkv", "-f lavfi -i \(Clip.pictures) -t 4 -c:v libx264 -g 10")
    let clip = try Clip("cut.mkv", bytes: Array(whole.bytes.prefix(whole.bytes.count / 2)))
    let record = await (try Playback(clip)).play()
    #expect((20..<100).contains(record.pictures.count))
    #expect(record.videoEnd == .finished)
  }

  @Test func `an encrypted file is said to be encrypted`() throws {
    let key = "0123456789abcdef0123456789abcdef"
    let clip = try Clip(
      "drm.mp4",
      "-f lavfi -i \(Clip.pictures) -t 1 -c:v libx264 -encryption_scheme cenc-aes-ctr -encryption_key \(key) "
        + "-encryption_kid \(key)")
    guard case .unsupportedFormat(let sentence) = refusal(clip) else {
      Issue.record("\(String(describing: refusal(clip)))"); return
    }
    #expect(sentence.contains("encrypted"))
  }

  @Test func `a playlist opens no other file`() async throws {
    let inner = try Clip("inner.ts", "-f lavfi -i \(Clip.pictures) -t 1 -c:v libx264")
    let text = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n#EXTINF:1.0,\n\(inner.path)\n#EXT-X-ENDLIST\n"
    await expectNothing(try Clip("list.m3u8", bytes: Array(text.utf8)))
    let list = "ffconcat version 1.0\nfile '\(inner.path)'\n"
    await expectNothing(try Clip("list.ffconcat", bytes: Array(list.utf8)))
  }

  @Test func `sound that is not wanted leaves nothing to play`() throws {
    let clip = try Clip("tone.wav", "-f lavfi -i \(Clip.sine) -t 1")
    var options = FilePlayer.Options()
    options.playsSound = false
    #expect(throws: CaptureError.self) { try FilePlayer.open(path: clip.path, options: options, hosts: Probe.hosts) }
  }

  @Test func `a cover picture is no video`() throws {
    let clip = try Clip(
      "cover.mp3",
      "-f lavfi -i \(Clip.sine) -f lavfi -i \(Clip.pictures) -t 1 -map 0 -map 1 -frames:v 1 -c:v png "
        + "-disposition:v attached_pic")
    let player = try FilePlayer.open(path: clip.path, hosts: Probe.hosts)
    #expect(player.source.video == nil)
    #expect(player.source.audio != nil)
  }

  /// Refused at once, or when nothing in it turned out to be decodable.
  private func expectNothing(_ clip: Clip) async {
    guard let playback = try? Playback(clip) else {
      return #expect(refusal(clip).map { $0.sentence.contains(clip.path) } == true)
    }
    let record = await playback.play()
    #expect(record.pictures.isEmpty)
    if case .success = record.videoStart { Issue.record("\(clip.path) started") }
  }
}
