import CLinux
import Glibc
import RTCCaptureFile
import RTCIsolation

/// The process that reads a file: a true one that does something else when it decodes a certain packet, or one that lies.
struct OddFile {
  private let how: String
  /// The packet of pictures, from 1, at which it happens.
  private let packet: Int

  /// - Parameter text: `crash-20`, `lie-outside` …
  init(_ text: String) {
    let parts = text.split(separator: "-", maxSplits: 1)
    packet = parts.count == 2 ? Int(parts[1]) ?? 0 : 0
    how = packet > 0 ? String(parts[0]) : text
  }

  func run() -> Int32 {
    if how == "crash-open" {
      say(FileAnswer.ready(Confinement(error: 0, rightsLeft: [])).bytes)
      _ = receive()
      // Not to Swift's handler, which prints a trace first.
      signal(SIGSEGV, SIG_DFL)
      raise(SIGSEGV)
    }
    if how.hasPrefix("lie-") {
      tell()
      return 0
    }
    return FileHost.run { [how, packet] current in
      guard current == packet else { return }
      switch how {
      case "crash": raise(SIGSEGV)
      case "hang": while true { sched_yield() }
      case "try": exit(OddDecoder.successes == 0 ? 42 : 43)
      default: break
      }
    } ?? 64
  }

  private func receive() -> Bool {
    var message = [UInt8](repeating: 0, count: 100_000)
    return recv(connection, &message, message.count, 0) > 0
  }

  // MARK: - Lies

  private func text(_ text: String) -> [UInt8] { number(text.utf8.count) + Array(text.utf8) }
  private func optional(_ value: Int?) -> [UInt8] { [value == nil ? 0 : 1] + number(value ?? 0) }

  /// A file of one stream of pictures of 64x48.
  private func contents(width: Int = 64, rate: Double = 25) -> [UInt8] {
    let sizes = [0, 0, width, 48, 64, 48, 0, 0, 0, 0].flatMap { number($0) }
    let stream =
      text("lie") + number(0) + sizes + [0, 0] + number(40_000_000) + number(Int(bitPattern: UInt(rate.bitPattern)))
      + [1]
    return [97] + text("lie") + optional(1_000_000_000) + [0, 1] + stream + [0] + number(0) + optional(0)
  }

  private func head(pts: Int = 0, duration: Int = 0, count: Int = 10, hasBytes: Bool = false) -> [UInt8] {
    [102] + number(1) + [1, 1] + optional(pts) + optional(0) + number(duration) + number(0) + optional(nil)
      + number(count) + [hasBytes ? 1 : 0, 0] + number(0) + optional(nil)
  }

  /// A picture of 64x48 in I420 in a slot, whose first plane starts at `offset`.
  private func picture(slot: UInt8 = 0, width: Int = 64, offset: Int = 0, time: Int = 0, duration: Int = 0) -> [UInt8] {
    [5] + number(duration) + [slot, 1] + number(width) + number(48) + number(offset)
      + number(64) + number(64 * 48) + number(32) + number(64 * 60) + number(32)
      + number(time) + number(0) + [0, 0] + number(-1)
  }

  private func tell() {
    if how == "lie-early" { say(head()) }
    if how == "lie-greedy" { say(FileAnswer.bytesWanted(offset: 0, count: 1 << 40).bytes) }
    if how == "lie-before" { say([100] + number(-1) + number(10)) }
    say(FileAnswer.ready(Confinement(error: 0, rightsLeft: [])).bytes)
    guard receive() else { return }
    if how == "lie-asks" { while ask() {} }
    if how == "lie-contents" { say(Array(contents().dropLast(9))) }
    if how == "lie-fault" { say([98, 99]) }
    if how == "lie-flat" { say(contents(width: 0)) }
    if how == "lie-rate" { say(contents(rate: 1e-300)) }
    say(contents())
    guard receive() else { return }
    say([99, 1, 1])
    guard receive() else { return }
    lieOfPackets()
    say(head())
    say(FileAnswer.packetsEnd.bytes)
    guard receive() else { return }
    lieOfPictures()
    // Nothing more: the other side decides.
    _ = receive()
  }

  private func ask() -> Bool {
    guard clinux_send_descriptor(connection, FileAnswer.sizeWanted.bytes, 1, -1, 0) == 0 else { return false }
    return receive()
  }

  private func lieOfPackets() {
    switch how {
    case "lie-time": say(head(pts: .max))
    case "lie-duration": say(head(duration: -1))
    case "lie-size": say(head(count: 1 << 40))
    case "lie-none": say(FileAnswer.packetsEnd.bytes)
    case "lie-parts":
      say(head(hasBytes: true))
      say([FileAnswer.partKind] + [UInt8](repeating: 7, count: 11))
    case "lie-many": for _ in 0..<100 { say(head()) }
    case "lie-moved": say(FileAnswer.moved(true).bytes)
    case "lie-nonsense": say([250, 1, 2, 3])
    default: break
    }
  }

  private func lieOfPictures() {
    let length = 64 * 48 * 3 / 2
    let sealed = clinux_sealed_memory("probe", length)
    switch how {
    case "lie-without-memory": say(picture())
    case "lie-without-descriptor": say([4, 0])
    case "lie-unsealed":
      let plain = open("/tmp", O_RDWR | O_CLOEXEC | 0o20200000, 0o600)
      ftruncate(plain, off_t(length))
      say([4, 0], with: plain)
    case "lie-huge": say([4, 0], with: clinux_sealed_memory("probe", 512 << 20))
    case "lie-slot": say([4, 48], with: sealed)
    case "lie-outside":
      say([4, 0], with: sealed)
      say(picture(offset: Int.max - 10))
    case "lie-wide":
      say([4, 0], with: sealed)
      say(picture(width: 65_536))
    case "lie-picture-time":
      say([4, 0], with: sealed)
      say(picture(time: Int.max))
    case "lie-picture-duration":
      say([4, 0], with: sealed)
      say(picture(duration: -1))
    case "lie-count": say([108] + number(-1) + [0] + number(0) + number(0))
    case "lie-sound": say(FileAnswer.soundEnd.bytes)
    case "lie-flood": while clinux_send_descriptor(connection, [4, 1], 2, sealed, 0) == 0 {}
    default: break
    }
  }
}
