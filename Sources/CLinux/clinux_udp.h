#pragma once

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clinux_address.h"

#ifndef SO_RXQ_OVFL
#define SO_RXQ_OVFL 40
#endif
#ifndef IPV6_RECVPKTINFO
#define IPV6_RECVPKTINFO 49
#endif
#ifndef IPV6_PKTINFO
#define IPV6_PKTINFO 50
#endif

// UDP_SEGMENT of <linux/udp.h>. That file and <netinet/udp.h> both define udphdr, so neither is included here: CNIOLinux
// includes one of them.
enum { clinux_udp_segment = 103 };

// As <linux/in.h> and <linux/in6.h> have them, for both IP versions: never fragment, and let larger datagrams than the
// kernel believes the path to bear out all the same.
enum { clinux_mtu_discover_v4 = 10, clinux_mtu_discover_v6 = 23, clinux_mtu_want = 1, clinux_mtu_probe = 3 };

/// Whether the kernel may cut datagrams that are longer than an interface bears into fragments.
static inline void clinux_udp_set_fragments(int fd, int is_v6, int may) {
  int mode = may ? clinux_mtu_want : clinux_mtu_probe;
  if (is_v6) setsockopt(fd, IPPROTO_IPV6, clinux_mtu_discover_v6, &mode, sizeof mode);
  else setsockopt(fd, IPPROTO_IP, clinux_mtu_discover_v4, &mode, sizeof mode);
}

/// A non-blocking UDP socket that fragments nothing and reports each datagram's local address and the kernel's drops.
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
  clinux_udp_set_fragments(fd, is_v6, 0);
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

/// The local address that the kernel would send from to `remote`; -ENETUNREACH and the like when there is no way.
static inline int clinux_udp_source(const struct clinux_address *remote, struct clinux_address *source) {
  struct sockaddr_in6 name;
  socklen_t length = clinux_address_write(remote, &name);
  int fd = socket(remote->is_v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  int result = connect(fd, (const struct sockaddr *)&name, length) < 0 ? -errno : clinux_udp_bound(fd, source);
  close(fd);
  return result;
}
