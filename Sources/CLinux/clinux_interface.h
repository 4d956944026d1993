#pragma once

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>

#include "clinux_address.h"

struct clinux_interface {
  struct clinux_address address;
  uint32_t index;
  uint16_t is_up;
  uint16_t is_loopback;
  char name[IF_NAMESIZE];
};

/// The list to walk and then to free with `freeifaddrs`.
static inline int clinux_interfaces_open(struct ifaddrs **list) { return getifaddrs(list) < 0 ? -errno : 0; }

/// Reads one entry and returns 0 when it holds no IPv4 or IPv6 address.
static inline int clinux_interface_read(const struct ifaddrs *entry, struct clinux_interface *out) {
  if (!entry->ifa_addr || !clinux_address_read(entry->ifa_addr, &out->address)) return 0;
  out->index = if_nametoindex(entry->ifa_name);
  out->is_up = (entry->ifa_flags & IFF_UP) && (entry->ifa_flags & IFF_RUNNING);
  out->is_loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
  strncpy(out->name, entry->ifa_name, sizeof out->name - 1);
  out->name[sizeof out->name - 1] = 0;
  return 1;
}
