import CLinux
public import RTCPrimitives

/// The clock of the media plane: `CLOCK_MONOTONIC`, which never jumps. Any thread.
public enum MonotonicClock {
  /// The present moment, counted from about the machine's start; time asleep is left out.
  public static func now() -> Timestamp { Timestamp(nanoseconds: clinux_monotonic_nanoseconds()) }
}

/// The time of day (`CLOCK_REALTIME`), which may jump: only for what peers compare with their own clocks,
/// such as the NTP time of RTCP sender reports (RFC 3550 §6.4.1). Any thread.
package enum WallClock {
  /// Nanoseconds since 1970-01-01 00:00 UTC.
  package static func now() -> Int64 { clinux_realtime_nanoseconds() }
}

/// The processor time of the calling thread (`CLOCK_THREAD_CPUTIME_ID`): it stands still while other threads run. Reading it is
/// a system call, unlike reading `MonotonicClock`.
package enum ThreadClock {
  /// The processor time that the calling thread has used since it began.
  package static func now() -> TimeDelta { .nanoseconds(clinux_thread_nanoseconds()) }
}

/// The clock that continues while the machine sleeps (`CLOCK_BOOTTIME`). Any thread.
package enum BootClock {
  /// The present moment; as far from `MonotonicClock`'s as the machine has slept since it was started.
  package static func now() -> Timestamp { Timestamp(nanoseconds: clinux_boottime_nanoseconds()) }
}
