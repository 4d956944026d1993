#pragma once

#include <errno.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

enum { clinux_poll_capacity = 16 };

static inline int clinux_epoll_create(void) {
  int fd = epoll_create1(EPOLL_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

/// Level-triggered interest in `fd` becoming readable, reported as `token` (0...63).
static inline int clinux_epoll_add(int epoll, int fd, uint32_t token) {
  struct epoll_event event = {.events = EPOLLIN, .data = {.u32 = token}};
  return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static inline int clinux_epoll_remove(int epoll, int fd) {
  struct epoll_event event = {0};
  return epoll_ctl(epoll, EPOLL_CTL_DEL, fd, &event) < 0 ? -errno : 0;
}

static inline int clinux_epoll_tokens(int count, const struct epoll_event *events, uint64_t *tokens) {
  if (count < 0) return -errno;
  *tokens = 0;
  for (int i = 0; i < count; i++) *tokens |= 1ull << (events[i].data.u32 & 63);
  return count;
}

/// Waits `nanoseconds` (negative: for ever) and sets one bit of `tokens` for each readable descriptor.
static inline int clinux_epoll_wait_ns(int epoll, int64_t nanoseconds, uint64_t *tokens) {
  struct epoll_event events[clinux_poll_capacity];
  struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  const struct timespec *limit = nanoseconds < 0 ? NULL : &time;
  int count = (int)syscall(SYS_epoll_pwait2, epoll, events, clinux_poll_capacity, limit, NULL, 0);
  return clinux_epoll_tokens(count, events, tokens);
}

/// The same with a resolution of milliseconds, for kernels before 5.11.
static inline int clinux_epoll_wait_ms(int epoll, int milliseconds, uint64_t *tokens) {
  struct epoll_event events[clinux_poll_capacity];
  int count = epoll_wait(epoll, events, clinux_poll_capacity, milliseconds);
  return clinux_epoll_tokens(count, events, tokens);
}

static inline int clinux_eventfd_create(void) {
  int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

static inline int clinux_eventfd_signal(int fd) {
  uint64_t one = 1;
  return write(fd, &one, sizeof one) < 0 ? -errno : 0;
}

static inline int clinux_eventfd_clear(int fd) {
  uint64_t count;
  return read(fd, &count, sizeof count) < 0 ? -errno : 0;
}
