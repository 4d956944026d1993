import Glibc
import ProcessKit
import RTCPrimitives
import Testing

/// A file made by the `ffmpeg` program for one test, in a folder of its own that goes with the object.
final class Clip: Sendable {
  struct Failure: Error { var command: String }

  /// Pictures that differ from each other in many places, with a running number in them.
  static let pictures = "testsrc=size=160x120:rate=25"
  static let sine = "sine=frequency=440:sample_rate=48000"

  let path: String
  private let folder: String

  /// - Parameters:
  ///   - name: the file's name, whose ending tells ffmpeg the container.
  ///   - arguments: the arguments of ffmpeg, inputs and coding; the output's name follows them. `$DIR` is the clip's
  ///     folder.
  init(_ name: String, _ arguments: String...) throws {
    folder = try Self.makeFolder()
    path = folder + "/" + name
    let last = arguments.count - 1
    for (index, argument) in arguments.enumerated() {
      let text = argument.replacing("$DIR", with: folder)
      // All but the last name their own outputs.
      try Shell.run("ffmpeg -v error -nostdin -y \(text) \(index == last ? "'\(path)'" : "")")
    }
  }

  /// A file of the given bytes, such as the changed bytes of another clip.
  init(_ name: String, bytes: [UInt8]) throws {
    folder = try Self.makeFolder()
    path = folder + "/" + name
    write(bytes)
  }

  deinit { _ = try? Shell.run("rm -rf '\(folder)'") }

  var bytes: [UInt8] {
    guard let file = fopen(path, "rb") else { return [] }
    defer { fclose(file) }
    fseek(file, 0, SEEK_END)
    let count = ftell(file)
    rewind(file)
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
      used = fread(buffer.baseAddress, 1, count, file)
    }
  }

  func write(_ bytes: [UInt8]) {
    guard let file = fopen(path, "wb") else { return }
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
  }

  /// The pictures as the ffmpeg program reports them: the time at which each is shown and the Adler-32 sum of its I420
  /// bytes.
  func pictures(_ options: String = "", format: String = "yuv420p") throws -> [(time: TimeDelta, sum: UInt32)] {
    let text = try Shell.run(
      "ffmpeg -v error -nostdin -noautorotate -i '\(path)' \(options) -map 0:v:0 -fps_mode passthrough "
        + "-enc_time_base 1:1000000 -c:v rawvideo -pix_fmt \(format) -f framecrc -")
    return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
      let fields = line.split(separator: ",").map { $0.trimmed }
      return (.microseconds(Int64(fields[2]) ?? -1), UInt32(fields[5].dropFirst(2), radix: 16) ?? 0)
    }
  }

  /// The number of samples of each channel that the ffmpeg program decodes from the sound.
  func sampleCount(channels: Int) throws -> Int {
    let text = try Shell.run("ffmpeg -v error -nostdin -i '\(path)' -map 0:a:0 -f s16le -ac \(channels) - | wc -c")
    return (Int(text.split(separator: "\n").first?.trimmed ?? "") ?? 0) / 2 / channels
  }

  private static func makeFolder() throws -> String {
    var template = Array("/tmp/rtcast-clip-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure(command: "mkdtemp") }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

extension Substring {
  var trimmed: String { String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
}

enum Shell {
  /// Runs a command to its end and returns its output.
  @discardableResult
  static func run(_ command: String) throws -> String {
    try TestProcess.shell(command, errors: .discarded).text
  }
}

/// The sum that ffmpeg's `framecrc` prints: Adler-32 with a start of 0.
struct Adler32 {
  private var a: UInt32 = 0
  private var b: UInt32 = 0
  var value: UInt32 { b << 16 | a }

  mutating func add(_ byte: UInt8) {
    a = (a + UInt32(byte)) % 65521
    b = (b + a) % 65521
  }
}
