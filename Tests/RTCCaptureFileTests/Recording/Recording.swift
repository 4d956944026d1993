import Foundation
import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Synchronization
import Testing

/// The events of a recorder, in order.
final class RecordingLog: Sendable {
  private let entries = Mutex<[RecordingEvent]>([])
  var events: [RecordingEvent] { entries.withLock { $0 } }
  var failures: [String] {
    events.compactMap { if case .failed(let sentence) = $0 { sentence } else { nil } }
  }

  func note(_ event: RecordingEvent) { entries.withLock { $0.append(event) } }
}

extension PassedOn.Record {
  /// Delivers all frames to `recorder` as a cast would: both tracks in the order of capture.
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

/// The report of `ffprobe` on a recording, all of it decoded.
struct PlayedRecording {
  var codecs: [String] = []
  /// The times of the packets of pictures, and below of sound, in seconds.
  var pictureTimes: [Double] = []
  var soundTimes: [Double] = []
  /// The sizes of the decoded pictures.
  var sizes: [String] = []
  /// The duration in seconds.
  var duration: Double?
  /// The errors that the demuxer and the decoders reported.
  var complaints: [String] = []

  init(_ path: String) throws {
    let entries = "stream=codec_name:packet=codec_type,pts_time:frame=media_type,width,height:format=duration"
    let text = try runProgram(
      "ffprobe -v warning -show_packets -show_frames -show_entries \(entries) -of compact \(path)")
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: "|").map(String.init)
      switch fields.first {
      case "packet": notePacket(fields)
      case "frame": if Self.value("media_type", fields) == "video" { noteFrame(fields) }
      case "stream": codecs.append(Self.value("codec_name", fields) ?? "")
      case "format": duration = Self.value("duration", fields).flatMap(Double.init)
      default: complaints.append(String(line))
      }
    }
  }

  private mutating func notePacket(_ fields: [String]) {
    guard let time = Self.value("pts_time", fields).flatMap(Double.init) else { return }
    if Self.value("codec_type", fields) == "video" { pictureTimes.append(time) } else { soundTimes.append(time) }
  }

  private mutating func noteFrame(_ fields: [String]) {
    sizes.append("\(Self.value("width", fields) ?? "?")x\(Self.value("height", fields) ?? "?")")
  }

  private static func value(_ name: String, _ fields: [String]) -> String? {
    fields.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
  }
}
