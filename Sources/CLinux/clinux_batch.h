#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include "clinux_message.h"

/// Sends up to `count` filled messages; returns how many the kernel took (at least 1) or the first one's negated errno.
static inline int clinux_batch_send(int fd, struct clinux_header *headers, unsigned count) {
  int sent = (int)syscall(SYS_sendmmsg, fd, headers, count, MSG_DONTWAIT);
  return sent < 0 ? -errno : sent;
}

/// Receives up to `count` datagrams into rearmed messages.
static inline int clinux_batch_receive(int fd, struct clinux_header *headers, unsigned count) {
  int received = (int)syscall(SYS_recvmmsg, fd, headers, count, MSG_DONTWAIT, NULL);
  return received < 0 ? -errno : received;
}
