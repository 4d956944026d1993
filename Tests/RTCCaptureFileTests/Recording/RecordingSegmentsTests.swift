import Foundation
import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Synchronization
import Testing

/// A recording in segments: files that begin with a key frame, of which the newest are kept.
@Suite struct RecordingSegmentsTests {
  private let folder: ScratchFolder
  init() throws { folder = try ScratchFolder() }

  /// Six seconds at 25 pictures per second, a key frame every half second, with sound.
  private func cast() throws -> PassedOn.Record {
    try PassedOn.all(
      of: folder.sample(
        "\(UUID().uuidString).mkv",
        "-f lavfi -i testsrc2=size=160x90:rate=25:duration=6 -f lavfi -i sine=duration=6:sample_rate=48000"
          + " -pix_fmt yuv420p -c:a libopus -c:v libvpx -deadline realtime -cpu-used 8 -g 12"))
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("rec") }.sorted()
  }

  private func record(
    _ cast: PassedOn.Record, _ segments: RecordingSegments, _ log: RecordingLog, container: String = "webm"
  ) throws {
    let recorder = try Recorder(
      path: "\(folder.path)/rec.\(container)", hasVideo: true, hasAudio: true, files: .direct, segments: segments,
      report: log.note)
    cast.record(with: recorder)
    recorder.finish()
  }

  @Test(arguments: ["webm", "mkv"]) func `each segment plays alone and no picture is missing`(container: String) throws
  {
    let cast = try cast()
    let log = RecordingLog()
    try record(cast, RecordingSegments(duration: .seconds(2)), log, container: container)
    let files = try names()
    #expect(files == (1...3).map { "rec-000\($0).\(container)" })
    var pictures = 0
    for file in files {
      let played = try PlayedRecording("\(folder.path)/\(file)")
      #expect(played.complaints == [])
      #expect(played.codecs.count == 2)
      #expect(played.sizes.count == played.pictureTimes.count)
      #expect(played.pictureTimes.first == 0)
      #expect(try #require(played.pictureTimes.last) < 2.6)
      #expect(!played.soundTimes.isEmpty)
      pictures += played.sizes.count
    }
    #expect(pictures == cast.pictures.count)
    let completed = log.events.compactMap {
      if case .segmentCompleted(let path, let bytes) = $0 { (path, bytes) } else { nil }
    }
    #expect(completed.map(\.0) == files.dropLast().map { "\(folder.path)/\($0)" })
    #expect(completed.allSatisfy { $0.1 > 1000 })
    #expect(log.events.filter { if case .started = $0 { true } else { false } }.count == 3)
  }

  @Test func `the newest segments are kept, and a later recording goes on after them`() throws {
    let cast = try cast()
    let segments = RecordingSegments(duration: .seconds(1), keep: 2)
    try record(cast, segments, RecordingLog())
    let first = try names()
    #expect(first.count == 2)
    let last = try #require(first.last)
    // Files of other names stay.
    for name in ["rec.webm", "rec-x.webm", "record-0001.webm"] {
      try Data([1]).write(to: URL(filePath: "\(folder.path)/\(name)"))
    }
    try record(cast, segments, RecordingLog())
    let second = try names().filter { $0.hasPrefix("rec-0") }
    #expect(second.count == 2)
    #expect(try #require(second.first) > last)
    #expect(try names().count == 5)
  }

  @Test func `a key frame is asked for when a segment is long enough`() throws {
    var cast = try cast()
    // Only the first picture is a key frame.
    cast.pictures = Array(cast.pictures.prefix { !$0.isKeyFrame || $0.captureTime == cast.pictures[0].captureTime })
    let asked = Mutex(0)
    let recorder = try Recorder(
      path: "\(folder.path)/rec.webm", hasVideo: true, hasAudio: false, files: .direct,
      segments: RecordingSegments(duration: .milliseconds(200)),
      onKeyFrameWanted: { asked.withLock { $0 += 1 } }, report: { _ in })
    cast.record(with: recorder)
    recorder.finish()
    #expect(cast.pictures.count > 6)
    #expect(asked.withLock { $0 } == 1)
    #expect(try names() == ["rec-0001.webm"])
  }

  @Test func `a picture at rest gets a segment of its own`() throws {
    let cast = try cast()
    let asked = DispatchSemaphore(value: 0)
    let recorder = try Recorder(
      path: "\(folder.path)/rec.webm", hasVideo: true, hasAudio: false, files: .direct,
      segments: RecordingSegments(duration: .milliseconds(1500)),
      onKeyFrameWanted: { asked.signal() }, report: { _ in })
    recorder.record(cast.pictures[0])
    // Nothing more comes, and still a key frame is asked for.
    #expect(asked.wait(timeout: .now() + 60) == .success)
    recorder.record(cast.pictures[0])
    recorder.finish()
    #expect(try names() == ["rec-0001.webm", "rec-0002.webm"])
  }

  @Test func `a folder that is gone ends the recording and is said once`() throws {
    let log = RecordingLog()
    let gone = "\(folder.path)/gone"
    try FileManager.default.createDirectory(atPath: gone, withIntermediateDirectories: false)
    let cast = try cast()
    let recorder = try Recorder(
      path: "\(gone)/rec.webm", hasVideo: true, hasAudio: true, files: .direct,
      segments: RecordingSegments(duration: .seconds(2)),
      report: log.note)
    try FileManager.default.removeItem(atPath: gone)
    cast.record(with: recorder)
    recorder.finish()
    #expect(log.failures == ["The recording ends: There is no folder \(gone) to record into; create it first."])
  }
}
