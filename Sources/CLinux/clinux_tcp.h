#pragma once

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clinux_address.h"

/// A non-blocking TCP socket that sends what it is given at once.
static inline int clinux_tcp_open(int is_v6) {
  int fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

/// Begins to connect: 0 when it is done, -EINPROGRESS when the socket becomes writable once it is.
static inline int clinux_tcp_connect(int fd, const struct clinux_address *remote) {
  struct sockaddr_in6 name;
  socklen_t length = clinux_address_write(remote, &name);
  return connect(fd, (const struct sockaddr *)&name, length) < 0 ? -errno : 0;
}

/// What became of it: 0, or the negated errno.
static inline int clinux_tcp_connected(int fd) {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) < 0) return -errno;
  return -error;
}

/// Binds and listens on one address of one IP version.
static inline int clinux_tcp_listen(int fd, const struct clinux_address *address, int backlog) {
  struct sockaddr_in6 name;
  socklen_t length = clinux_address_write(address, &name);
  int one = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (address->is_v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one) < 0) return -errno;
  if (bind(fd, (const struct sockaddr *)&name, length) < 0) return -errno;
  return listen(fd, backlog) < 0 ? -errno : 0;
}

/// Takes one connection, non-blocking; -EAGAIN when none waits.
static inline int clinux_tcp_accept(int fd) {
  // accept4 is shown to _GNU_SOURCE only.
  int connection = (int)syscall(SYS_accept4, fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (connection < 0) return -errno;
  int one = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return connection;
}

/// The address of the remote end.
static inline int clinux_tcp_remote(int fd, struct clinux_address *address) {
  struct sockaddr_in6 name;
  socklen_t length = sizeof name;
  if (getpeername(fd, (struct sockaddr *)&name, &length) < 0) return -errno;
  return clinux_address_read(&name, address) ? 0 : -EAFNOSUPPORT;
}

/// How many bytes the kernel took.
static inline long clinux_tcp_send(int fd, const void *bytes, size_t count) {
  ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent < 0 ? -errno : (long)sent;
}

/// How many bytes came; 0 at the end.
static inline long clinux_tcp_receive(int fd, void *bytes, size_t capacity) {
  ssize_t received = recv(fd, bytes, capacity, MSG_DONTWAIT);
  return received < 0 ? -errno : (long)received;
}
