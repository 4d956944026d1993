import Glibc
import RTCPrimitives

/// The processor time of this process.
enum ProcessorTime {
  /// What all its threads have spent since it began.
  static func now() -> TimeDelta {
    // CLOCKS_PER_SEC is a million by POSIX.
    .microseconds(Int64(clock()))
  }
}
