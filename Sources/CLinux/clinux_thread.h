#pragma once

#include <stdint.h>
#include <sys/prctl.h>
#include <time.h>

/// Names the calling thread; the kernel keeps the first 15 bytes.
static inline void clinux_thread_set_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

/// How much later than asked the kernel may end the calling thread's timed waits (the default is 50 microseconds).
static inline void clinux_thread_set_timer_slack(unsigned long nanoseconds) {
  prctl(PR_SET_TIMERSLACK, nanoseconds, 0, 0, 0);
}

static inline int64_t clinux_clock_nanoseconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline int64_t clinux_monotonic_nanoseconds(void) { return clinux_clock_nanoseconds(CLOCK_MONOTONIC); }
static inline int64_t clinux_realtime_nanoseconds(void) { return clinux_clock_nanoseconds(CLOCK_REALTIME); }
static inline int64_t clinux_thread_nanoseconds(void) { return clinux_clock_nanoseconds(CLOCK_THREAD_CPUTIME_ID); }
static inline int64_t clinux_boottime_nanoseconds(void) { return clinux_clock_nanoseconds(CLOCK_BOOTTIME); }
