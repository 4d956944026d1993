import Foundation
import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Synchronization
import Testing

/// What a recorder said, in order.
final class RecordingLog: Sendable {
  private let entries = Mutex<[RecordingEvent]>([])
  var events: [RecordingEvent] { entries.withLock { $0 } }
  var failures: [String] {
    events.compactMap { if case .failed(let sentence) = $0 { sentence } else { nil } }
  }

  func note(_ event: RecordingEvent) { entries.withLock { $0.append(event) } }
}

extension PassedOn.Record {
  /// Hands everything to `recorder` as a cast would: both tracks in the order of capture.
  func record(with recorder: Recorder) {
    var sounds = sounds[...]
    for picture in pictures {
      while let sound = sounds.first, sound.captureTime <= picture.captureTime {
        recorder.record(sound)
        sounds.removeFirst()
      }
      recorder.record(picture)
    }
    for sound in sounds { recorder.record(sound) }
  }
}

/// What `ffprobe` and `ffmpeg` say of a recording.
struct PlayedRecording {
  var codecs: [String] = []
  /// Seconds, of the packets of pictures.
  var pictureTimes: [Double] = []
  var soundTimes: [Double] = []
  /// Pictures that ffmpeg decodes, with how large they are.
  var sizes: [String] = []
  /// What the decoders complained of.
  var complaints = ""

  init(_ path: String) throws {
    codecs = try Self.lines("-show_entries stream=codec_name -of csv=p=0 \(path)")
    pictureTimes = try Self.lines("-select_streams v -show_entries packet=pts_time -of csv=p=0 \(path)").compactMap(
      Self.number)
    soundTimes = try Self.lines("-select_streams a -show_entries packet=pts_time -of csv=p=0 \(path)").compactMap(
      Self.number)
    sizes = try Self.lines("-select_streams v -show_entries frame=width,height -of csv=p=0:s=x \(path)")
    complaints = try runProgram("ffmpeg -v warning -nostdin -i \(path) -f null -")
  }

  static func number(_ text: String) -> Double? { Double(text.filter { $0 != "," }) }

  static func lines(_ arguments: String) throws -> [String] {
    try runProgram("ffprobe -v error \(arguments)").split(separator: "\n").map(String.init).filter { !$0.isEmpty }
  }

  static func duration(of path: String) throws -> Double? {
    try lines("-show_entries format=duration -of csv=p=0 \(path)").first.flatMap(number)
  }
}
