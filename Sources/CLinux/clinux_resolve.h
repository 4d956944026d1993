#pragma once

#include <netdb.h>
#include <sys/socket.h>

#include "clinux_address.h"

/// Asks the system's resolver for the addresses of a name, and waits for it. Writes at most `each` of each IP
/// version, in the order that the system prefers, and returns how many; or a negative `EAI_…`, for `gai_strerror`.
static inline int clinux_resolve(const char *name, struct clinux_address *addresses, int each) {
  // AI_ADDRCONFIG would leave out what only loopback reaches.
  struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM};
  struct addrinfo *list = NULL;
  int error = getaddrinfo(name, NULL, &hints, &list);
  if (error) return error;
  int count = 0, of_version[2] = {0, 0};
  for (struct addrinfo *entry = list; entry; entry = entry->ai_next) {
    struct clinux_address address;
    if (!clinux_address_read(entry->ai_addr, &address) || of_version[address.is_v6]++ >= each) continue;
    addresses[count++] = address;
  }
  freeaddrinfo(list);
  return count;
}
