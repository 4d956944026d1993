import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Testing

/// B9: a file is demuxed and decoded in a process without rights. The other tests of this target play their files in such a process
/// too.
@Suite(.serialized, .timeLimit(.minutes(3))) struct FileHostTests {
  private static let sine = "-f lavfi -i \(Clip.sine)"

  private func clip(_ name: String, _ coding: String, pictures: String = Clip.pictures) throws -> Clip {
    try Clip(name, "-f lavfi -i \(pictures) \(Self.sine) -t 2 \(coding)")
  }

  @Test(arguments: [
    ("h264.mp4", "-c:v libx264 -bf 2 -g 25 -c:a aac"), ("vp9.webm", "-c:v libvpx-vp9 -deadline realtime -c:a libopus"),
    ("ten-bits.mkv", "-c:v ffv1 -pix_fmt yuv422p10le -c:a flac"), ("old.avi", "-c:v mpeg4 -bf 2 -c:a libmp3lame"),
    ("woven.ts", "-c:v mpeg2video -flags +ilme+ildct -c:a mp2"), ("full.mkv", "-c:v mjpeg -c:a pcm_s16le"),
  ])
  func `B9: pictures and sound from the process are those that are decoded here`(
    _ name: String, _ coding: String
  ) async throws {
    let clip = try clip(name, coding)
    let probe = Probe("well")
    let isolated = await (try Playback(clip, hosts: probe.hosts)).play()
    let own = await (try Playback(clip, hosts: nil)).play()
    #expect(isolated.pictures.count >= 45 && isolated.pictures.map(\.sum) == own.pictures.map(\.sum))
    #expect(isolated.pictures.map(\.time) == own.pictures.map(\.time))
    #expect(isolated.pictures.map(\.colorSpace) == own.pictures.map(\.colorSpace))
    #expect(!isolated.sounds.isEmpty && isolated.samples() == own.samples())
    #expect(isolated.sounds.map(\.time) == own.sounds.map(\.time))
    #expect(probe.sentences == [])
  }

  @Test func `B9: pictures of more than a message are whole`() async throws {
    let clip = try Clip("large.mkv", "-f lavfi -i testsrc2=size=1920x1080:rate=25 -frames:v 30 -c:v libx264 -bf 2")
    let isolated = await (try Playback(clip)).play()
    let own = await (try Playback(clip, hosts: nil)).play()
    #expect(isolated.pictures.count == 30 && isolated.pictures.map(\.sum) == own.pictures.map(\.sum))
  }

  @Test func `B9: the process can do nothing but decode`() async throws {
    let probe = Probe("try-20")
    let clip = try clip("try.mp4", "-c:v libx264 -g 10 -bf 0")
    let record = await (try Playback(clip, hosts: probe.hosts)).play()
    #expect(record.videoEnd == .finished)
    // The process ends with this status if each attempt was refused.
    #expect(probe.sentences.first?.contains("status 42") == true, "\(probe.sentences)")
  }

  @Test func `B9: a process that ends in the middle of a picture costs none and one sentence`() async throws {
    // Each process crashes at its 40th packet; the second one begins with the key frame before.
    let clip = try clip("crash.mp4", "-c:v libx264 -g 10 -bf 0 -c:a aac")
    let probe = Probe("crash-40")
    let record = await (try Playback(clip, hosts: probe.hosts)).play()
    let expected = await (try Playback(clip, hosts: nil)).play().pictures.map(\.sum)
    // Pictures that waited when the process ended may be shown again. No picture is left out.
    var seen: [UInt32] = []
    for sum in record.pictures.map(\.sum) where seen.last != sum { seen.append(sum) }
    #expect(seen == expected)
    #expect(record.videoEnd == .finished && record.audioEnd == .finished)
    #expect(probe.sentences.count == 1 && probe.sentences[0].contains("signal 11"), "\(probe.sentences)")
  }

  @Test func `B9: a file that ends its processes again and again ends with one message`() async throws {
    let clip = try clip("crash.mp4", "-c:v libx264 -c:a aac")
    let probe = Probe("crash-3")
    let record = await (try Playback(clip, hosts: probe.hosts)).play()
    guard case .lost(let sentence) = record.videoEnd else {
      // Nothing was shown before.
      guard case .failure = record.videoStart else { Issue.record("\(record.videoEnd.debugDescription)"); return }
      return
    }
    #expect(sentence.contains(clip.path) && sentence.contains("signal 11") && sentence.contains("once too often"))
    #expect(probe.sentences.count == 5)
  }

  @Test func `B9: a process that hangs is ended`() async throws {
    let probe = Probe("hang-40", silence: .milliseconds(700))
    let clip = try clip("hang.mp4", "-c:v libx264 -g 10 -bf 0 -c:a aac")
    let record = await (try Playback(clip, hosts: probe.hosts)).play()
    #expect(record.videoEnd == .finished)
    #expect(probe.sentences.count >= 1 && probe.sentences[0].contains("did not answer"), "\(probe.sentences)")
  }

  @Test func `B9: a file that ends the process while it is opened is refused`() throws {
    let probe = Probe("crash-open")
    let clip = try clip("open.mp4", "-c:v libx264")
    let error = #expect(throws: CaptureError.self) { try FilePlayer.open(path: clip.path, hosts: probe.hosts) }
    let sentence = error?.sentence ?? ""
    #expect(sentence.contains(clip.path) && sentence.contains("signal 11"), "\(sentence)")
  }

  @Test func `B9: where no process can be started the file is played here`() async throws {
    let probe = Probe("well", program: "/nonexistent/program")
    let clip = try clip("here.mp4", "-c:v libx264 -c:a aac")
    let record = await (try Playback(clip, hosts: probe.hosts)).play()
    #expect(record.pictures.count == 50 && record.videoEnd == .finished)
    #expect(probe.sentences.count == 1 && probe.sentences[0].contains("/nonexistent/program"), "\(probe.sentences)")
  }

  // MARK: - Lies

  @Test(arguments: [
    "early", "greedy", "before", "contents", "fault", "flat", "rate", "time", "duration", "size", "none", "parts",
    "many", "moved",
    "nonsense", "without-memory", "without-descriptor", "unsealed", "huge", "slot", "outside", "wide", "picture-time",
    "picture-duration", "count", "sound", "flood",
  ])
  func `B9: a lie ends the process and nothing else`(_ lie: String) async throws {
    let probe = Probe("lie-" + lie)
    let clip = try Clip("lie.bin", bytes: [1, 2, 3])
    do {
      let record = await (try Playback(clip, hosts: probe.hosts)).play()
      #expect(record.pictures.isEmpty)
      #expect(
        probe.sentences.count == 5 && probe.sentences.allSatisfy { $0.contains("nonsense") }, "\(probe.sentences)")
    } catch let error as CaptureError {
      #expect(error.sentence.contains("nonsense") && error.sentence.contains(clip.path))
    }
  }

  @Test func `B9: a process that only asks is ended`() throws {
    let probe = Probe("lie-asks", request: .milliseconds(300))
    let clip = try Clip("lie.bin", bytes: [1, 2, 3])
    let error = #expect(throws: CaptureError.self) { try FilePlayer.open(path: clip.path, hosts: probe.hosts) }
    #expect(error?.sentence.contains("did not answer") == true)
  }

  @Test func `B9: a message that is cut short is none`() {
    let selection = PictureSelection(floor: .seconds(1), interval: .milliseconds(40), isLate: true)
    let stamp = PacketStamp(pts: nil, dts: -5, duration: 7)
    let released = FileRequest.Released(slots: 5, packets: [3, 9])
    let requests: [FileRequest] = [
      .open(wantsAudio: true, ending: ".mkv"), .prepare(sendsPictures: true, sendsSound: false), .read, .seek(-3),
      .rewind,
      .decodePictures(packet: 4, stamp: stamp, decodeTime: .seconds(2), selection),
      .finishPictures(selection, showsHeld: true),
      .decodeSound(packet: 8, stamp: stamp), .finishSound, .reset(isPicture: false),
    ]
    for request in requests {
      let bytes = request.bytes(released)
      for count in 0..<bytes.count { #expect(FileRequest.parse(bytes.span.extracting(first: count)) == nil) }
      let read = FileRequest.parse(bytes.span)
      #expect(read?.request == request && read?.released == released)
    }
    let answers: [FileAnswer] = [
      .failure(.unreadable), .moved(true), .bytesWanted(offset: 1 << 40, count: 60_000), .segment(slot: 3),
      .pictures(made: 3, newest: .seconds(1), converted: 1), .refused(.undecodable(codec: "av2")),
    ]
    for answer in answers {
      let bytes = answer.bytes
      for count in 0..<bytes.count { #expect(FileAnswer(parsing: bytes.span.extracting(first: count)) == nil) }
      #expect(FileAnswer(parsing: bytes.span)?.bytes == bytes)
    }
  }
}
