#pragma once

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clinux_address.h"

#ifndef SO_REUSEPORT
#define SO_REUSEPORT 15
#endif

/// A non-blocking UDP socket on `port`, which others may have too. What it sends stays on the link.
static inline int clinux_multicast_open(int is_v6, uint16_t port) {
  int fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  int one = 1, hops = 255;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
  // RFC 6762 §11.
  if (is_v6) {
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &hops, sizeof hops);
  } else {
    setsockopt(fd, IPPROTO_IP, IP_MULTICAST_TTL, &hops, sizeof hops);
  }
  struct clinux_address any = {.port = port, .is_v6 = is_v6 ? 1 : 0};
  struct sockaddr_in6 name;
  socklen_t length = clinux_address_write(&any, &name);
  if (bind(fd, (const struct sockaddr *)&name, length) == 0) return fd;
  int error = errno;
  close(fd);
  return -error;
}

/// Hears what is sent to `group` on an interface.
static inline int clinux_multicast_join(int fd, const struct clinux_address *group, uint32_t interface) {
  if (group->is_v6) {
    struct ipv6_mreq request = {.ipv6mr_multiaddr = clinux_address_v6(group), .ipv6mr_interface = interface};
    return setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &request, sizeof request) < 0 ? -errno : 0;
  }
  struct ip_mreqn request = {.imr_multiaddr = clinux_address_v4(group), .imr_ifindex = (int)interface};
  return setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request) < 0 ? -errno : 0;
}

/// Sends to `group`, by this interface.
static inline int clinux_multicast_send(
    int fd, const struct clinux_address *group, uint32_t interface, const void *bytes, size_t count) {
  struct sockaddr_in6 name;
  socklen_t length = clinux_address_write(group, &name);
  if (group->is_v6) {
    setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &interface, sizeof interface);
  } else {
    struct ip_mreqn request = {.imr_ifindex = (int)interface};
    setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request);
  }
  return sendto(fd, bytes, count, MSG_DONTWAIT, (const struct sockaddr *)&name, length) < 0 ? -errno : 0;
}
