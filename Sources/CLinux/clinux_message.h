#pragma once

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "clinux_address.h"
#include "clinux_udp.h"

/// glibc's mmsghdr and in6_pktinfo, which it shows to _GNU_SOURCE only.
struct clinux_header {
  struct msghdr msg_hdr;
  unsigned msg_len;
};
struct clinux_pktinfo6 {
  struct in6_addr ipi6_addr;
  unsigned ipi6_ifindex;
};

/// What one header points at; neither may move between preparation and the call.
struct clinux_message {
  struct iovec part;
  struct sockaddr_in6 peer;
  uint64_t control[16];
};

static inline void clinux_message_prepare(struct clinux_header *header, struct clinux_message *message) {
  memset(header, 0, sizeof *header);
  header->msg_hdr.msg_name = &message->peer;
  header->msg_hdr.msg_iov = &message->part;
  header->msg_hdr.msg_iovlen = 1;
  header->msg_hdr.msg_control = message->control;
}

static inline void clinux_message_control(struct msghdr *m, int level, int type, const void *data, size_t n) {
  struct cmsghdr *c = (struct cmsghdr *)((char *)m->msg_control + m->msg_controllen);
  c->cmsg_level = level;
  c->cmsg_type = type;
  c->cmsg_len = CMSG_LEN(n);
  memcpy(CMSG_DATA(c), data, n);
  m->msg_controllen += CMSG_SPACE(n);
}

/// Fills a prepared pair for sending. `segment` > 0 has the kernel cut the bytes into datagrams of that length.
static inline void clinux_message_fill(struct clinux_header *header, struct clinux_message *message,
                                       const struct clinux_address *local, const struct clinux_address *remote,
                                       const void *bytes, size_t count, uint16_t segment) {
  struct msghdr *m = &header->msg_hdr;
  message->part.iov_base = (void *)bytes;
  message->part.iov_len = count;
  m->msg_namelen = clinux_address_write(remote, &message->peer);
  m->msg_controllen = 0;
  if (local->is_v6 && (local->high | local->low)) {
    struct clinux_pktinfo6 info = {.ipi6_addr = clinux_address_v6(local), .ipi6_ifindex = local->scope};
    clinux_message_control(m, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof info);
  } else if (!local->is_v6 && local->low) {
    struct in_pktinfo info = {.ipi_spec_dst = clinux_address_v4(local)};
    clinux_message_control(m, IPPROTO_IP, IP_PKTINFO, &info, sizeof info);
  }
  if (segment) clinux_message_control(m, IPPROTO_UDP, clinux_udp_segment, &segment, sizeof segment);
}

/// Makes a prepared pair ready to receive up to `capacity` bytes (again).
static inline void clinux_message_rearm(struct clinux_header *header, struct clinux_message *message, void *bytes,
                                        size_t capacity) {
  message->part.iov_base = bytes;
  message->part.iov_len = capacity;
  header->msg_hdr.msg_namelen = sizeof message->peer;
  header->msg_hdr.msg_controllen = sizeof message->control;
  header->msg_hdr.msg_flags = 0;
}

/// Reads a received message's two addresses (the local one without a port) and the socket's drop count, if given.
/// Returns the datagram's length, or -1 when it was cut short or an address is missing.
static inline int clinux_message_read(struct clinux_header *header, struct clinux_address *local,
                                      struct clinux_address *remote, uint32_t *drops) {
  struct msghdr *m = &header->msg_hdr;
  int found = 0;
  for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
    if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
      struct in_pktinfo info;
      memcpy(&info, CMSG_DATA(c), sizeof info);
      *local = clinux_address_from_v4(info.ipi_spec_dst, 0);
      found = 1;
    } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
      struct clinux_pktinfo6 info;
      memcpy(&info, CMSG_DATA(c), sizeof info);
      *local = clinux_address_from_v6(&info.ipi6_addr, 0, info.ipi6_ifindex);
      found = 1;
    } else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
      memcpy(drops, CMSG_DATA(c), sizeof *drops);
    }
  }
  if (!found || m->msg_flags & MSG_TRUNC || !clinux_address_read(m->msg_name, remote)) return -1;
  return (int)header->msg_len;
}
