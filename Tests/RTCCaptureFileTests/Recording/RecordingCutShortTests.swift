import Foundation
import Glibc
import RTCCaptureFile
import RTCMedia
import Testing

/// A recording stays playable up to its last flush when the program is killed, and when the disk is full.
@Suite(.timeLimit(.minutes(2))) struct RecordingCutShortTests {
  private let folder: ScratchFolder
  init() throws { folder = try ScratchFolder() }

  private static let inputs =
    "-f lavfi -i testsrc2=size=160x90:rate=25:duration=6 -f lavfi -i sine=duration=6:sample_rate=48000"
    + " -pix_fmt yuv420p -c:a libopus -g 50"

  @Test(arguments: [
    ("mkv", "-c:v libvpx -deadline realtime -cpu-used 8"), ("webm", "-c:v libvpx -deadline realtime -cpu-used 8"),
    ("mp4", "-c:v libx264 -preset ultrafast"),
  ]) func `a recording whose program is killed plays up to then`(container: String, encoder: String) async throws {
    let sample = try folder.sample("sample.mkv", "\(Self.inputs) \(encoder)")
    let path = "\(folder.path)/rec.\(container)"
    await #expect(processExitsWith: .signal(SIGKILL)) { [sample = sample as String, path = path as String] in
      alarm(100)  // ends what would wait for ever
      let cast = try PassedOn.all(of: sample)
      let recorder = try Recorder(path: path, hasAudio: true)
      cast.record(with: recorder)
      while recorder.progress.safeNanoseconds < 5_000_000_000 { sched_yield() }
      kill(getpid(), SIGKILL)
    }
    let played = try PlayedRecording(path)
    #expect(played.codecs.count == 2)
    #expect(played.pictureTimes.count >= 124)
    #expect(played.sizes.count >= 124)
    #expect(try #require(played.soundTimes.last) > 4.9)
  }

  @Test func `a full disk ends the recording, is told once, and what is whole plays`() async throws {
    let sample = try folder.sample("sample.mkv", "\(Self.inputs) -c:v libvpx -deadline realtime -cpu-used 8 -b:v 1M")
    let path = "\(folder.path)/rec.webm"
    // The limit holds for a whole process, so this is one of its own.
    await #expect(processExitsWith: .success) { [sample = sample as String, path = path as String] in
      alarm(100)  // ends what would wait for ever
      let cast = try PassedOn.all(of: sample)
      var limit = rlimit(rlim_cur: 200_000, rlim_max: 200_000)
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      let log = RecordingLog()
      let recorder = try Recorder(path: path, hasAudio: true, report: log.note)
      // In parts, as a cast goes, so that whole clusters are there when it happens.
      for start in stride(from: 0, to: cast.pictures.count, by: 25) {
        for picture in cast.pictures[start..<min(start + 25, cast.pictures.count)] { recorder.record(picture) }
        let due = Int64(start) * 40_000_000
        while log.failures.isEmpty, recorder.progress.safeNanoseconds < due { sched_yield() }
      }
      recorder.finish()
      precondition(log.failures.count == 1)
      precondition(log.failures[0].contains("\(path) has reached the largest size that is allowed here"))
      precondition(recorder.progress.safeBytes > 20_000)
    }
    let played = try PlayedRecording(path)
    #expect(played.complaints == [])
    #expect(played.sizes.count > 20)
  }

  @Test(.enabled(if: geteuid() == 0, "only root makes devices")) func `a device without room is told as a full disk`()
    throws
  {
    let cast = try PassedOn.all(
      of: folder.sample("sample.webm", "-f lavfi -i testsrc=size=320x180:rate=25 -frames:v 60 -c:v libvpx"))
    let path = "\(folder.path)/rec.webm"
    // /dev/full is the seventh device of memory.
    try #require(mknod(path, S_IFCHR | 0o600, 0x107) == 0)
    let log = RecordingLog()
    let recorder = try Recorder(path: path, hasAudio: false, report: log.note)
    for _ in 0..<20 { cast.record(with: recorder) }
    recorder.finish()
    #expect(
      log.failures == ["The recording ends, for the disk is full; nothing of it is kept. The cast goes on."])
    recorder.record(cast.pictures[0])
  }
}
