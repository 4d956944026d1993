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

enum { clinux_poll_capacity = 32, clinux_poll_readable = EPOLLIN, clinux_poll_writable = EPOLLOUT };

static inline int clinux_epoll_create(void) {
  int fd = epoll_create1(EPOLL_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

/// Level-triggered interest in `fd` becoming readable, writable or both, reported as `token`.
static inline int clinux_epoll_add(int epoll, int fd, uint32_t token, uint32_t interest) {
  struct epoll_event event = {.events = interest, .data = {.u32 = token}};
  return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/// Another interest in `fd`, which is watched.
static inline int clinux_epoll_change(int epoll, int fd, uint32_t token, uint32_t interest) {
  struct epoll_event event = {.events = interest, .data = {.u32 = token}};
  return epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event) < 0 ? -errno : 0;
}

static inline int clinux_epoll_remove(int epoll, int fd) {
  struct epoll_event event = {0};
  return epoll_ctl(epoll, EPOLL_CTL_DEL, fd, &event) < 0 ? -errno : 0;
}

/// An error or a hang-up counts as readable and writable: the next call tells which it is.
static inline int clinux_epoll_ready(int count, const struct epoll_event *events, uint64_t *ready) {
  if (count < 0) return -errno;
  for (int i = 0; i < count; i++) {
    uint32_t flags = events[i].events;
    if (flags & (EPOLLERR | EPOLLHUP)) flags |= EPOLLIN | EPOLLOUT;
    ready[i] = (uint64_t)(flags & (EPOLLIN | EPOLLOUT)) << 32 | events[i].data.u32;
  }
  return count;
}

/// Waits `nanoseconds` (negative: for ever). Writes what is ready, at most `clinux_poll_capacity`: the token in the low
/// half, `clinux_poll_readable` and `clinux_poll_writable` in the high one. Returns how many.
static inline int clinux_epoll_wait_ns(int epoll, int64_t nanoseconds, uint64_t *ready) {
  struct epoll_event events[clinux_poll_capacity];
  struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  const struct timespec *limit = nanoseconds < 0 ? NULL : &time;
  int count = (int)syscall(SYS_epoll_pwait2, epoll, events, clinux_poll_capacity, limit, NULL, 0);
  return clinux_epoll_ready(count, events, ready);
}

/// The same with a resolution of milliseconds, for kernels before 5.11.
static inline int clinux_epoll_wait_ms(int epoll, int milliseconds, uint64_t *ready) {
  struct epoll_event events[clinux_poll_capacity];
  int count = epoll_wait(epoll, events, clinux_poll_capacity, milliseconds);
  return clinux_epoll_ready(count, events, ready);
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
