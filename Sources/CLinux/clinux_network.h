#pragma once

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

/// A socket that is readable when a link, an address or a route of this machine has changed.
static inline int clinux_network_watch_open(void) {
  int file = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (file < 0) return -errno;
  struct sockaddr_nl address = {
      .nl_family = AF_NETLINK,
      .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE};
  if (bind(file, (struct sockaddr *)&address, sizeof address) == 0) return file;
  int error = errno;
  close(file);
  return -error;
}

/// Forgets what has come; the addresses are asked for anew anyway.
static inline void clinux_network_watch_clear(int file) {
  char rest[8192];
  ssize_t count;
  do {
    count = recv(file, rest, sizeof rest, 0);
  } while (count > 0 || (count < 0 && (errno == ENOBUFS || errno == EINTR)));
}
