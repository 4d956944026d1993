import CLinux
import Glibc
import RTCMedia

/// A decoder that does something else with its third picture: crashes, hangs, or tries what a decoder may not do.
final class OddDecoder: VideoDecoder {
  private let decoder: any VideoDecoder
  private let how: String
  private var count = 0

  init(_ decoder: any VideoDecoder, _ how: String) { (self.decoder, self.how) = (decoder, how) }

  var codec: VideoCodec { decoder.codec }
  var colorSpace: ColorSpace? { decoder.colorSpace }

  func decode(_ data: [UInt8]) throws(VideoDecoderError) -> PixelBuffer? {
    count += 1
    // In the middle of a picture: what is made of it is not passed on.
    let picture = try decoder.decode(data)
    guard count == 3 else { return picture }
    switch how {
    case "crash": raise(SIGSEGV)
    case "overwrite": UnsafeMutablePointer<Int>(bitPattern: 8)!.pointee = 1
    case "hang": while true { sched_yield() }
    case "leave": exit(3)
    case "try": throw .library(status: Self.successes)
    default: break
    }
    return picture
  }

  /// A bit for each attempt that did not fail with EPERM.
  static var successes: Int {
    var result = 0
    var next = 1
    func note(_ status: Int) {
      if status >= 0 || errno != EPERM { result |= next }
      next <<= 1
    }
    note(Int(open("/etc/passwd", O_RDONLY)))
    note(Int(open("/tmp/rtcast-escape", O_WRONLY | O_CREAT, 0o600)))
    note(Int(unlink("/tmp/rtcast-escape")))
    note(Int(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)))
    note(Int(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)))
    var ends: [Int32] = [-1, -1]
    note(Int(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    note(
      Int(
        withUnsafePointer(to: &address) { address in
          address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(3, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
          }
        }))
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/true"), nil]
    note(Int(execve("/bin/true", &arguments, nil)))
    note(Int(clinux_rights_left()) == 0 ? -1 : 0)
    note(Int(kill(getppid(), 0)))
    var target: [CChar] = [0, 0]
    note(readlink("/proc/self/exe", &target, 1))
    note(Int(chdir("/tmp")))
    // The environment is gone.
    if environment != 0 { result |= 1 << 40 }
    return result
  }

  private static var environment: Int {
    var count = 0
    guard var place = clinux_environment() else { return 0 }
    while place.pointee != nil {
      count += 1
      place += 1
    }
    return count
  }
}

/// An audio decoder with such faults.
final class OddAudioDecoder: AudioDecoder {
  private let decoder: any AudioDecoder
  private let how: String
  private var count = 0

  init(_ decoder: any AudioDecoder, _ how: String) { (self.decoder, self.how) = (decoder, how) }

  var channels: Int { decoder.channels }

  func decode(_ packet: [UInt8]) throws(AudioDecoderError) -> [Float] {
    count += 1
    guard count == 3 else { return try decoder.decode(packet) }
    switch how {
    case "crash": raise(SIGSEGV)
    case "hang": while true { sched_yield() }
    case "long": return [Float](repeating: 2, count: 16_000)
    default: break
    }
    return try decoder.decode(packet)
  }

  func recover(sampleCount: Int, from next: [UInt8]) throws(AudioDecoderError) -> [Float] {
    try decoder.recover(sampleCount: sampleCount, from: next)
  }

  func conceal(sampleCount: Int) throws(AudioDecoderError) -> [Float] { try decoder.conceal(sampleCount: sampleCount) }
}

/// A process that says it decodes, and lies about everything.
struct DecoderLies {
  private let how: String
  private let ready: [UInt8] = [48] + number(0) + number(0)

  init(_ how: String) { self.how = how }

  /// A picture of 64x48 in I420 in a slot, whose first plane starts at `offset`.
  private func picture(
    slot: UInt8 = 0, width: Int = 64, height: Int = 48, offset: Int = 0, stride: Int = 64
  ) -> [UInt8] {
    [5, 1, slot, 1] + number(width) + number(height) + number(offset) + number(stride) + number(64 * 48) + number(32)
      + number(64 * 60) + number(32) + number(0) + number(0) + [0, 0] + number(-1)
  }

  private func receive() -> Bool {
    var message = [UInt8](repeating: 0, count: 100_000)
    return recv(connection, &message, message.count, 0) > 0
  }

  func tell() {
    guard receive() else { return }
    if how == "lie-early" { say(picture()) }
    say(ready)
    guard receive() else { return }
    let length = 64 * 48 * 3 / 2
    switch how {
    case "lie-unsealed":
      let file = open("/tmp", O_RDWR | O_CLOEXEC | 0o20200000, 0o600)
      ftruncate(file, off_t(length))
      say([4, 0], with: file)
      say(picture())
    case "lie-without-memory": say(picture())
    case "lie-without-descriptor": say([4, 0])
    case "lie-huge":
      say([4, 0], with: clinux_sealed_memory("probe", 512 << 20))
      say(picture())
    case "lie-slot": say([4, 48], with: clinux_sealed_memory("probe", length))
    case "lie-outside":
      say([4, 0], with: clinux_sealed_memory("probe", length))
      say(picture(offset: Int.max - 10))
    case "lie-beyond-the-end":
      say([4, 0], with: clinux_sealed_memory("probe", length))
      say(picture(stride: 65 * 48))
    case "lie-size":
      say([4, 0], with: clinux_sealed_memory("probe", length))
      say(picture(width: 0))
    case "lie-over-8K":
      // It fits the memory, which is not too large.
      say([4, 0], with: clinux_sealed_memory("probe", 180 << 20))
      say(
        [5, 1, 0, 1] + number(12_000) + number(10_000) + number(0) + number(12_000) + number(120_000_000)
          + number(6_000)
          + number(150_000_000) + number(6_000) + number(0) + number(0) + [0, 0] + number(-1))
    case "lie-flood": while clinux_send_descriptor(connection, [4, 1], 2, memory, 0) == 0 {}
    case "lie-ready-again": say(ready)
    case "lie-cut-short": say(Array(picture().prefix(30)))
    case "lie-long": say([UInt8](repeating: 5, count: 98_500))
    default: say([250, 1, 2, 3])
    }
    // Nothing more: the other side decides.
    _ = receive()
  }

  private let memory = clinux_sealed_memory("probe", 4_096)
}
