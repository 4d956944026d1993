import Dispatch
import Glibc
import ProcessKit
import RTCCapture
import RTCMedia
import RTCPrimitives

/// A real pipe and the program at its other end, which writes on a thread of its own.
final class StreamWriter: Sendable {
  let reading: Int32
  private let writing: Int32
  private let queue = DispatchQueue(label: "writer")

  init() {
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [-1, -1]
    precondition(pipe(&ends) == 0)
    reading = ends[0]
    writing = ends[1]
  }

  deinit { close(reading) }

  /// Writes after whatever was asked for before.
  func write(_ bytes: [UInt8]) {
    queue.async { [writing] in StreamWriter.writeAll(bytes, to: writing) }
  }

  func end() {
    queue.async { [writing] in _ = close(writing) }
  }

  /// Waits until everything asked for was taken by the pipe.
  func drain() async {
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
  }

  /// Bytes that nobody has read.
  var unread: Int {
    var count: Int32 = 0
    return ioctl(reading, UInt(FIONREAD), &count) == 0 ? Int(count) : -1
  }

  static func writeAll(_ bytes: [UInt8], to descriptor: Int32) {
    var start = 0
    while start < bytes.count {
      let count = bytes[start...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      start += count
    }
  }
}

/// The standard output of ffmpeg.
func ffmpegOutput(_ arguments: String) throws -> [UInt8] {
  try TestProcess.run(["ffmpeg", "-nostdin", "-v", "error"] + arguments.split(separator: " ").map(String.init)).output
}

/// YUV4MPEG2 streams whose n-th picture is all of the shade n.
enum Y4MBytes {
  /// Ten a second: a test machine that stalls for less than a tenth of a second leaves no picture out.
  static func header(_ width: Int = 32, _ height: Int = 16, _ rest: String = "F10:1") -> [UInt8] {
    Array("YUV4MPEG2 W\(width) H\(height) \(rest)\n".utf8)
  }

  static func frame(_ shade: Int, width: Int = 32, height: Int = 16, parameters: String = "") -> [UInt8] {
    Array("FRAME\(parameters)\n".utf8) + picture(shade, width: width, height: height)
  }

  static func picture(_ shade: Int, width: Int = 32, height: Int = 16) -> [UInt8] {
    let chroma = (width + 1) / 2 * ((height + 1) / 2) * 2
    return [UInt8](repeating: UInt8(shade), count: width * height) + [UInt8](repeating: 128, count: chroma)
  }
}

extension VideoFrame {
  var shade: Int { Int(buffer.bytes(ofPlane: 0)[0]) }
}

func wanted(_ fps: Double = 240) -> VideoFormat {
  VideoFormat(size: PixelSize(width: 0, height: 0), frameRates: 0...fps, pixelFormat: .i420)
}
