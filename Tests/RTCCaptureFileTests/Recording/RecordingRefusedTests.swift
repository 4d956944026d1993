import Foundation
import RTCCaptureFile
import RTCMedia
import Testing

/// Recordings that cannot begin say why, and touch nothing.
@Suite struct RecordingRefusedTests {
  private let folder: ScratchFolder
  init() throws { folder = try ScratchFolder() }

  private func refusal(_ path: String, _ codec: VideoCodec? = nil) -> RecordingError? {
    do {
      _ = try Recorder(path: path, codec: codec, hasAudio: true)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: ["rec.avi", "rec", "mp4", ".mp4/rec", "rec.mp4.part", ""])
  func `a name that says no container we write is refused`(name: String) {
    guard case .unknownContainer(let sentence) = refusal("\(folder.path)/\(name)") else {
      Issue.record("\(name) was taken")
      return
    }
    #expect(sentence.hasSuffix("recordings are written as .mkv, .webm or .mp4; end the name with one of these."))
  }

  @Test func `a folder that is not there is named`() {
    let missing = "\(folder.path)/none"
    #expect(
      refusal("\(missing)/rec.webm") == .noSuchFolder("There is no folder \(missing) to record into; create it first."))
  }

  @Test func `a codec that the container cannot hold is refused with what can`() {
    let path = "\(folder.path)/rec.mp4"
    #expect(
      refusal(path, .vp8)
        == .unsupportedCodec("\(path): an mp4 file cannot hold VP8; name the recording .mkv or .webm."))
    guard case .unsupportedCodec = refusal("\(folder.path)/rec.webm", .h264) else {
      Issue.record("webm took H.264")
      return
    }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `a file that holds something is left as it is`() throws {
    let path = "\(folder.path)/rec.webm"
    try Data([1, 2, 3]).write(to: URL(filePath: path))
    #expect(
      refusal(path) == .alreadyExists("\(path) exists already and is left as it is; name another file, or remove it."))
    #expect(try Data(contentsOf: URL(filePath: path)) == Data([1, 2, 3]))
  }

  @Test func `a folder is no file`() throws {
    let path = "\(folder.path)/rec.webm"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    #expect(refusal(path) == .unavailable("\(path) is a folder; name a file in it to record into."))
  }

  @Test func `a codec that is known only with the first frame ends the recording with a sentence`() throws {
    let cast = try PassedOn.all(
      of: folder.sample("a.webm", "-f lavfi -i testsrc=size=320x180:rate=25 -frames:v 30 -c:v libvpx"))
    let log = RecordingLog()
    let path = "\(folder.path)/rec.mp4"
    let recorder = try Recorder(path: path, hasAudio: false, report: log.note)
    cast.record(with: recorder)
    recorder.finish()
    #expect(
      log.events == [
        .failed(
          sentence: "The recording ends: \(path): an mp4 file cannot hold VP8; name the recording .mkv or .webm.")
      ])
    #expect(!FileManager.default.fileExists(atPath: path))
  }
}
