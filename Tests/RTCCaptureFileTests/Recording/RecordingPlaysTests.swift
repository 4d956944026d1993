import Foundation
import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Testing

/// A finished recording holds every frame, at its time.
@Suite struct RecordingPlaysTests {
  private let folder: ScratchFolder
  init() throws { folder = try ScratchFolder() }

  private static let inputs =
    "-f lavfi -i testsrc=size=160x90:rate=25:duration=2 -f lavfi -i sine=duration=2:sample_rate=48000"
    + " -pix_fmt yuv420p -c:a libopus -frame_duration 20 -g 25"

  @Test(arguments: [
    ("vp8", "-c:v libvpx -deadline realtime -cpu-used 8", "mkv"),
    ("vp8", "-c:v libvpx -deadline realtime -cpu-used 8", "webm"),
    ("vp9", "-c:v libvpx-vp9 -cpu-used 8 -deadline realtime", "webm"),
    ("vp9", "-c:v libvpx-vp9 -cpu-used 8 -deadline realtime", "mp4"),
    ("h264", "-c:v libx264 -preset ultrafast -bf 0", "mkv"),
    ("h264", "-c:v libx264 -preset ultrafast -bf 0", "mp4"),
    ("av1", "-c:v libaom-av1 -cpu-used 8 -usage realtime", "webm"),
    ("av1", "-c:v libaom-av1 -cpu-used 8 -usage realtime", "mp4"),
  ]) func `every frame is in the file at its time, with sound`(codec: String, encoder: String, container: String) throws
  {
    let cast = try PassedOn.all(of: folder.sample("sample.mkv", "\(Self.inputs) \(encoder)"))
    let log = RecordingLog()
    let path = "\(folder.path)/rec.\(container)"
    let recorder = try Recorder(path: path, hasAudio: true, report: log.note)
    cast.record(with: recorder)
    recorder.finish()

    #expect(log.events == [.started(path: path)])
    #expect(recorder.progress.pictures == 50)
    let played = try PlayedRecording(path)
    #expect(played.codecs == [codec, "opus"])
    #expect(played.complaints == [])
    #expect(played.sizes == Array(repeating: "160x90", count: 50))
    let origin = cast.pictures[0].captureTime
    expectTimes(played.pictureTimes, cast.pictures.map { ($0.captureTime - origin).seconds })
    expectTimes(played.soundTimes, cast.sounds.map { ($0.captureTime - origin).seconds }.filter { $0 >= 0 })
    #expect(try abs(#require(played.duration) - 2) < 0.1)
  }

  @Test func `sound that begins late and stops for a while stays at its time`() throws {
    let cast = try PassedOn.all(of: folder.sample("sample.mkv", "\(Self.inputs) -c:v libx264 -preset ultrafast -bf 0"))
    var gapped = cast
    let origin = cast.pictures[0].captureTime
    gapped.sounds = cast.sounds.filter {
      let time = ($0.captureTime - origin).seconds
      return time > 0.5 && !(1..<1.5).contains(time)
    }
    for container in ["mkv", "mp4"] {
      let path = "\(folder.path)/rec.\(container)"
      let recorder = try Recorder(path: path, hasAudio: true)
      gapped.record(with: recorder)
      recorder.finish()
      let played = try PlayedRecording(path)
      let expected = gapped.sounds.map { ($0.captureTime - origin).seconds }
      // An mp4 has silence in the holes, which stands between the others.
      let times = played.soundTimes.filter { time in expected.contains { abs($0 - time) < 0.0021 } }
      expectTimes(container == "mp4" ? times : played.soundTimes, expected)
      expectTimes(played.pictureTimes, cast.pictures.map { ($0.captureTime - origin).seconds })
    }
  }

  @Test func `frames before the first key frame are left out, and the file begins at zero`() throws {
    let cast = try PassedOn.all(
      of: folder.sample("sample.mkv", "\(Self.inputs) -c:v libvpx -deadline realtime -cpu-used 8"))
    var late = cast
    late.pictures.removeFirst(10)
    let first = try #require(late.pictures.firstIndex { $0.isKeyFrame })
    let path = "\(folder.path)/rec.webm"
    let recorder = try Recorder(path: path, hasAudio: true)
    late.record(with: recorder)
    recorder.finish()
    let played = try PlayedRecording(path)
    #expect(played.pictureTimes.count == late.pictures.count - first)
    #expect(played.pictureTimes.first == 0)
    #expect(played.soundTimes.allSatisfy { $0 >= 0 })
  }

  @Test func `a recording without a picture leaves no file`() throws {
    let path = "\(folder.path)/rec.webm"
    let recorder = try Recorder(path: path, hasAudio: true)
    #expect(FileManager.default.fileExists(atPath: path))
    recorder.finish()
    recorder.finish()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `a turned picture is turned in mp4`() throws {
    let sample = try folder.sample("sample.mkv", "\(Self.inputs) -c:v libx264 -preset ultrafast -bf 0")
    var cast = try PassedOn.all(of: sample)
    for index in cast.pictures.indices { cast.pictures[index].rotation = .clockwise90 }
    let path = "\(folder.path)/rec.mp4"
    let recorder = try Recorder(path: path, hasAudio: false)
    cast.record(with: recorder)
    recorder.finish()
    #expect(try PassedOn.all(of: path).pictures.allSatisfy { $0.rotation == .clockwise90 })
  }

  private func expectTimes(_ times: [Double], _ expected: [Double]) {
    #expect(times.count == expected.count)
    for (time, right) in zip(times, expected) where abs(time - right) > 0.0021 {
      Issue.record("\(time) s is not \(right) s")
      return
    }
  }
}
