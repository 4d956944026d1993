#pragma once

#include <endian.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

/// An address in host byte order. IPv4 lies in the low 32 bits of `low`.
struct clinux_address {
  uint64_t high, low;
  uint32_t scope;
  uint16_t port;
  uint16_t is_v6;
};

static inline struct clinux_address clinux_address_from_v4(struct in_addr ip, uint16_t port) {
  struct clinux_address address = {.low = be32toh(ip.s_addr), .port = port};
  return address;
}

/// `scope` is kept for link-local addresses only: others are the same on every interface.
static inline struct clinux_address clinux_address_from_v6(const struct in6_addr *ip, uint16_t port, uint32_t scope) {
  uint64_t words[2];
  memcpy(words, ip, sizeof words);
  struct clinux_address address = {.high = be64toh(words[0]), .low = be64toh(words[1]), .port = port, .is_v6 = 1};
  address.scope = address.high >> 54 == 0x3FA ? scope : 0;
  return address;
}

static inline struct in_addr clinux_address_v4(const struct clinux_address *address) {
  struct in_addr ip = {.s_addr = htobe32((uint32_t)address->low)};
  return ip;
}

static inline struct in6_addr clinux_address_v6(const struct clinux_address *address) {
  uint64_t words[2] = {htobe64(address->high), htobe64(address->low)};
  struct in6_addr ip;
  memcpy(&ip, words, sizeof ip);
  return ip;
}

/// Writes a sockaddr_in or sockaddr_in6 and returns its length.
static inline socklen_t clinux_address_write(const struct clinux_address *address, struct sockaddr_in6 *out) {
  if (address->is_v6) {
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htobe16(address->port)};
    v6.sin6_addr = clinux_address_v6(address);
    v6.sin6_scope_id = address->scope;
    memcpy(out, &v6, sizeof v6);
    return sizeof v6;
  }
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htobe16(address->port)};
  v4.sin_addr = clinux_address_v4(address);
  memcpy(out, &v4, sizeof v4);
  return sizeof v4;
}

/// Returns 0 when `from` is neither IPv4 nor IPv6.
static inline int clinux_address_read(const void *from, struct clinux_address *address) {
  sa_family_t family;
  memcpy(&family, from, sizeof family);
  if (family == AF_INET6) {
    struct sockaddr_in6 v6;
    memcpy(&v6, from, sizeof v6);
    *address = clinux_address_from_v6(&v6.sin6_addr, be16toh(v6.sin6_port), v6.sin6_scope_id);
    return 1;
  }
  if (family != AF_INET) return 0;
  struct sockaddr_in v4;
  memcpy(&v4, from, sizeof v4);
  *address = clinux_address_from_v4(v4.sin_addr, be16toh(v4.sin_port));
  return 1;
}
