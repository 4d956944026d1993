import Foundation
import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Testing

/// The source is replaced while it is recorded.
@Suite struct RecordingChangesTests {
  private let folder: ScratchFolder
  init() throws { folder = try ScratchFolder() }

  private func cast(_ size: String, _ encoder: String, after: TimeDelta = .zero) throws -> PassedOn.Record {
    let file = try folder.sample(
      "\(UUID().uuidString).mkv", "-f lavfi -i testsrc=size=\(size):rate=25 -frames:v 25 -pix_fmt yuv420p \(encoder)")
    var record = try PassedOn.all(of: file)
    for index in record.pictures.indices { record.pictures[index].captureTime += after }
    return record
  }

  @Test(arguments: ["mkv", "webm"]) func `VP8 may change its size within a file`(container: String) throws {
    let log = RecordingLog()
    let path = "\(folder.path)/rec.\(container)"
    let recorder = try Recorder(path: path, codec: .vp8, hasAudio: false, report: log.note)
    try cast("160x90", "-c:v libvpx -deadline realtime -cpu-used 8").record(with: recorder)
    try cast("96x64", "-c:v libvpx -deadline realtime -cpu-used 8", after: .seconds(2)).record(with: recorder)
    recorder.finish()
    #expect(log.events == [.started(path: path)])
    let sizes = try PlayedRecording(path).sizes
    #expect(sizes == Array(repeating: "160x90", count: 25) + Array(repeating: "96x64", count: 25))
  }

  @Test(arguments: [
    ("mp4", "-c:v libx264 -preset ultrafast", "96x64"), ("mkv", "-c:v libx264 -preset ultrafast", "160x90"),
  ]) func `what the file cannot follow goes on in another`(container: String, encoder: String, size: String) throws {
    let log = RecordingLog()
    let path = "\(folder.path)/rec.\(container)"
    let second = "\(folder.path)/rec-3.\(container)"
    // The second name is taken already.
    try Data([1]).write(to: URL(filePath: "\(folder.path)/rec-2.\(container)"))
    let recorder = try Recorder(path: path, hasAudio: false, report: log.note)
    try cast("160x90", container == "mp4" ? encoder : "-c:v libvpx -deadline realtime -cpu-used 8").record(
      with: recorder)
    try cast(size, encoder, after: .seconds(2)).record(with: recorder)
    recorder.finish()
    #expect(
      log.events == [
        .started(path: path),
        .continued(
          path: second,
          sentence: "The pictures are H264 of \(size) now, which \(path) cannot follow; the recording goes on in "
            + "\(second)."),
      ])
    for (file, size) in [(path, "160x90"), (second, size)] {
      let played = try PlayedRecording(file)
      #expect(played.sizes == Array(repeating: size, count: 25))
      #expect(played.pictureTimes.first == 0)
      #expect(played.complaints == [])
    }
  }

  @Test func `frames of another rendition wait for their key frame`() throws {
    let path = "\(folder.path)/rec.webm"
    let recorder = try Recorder(path: path, hasAudio: false)
    let first = try cast("160x90", "-c:v libvpx -deadline realtime -cpu-used 8")
    var other = try cast("160x90", "-c:v libvpx -deadline realtime -cpu-used 8 -g 10", after: .seconds(2))
    for index in other.pictures.indices { other.pictures[index].rendition = Rendition(1) }
    other.pictures.removeFirst(5)
    let missed = try #require(other.pictures.firstIndex { $0.isKeyFrame })
    first.record(with: recorder)
    other.record(with: recorder)
    recorder.finish()
    #expect(try PlayedRecording(path).sizes.count == 25 + 20 - missed)
  }
}
