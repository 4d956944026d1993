#pragma once

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clinux_address.h"

#ifndef SO_RXQ_OVFL
#define SO_RXQ_OVFL 40
#endif
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef IPV6_RECVPKTINFO
#define IPV6_RECVPKTINFO 49
#endif
#ifndef IPV6_PKTINFO
#define IPV6_PKTINFO 50
#endif

/// A non-blocking UDP socket that reports each datagram's local address and the kernel's drops.
static inline int clinux_udp_open(int is_v6) {
  int fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  int one = 1;
  int failed = is_v6 ? setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one) ||
                           setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &one, sizeof one)
                     : setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &one, sizeof one);
  if (failed) {
    int error = errno;
    close(fd);
    return -error;
  }
  setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &one, sizeof one);
  return fd;
}

/// Asks for kernel buffers of these sizes; a process without privilege gets at most the system's limit.
static inline void clinux_udp_set_buffers(int fd, int receive, int send) {
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &receive, sizeof receive))
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive, sizeof receive);
  if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &send, sizeof send))
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send, sizeof send);
}

static inline int clinux_udp_bind(int fd, const struct clinux_address *address) {
  struct sockaddr_in6 name;
  socklen_t length = clinux_address_write(address, &name);
  return bind(fd, (const struct sockaddr *)&name, length) < 0 ? -errno : 0;
}

/// The address and port the socket is bound to.
static inline int clinux_udp_bound(int fd, struct clinux_address *address) {
  struct sockaddr_in6 name;
  socklen_t length = sizeof name;
  if (getsockname(fd, (struct sockaddr *)&name, &length) < 0) return -errno;
  return clinux_address_read(&name, address) ? 0 : -EAFNOSUPPORT;
}
