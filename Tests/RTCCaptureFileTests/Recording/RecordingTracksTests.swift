import Foundation
import Glibc
import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Synchronization
import Testing

/// A call is recorded: pictures and sounds of several far sides, which come and go.
@Suite(.timeLimit(.minutes(2))) struct RecordingTracksTests {
  private let folder: ScratchFolder
  private let log = RecordingLog()
  init() throws { folder = try ScratchFolder() }

  private static let vp8 = "-c:v libvpx -deadline realtime -cpu-used 8"
  private static let h264 = "-c:v libx264 -preset ultrafast -bf 0"

  /// A key frame each second, from `after` seconds on.
  private func clip(_ seconds: Int, _ encoder: String, size: String = "160x90", after: Double = 0) throws
    -> PassedOn.Record
  {
    var record = try PassedOn.all(
      of: folder.sample(
        "\(UUID().uuidString).mkv",
        "-f lavfi -i testsrc=size=\(size):rate=25:duration=\(seconds)"
          + " -f lavfi -i sine=duration=\(seconds):sample_rate=48000 -pix_fmt yuv420p -c:a libopus"
          + " -frame_duration 20 -g 25 -sc_threshold 0 \(encoder)"))
    let delay = TimeDelta.seconds(after)
    for index in record.pictures.indices { record.pictures[index].captureTime += delay }
    for index in record.sounds.indices { record.sounds[index].captureTime += delay }
    return record
  }

  /// Hands the clips to a recorder as a call would, each to two tracks of its own, which are added when they begin.
  private func record(_ clips: [(String, PassedOn.Record)], into recorder: Recorder, asked: Asked = Asked()) {
    enum Media {
      case picture(EncodedFrame)
      case sound(EncodedAudioFrame)
    }
    var all: [(time: Timestamp, whose: String, media: Media)] = []
    for (name, clip) in clips {
      all += clip.pictures.map { ($0.captureTime, name, .picture($0)) }
      all += clip.sounds.map { ($0.captureTime, name, .sound($0)) }
    }
    var tracks: [String: (pictures: RecordingTrack, sound: RecordingTrack)] = [:]
    for entry in all.sorted(by: { $0.time < $1.time }) {
      let name = entry.whose
      if tracks[name] == nil {
        let sound = recorder.addSound(name: name)
        tracks[name] = (recorder.addPictures(name: name) { asked.note(name) }, sound)
      }
      switch entry.media {
      case .picture(let frame): tracks[name]?.pictures.take(frame)
      case .sound(let frame): tracks[name]?.sound.take(frame)
      }
    }
    for track in tracks.values {
      track.pictures.end()
      track.sound.end()
    }
    recorder.finish()
  }

  @Test(arguments: [
    ("mkv", ["vp8", "h264"], [vp8, h264]),
    ("webm", ["vp8", "vp9"], [vp8, "-c:v libvpx-vp9 -cpu-used 8 -deadline realtime"]),
    ("mp4", ["h264", "h264"], [h264, h264]),
  ]) func `the pictures and the sounds of all who are there are in one file, each at its time`(
    container: String, codecs: [String], encoders: [String]
  ) throws {
    let (anna, bob) = (try clip(4, encoders[0]), try clip(4, encoders[1], size: "96x64", after: 0.24))
    let path = "\(folder.path)/rec.\(container)"
    record([("anna", anna), ("bob", bob)], into: try Recorder(collectingInto: path, report: log.note))
    #expect(log.events == [.started(path: path)])
    let played = try ManyTracks(path)
    #expect(played.codecs == codecs + ["opus", "opus"])
    #expect(played.names == ["anna", "bob", "anna", "bob"])
    #expect(played.decoded == ["160x90": 100, "96x64": 100])
    #expect(played.complaints == [])
    let origin = anna.pictures[0].captureTime
    for (track, times) in [anna.pictures, bob.pictures].map({ $0.map(\.captureTime) }).enumerated() {
      expectTimes(played.times[track] ?? [], times.map { ($0 - origin).seconds }, of: track)
    }
    for (track, times) in [anna.sounds, bob.sounds].map({ $0.map(\.captureTime) }).enumerated() {
      expectTimes(
        played.times[2 + track] ?? [], times.map { ($0 - origin).seconds }.filter { $0 >= 0 }, of: 2 + track)
    }
  }

  @Test(arguments: [("mkv", vp8), ("mp4", h264)])
  func `who comes later is in the next file, with all who are there, and nothing is lost between the two`(
    container: String, encoder: String
  ) throws {
    let (anna, bob) = (try clip(7, encoder), try clip(3, encoder, size: "96x64", after: 3.52))
    let (path, second) = ("\(folder.path)/rec.\(container)", "\(folder.path)/rec-2.\(container)")
    let asked = Asked()
    record([("anna", anna), ("bob", bob)], into: try Recorder(collectingInto: path, report: log.note), asked: asked)
    #expect(
      log.events == [
        .started(path: path),
        .continued(
          path: second,
          sentence: "A picture of bob has come, for which \(path) has no track; the recording goes on in \(second)."),
      ]
        || log.events == [
          .started(path: path),
          .continued(
            path: second,
            sentence: "The sound of bob has come, for which \(path) has no track; the recording goes on in \(second)."),
        ])
    #expect(asked.names.contains("anna"))
    let (before, after) = (try ManyTracks(path), try ManyTracks(second))
    #expect(before.decoded == ["160x90": 100] && after.decoded == ["160x90": 75, "96x64": 75])
    #expect(before.names == ["anna", "anna"] && after.names == ["anna", "bob", "anna", "bob"])
    #expect(before.complaints == [] && after.complaints == [])
    // Anna's next key frame came 0.48 s after Bob's first frame.
    #expect(try #require(after.times[1]?.first) < 0.05)
    #expect(abs(try #require(after.times[0]?.first) - 0.48) < 0.05)
    let sounds = (before.times[1]?.count ?? 0) + (after.times[2]?.count ?? 0)
    #expect(sounds == anna.sounds.count || sounds == anna.sounds.count - 1)
  }

  @Test func `a call of sound alone is kept too`() throws {
    var (anna, bob) = (try clip(2, Self.vp8), try clip(2, Self.vp8, after: 0.1))
    (anna.pictures, bob.pictures) = ([], [])
    let path = "\(folder.path)/rec.mkv"
    let recorder = try Recorder(collectingInto: path, report: log.note)
    let tracks = [recorder.addSound(name: "anna"), recorder.addSound(name: "bob")]
    for sound in anna.sounds { tracks[0].take(sound) }
    for sound in bob.sounds { tracks[1].take(sound) }
    recorder.finish()
    let played = try ManyTracks(path)
    #expect(played.codecs == ["opus", "opus"] && played.complaints == [])
    #expect(played.times[0]?.count == anna.sounds.count && played.times[1]?.count == bob.sounds.count)
  }

  @Test func `a recording without pictures begins with its sound, and pictures that come later get another file`()
    throws
  {
    let anna = try clip(4, Self.vp8)
    let origin = anna.pictures[0].captureTime
    var (sound, rest) = (anna, anna)
    sound.pictures = []
    sound.sounds.removeAll { ($0.captureTime - origin).seconds >= 2 }
    rest.pictures.removeAll { ($0.captureTime - origin).seconds < 2 }
    rest.sounds.removeAll { ($0.captureTime - origin).seconds < 2 }
    let (path, second) = ("\(folder.path)/rec.mkv", "\(folder.path)/rec-2.mkv")
    let recorder = try Recorder(path: path, hasVideo: false, hasAudio: true, report: log.note)
    sound.record(with: recorder)
    rest.record(with: recorder)
    recorder.finish()
    let (before, after) = (try ManyTracks(path), try ManyTracks(second))
    #expect(before.codecs == ["opus"] && before.complaints == [])
    #expect(after.codecs == ["vp8", "opus"] && after.complaints == [])
    #expect(after.decoded == ["160x90": 50])
  }

  @Test(arguments: [("mkv", vp8), ("mp4", h264)])
  func `sound that begins long after the pictures is heard in its place`(container: String, encoder: String) throws {
    let anna = try clip(4, encoder)
    let origin = anna.pictures[0].captureTime
    let path = "\(folder.path)/rec.\(container)"
    let recorder = try Recorder(path: path, hasAudio: true, report: log.note)
    let early = anna.pictures.prefix { ($0.captureTime - origin).seconds < 2 }
    for picture in early { recorder.record(picture) }
    // What is written by now cannot be changed any more.
    let limit = ContinuousClock.now + .seconds(60)
    while recorder.progress.safeBytes == 0, ContinuousClock.now < limit { sched_yield() }
    var rest = anna
    rest.pictures.removeFirst(early.count)
    rest.sounds.removeAll { ($0.captureTime - origin).seconds < 2.5 }
    rest.record(with: recorder)
    recorder.finish()
    let played = try ManyTracks(path)
    #expect(played.complaints == [])
    let expected = rest.sounds.map { ($0.captureTime - origin).seconds }
    expectTimes((played.times[1] ?? []).filter { $0 > expected[0] - 0.01 }, expected, of: 1)
    expectTimes(
      played.times[0] ?? [], anna.pictures.map { ($0.captureTime - origin).seconds }, of: 0, tolerance: 0.05)
  }

  @Test func `pictures that the file cannot hold are left out with a word, the others go on`() throws {
    let (anna, bob) = (try clip(4, Self.h264), try clip(4, Self.vp8, size: "96x64"))
    let path = "\(folder.path)/rec.mp4"
    record([("anna", anna), ("bob", bob)], into: try Recorder(collectingInto: path, report: log.note))
    #expect(
      log.events.contains(
        .leftOut(
          sentence: "The pictures of bob are not recorded: \(path): an mp4 file cannot hold VP8; name the recording "
            + ".mkv or .webm.")))
    let played = try ManyTracks(path)
    #expect(played.codecs == ["h264", "opus", "opus"])
    #expect(played.decoded == ["160x90": 100])
  }

  @Test func `who never shows a picture is waited for and then left out`() throws {
    let anna = try clip(4, Self.vp8)
    let path = "\(folder.path)/rec.webm"
    let recorder = try Recorder(collectingInto: path, report: log.note)
    let asked = Asked()
    let tracks = [
      recorder.addPictures(name: "anna"), recorder.addPictures(name: "bob") { asked.note("bob") },
    ]
    for picture in anna.pictures { tracks[0].take(picture) }
    recorder.finish()
    #expect(asked.names == ["bob"])
    #expect(log.events == [.started(path: path)])
    let played = try ManyTracks(path)
    #expect(played.names == ["anna"] && played.decoded == ["160x90": 100])
  }

  private func expectTimes(_ times: [Double], _ expected: [Double], of track: Int, tolerance: Double = 0.0021) {
    #expect(times.count == expected.count, "track \(track)")
    for (time, right) in zip(times, expected) where abs(time - right) > tolerance {
      Issue.record("\(time) s is not \(right) s on track \(track)")
      return
    }
  }
}

/// Whose key frames were wanted.
private final class Asked: Sendable {
  private let known = Mutex<[String]>([])
  var names: [String] { known.withLock { $0 } }
  func note(_ name: String) { known.withLock { $0.append(name) } }
}

/// The report of `ffprobe` on a file of several tracks, all of it decoded.
private struct ManyTracks {
  var codecs: [String] = []
  var names: [String] = []
  /// The times of the packets of each track, in seconds.
  var times: [Int: [Double]] = [:]
  /// The number of decoded pictures of each size.
  var decoded: [String: Int] = [:]
  var complaints: [String] = []

  init(_ path: String) throws {
    let entries =
      "stream=index,codec_name:stream_tags=title,handler_name:packet=stream_index,pts_time:frame=media_type,width,height"
    let text = try runProgram(
      "ffprobe -v warning -show_packets -show_frames -show_entries \(entries) -of compact \(path)")
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: "|").map(String.init)
      let values = Dictionary(
        fields.dropFirst().compactMap { field in
          field.firstIndex(of: "=").map { (String(field[..<$0]), String(field[field.index(after: $0)...])) }
        }, uniquingKeysWith: { one, _ in one })
      switch fields.first {
      case "packet":
        guard let track = values["stream_index"].flatMap({ Int($0) }),
          let time = values["pts_time"].flatMap(Double.init)
        else { continue }
        times[track, default: []].append(time)
      case "frame":
        if values["media_type"] == "video" {
          decoded["\(values["width"] ?? "")x\(values["height"] ?? "")", default: 0] += 1
        }
      case "stream":
        codecs.append(values["codec_name"] ?? "")
        names.append(values["tag:title"] ?? values["tag:handler_name"] ?? "")
      default: complaints.append(String(line))
      }
    }
  }
}
