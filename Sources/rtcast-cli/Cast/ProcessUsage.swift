import Glibc
import RTCNet
import RTCPrimitives

/// The processor time and memory of this process.
struct ProcessUsage {
  struct Reading: Sendable {
    /// Since the reading before, in percent of one core.
    var cpuPercent: Double
    var residentBytes: Int64
  }

  private var before = (time: MonotonicClock.now(), cpu: Self.cpuTime)

  mutating func read() -> Reading {
    let now = (time: MonotonicClock.now(), cpu: Self.cpuTime)
    let wall = now.time - before.time
    let cpu = now.cpu - before.cpu
    before = now
    return Reading(
      cpuPercent: wall.nanoseconds > 0 ? 100 * cpu.seconds / wall.seconds : 0, residentBytes: Self.residentBytes)
  }

  private static var cpuTime: TimeDelta {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func time(_ value: timeval) -> TimeDelta { .microseconds(Int64(value.tv_sec) * 1_000_000 + Int64(value.tv_usec)) }
    return time(usage.ru_utime) + time(usage.ru_stime)
  }

  /// The second number of /proc/self/statm, in pages.
  private static var residentBytes: Int64 {
    guard let pages = ProcFile.text("/proc/self/statm")?.split(separator: " ").dropFirst().first.flatMap({ Int64($0) })
    else { return 0 }
    return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
  }
}

/// Small files that the kernel makes up.
enum ProcFile {
  /// The first 4 KiB.
  static func text(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
      count = max(0, read(file, buffer.baseAddress, buffer.count))
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
