import Glibc
import RTCPrimitives

/// The processor time of this process.
enum ProcessorTime {
  /// The processor time of all threads of this process since it began.
  static func now() -> TimeDelta {
    // CLOCKS_PER_SEC is a million by POSIX.
    .microseconds(Int64(clock()))
  }
}
