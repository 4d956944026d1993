#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

// fcntl.h shows these to _GNU_SOURCE only.
enum { clinux_f_add_seals = 1033, clinux_f_get_seals = 1034, clinux_seals = 1 | 2 | 4 /* SEAL, SHRINK, GROW */ };

/// Two connected ends, in messages, closed in programs that are started.
static inline int clinux_message_pair(int ends[2]) {
  return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0 ? -errno : 0;
}

/// Sends one message, with `descriptor` when that is not negative.
static inline int clinux_send_descriptor(int socket, const void *bytes, size_t count, int descriptor, int flags) {
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int))];
  } control;
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (descriptor >= 0) {
    memset(&control, 0, sizeof control);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
  }
  ssize_t sent;
  do sent = sendmsg(socket, &message, flags | MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent < 0 ? -errno : 0;
}

/// Sends one message in two parts, without a descriptor.
static inline int clinux_send_parts(
    int socket, const void *head, size_t head_count, const void *body, size_t body_count, int flags) {
  struct iovec parts[] = {
      {.iov_base = (void *)head, .iov_len = head_count}, {.iov_base = (void *)body, .iov_len = body_count}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  ssize_t sent;
  do sent = sendmsg(socket, &message, flags | MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent < 0 ? -errno : 0;
}

/// Receives one message: its length, 0 at the end, -EMSGSIZE when it was cut short. `descriptor` is -1 when none came;
/// of several, all but the first are closed.
static inline int clinux_receive_descriptor(int socket, void *bytes, size_t capacity, int *descriptor, int flags) {
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(4 * sizeof(int))];
  } control;
  struct iovec part = {.iov_base = bytes, .iov_len = capacity};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  *descriptor = -1;
  ssize_t received;
  do received = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  while (received < 0 && errno == EINTR);
  if (received < 0) return -errno;
  for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= c->cmsg_len; at += sizeof(int)) {
      int one;
      memcpy(&one, CMSG_DATA(c) + at, sizeof one);
      if (*descriptor < 0) *descriptor = one;
      else close(one);
    }
  }
  return message.msg_flags & MSG_TRUNC ? -EMSGSIZE : (int)received;
}

enum { clinux_huge_pages = 4 /* MFD_HUGETLB */ };

/// Anonymous memory of exactly `count` bytes that can be passed on and not be cut short or made longer by anybody.
/// `kind` is 0, or `clinux_huge_pages`.
static inline int clinux_sealed_memory_of(const char *name, size_t count, unsigned kind) {
  int fd = (int)syscall(SYS_memfd_create, name, 3u /* CLOEXEC, ALLOW_SEALING */ | kind);
  if (fd < 0) return -errno;
  if (ftruncate(fd, (off_t)count) < 0 || fcntl(fd, clinux_f_add_seals, clinux_seals) < 0) {
    int error = errno;
    close(fd);
    return -error;
  }
  return fd;
}

static inline int clinux_sealed_memory(const char *name, size_t count) {
  return clinux_sealed_memory_of(name, count, 0);
}

/// The size of sealed memory, or -1 when `fd` is anything else. Memory that can be cut short must not be mapped, nor memory
/// of huge pages: reading a page for which the system has none is SIGBUS.
static inline int64_t clinux_sealed_memory_size(int fd) {
  struct stat status;
  struct statfs system;
  if (fstatfs(fd, &system) < 0 || system.f_type != 0x01021994 /* tmpfs */) return -1;
  int seals = fcntl(fd, clinux_f_get_seals);
  if (seals < 0 || (seals & clinux_seals) != clinux_seals || fstat(fd, &status) < 0) return -1;
  return status.st_size;
}
