// One SCTP association over datagrams, by usrsctp, sans-IO: what leaves goes to a function, the time is an argument.
// Any number of them at once, in any threads; each is to be used by one thread at a time.
#ifndef CUSRSCTP_H
#define CUSRSCTP_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cusrsctp_instance cusrsctp_instance;
typedef void (*cusrsctp_output)(void *owner, const void *packet, size_t length);

typedef struct {
  uint64_t seed;                // of every number usrsctp draws
  uint16_t local_port, remote_port;
  uint16_t streams;             // most in each direction
  uint32_t packet_size;         // of SCTP packets, header included
  uint32_t send_buffer;         // bytes
  uint32_t receive_buffer;      // bytes, with what keeping them costs
  uint32_t receive_chunks;      // most chunks that wait for reassembly or their turn
  uint32_t initial_rto, least_rto, most_rto;  // ms
  uint16_t retransmissions;     // in a row, before the association counts as lost
} cusrsctp_options;

// What of a message a cusrsctp_receive brought.
typedef struct {
  int kind;  // one of CUSRSCTP_*
  uint16_t stream;        // of CUSRSCTP_UP: how many there are in both directions
  uint32_t protocol;      // PPID, in host order
  int is_last;            // the message ends here
  int is_unordered;
  uint16_t reset_flags;   // of CUSRSCTP_RESET: bits below
} cusrsctp_received;

enum {
  CUSRSCTP_NOTHING,
  CUSRSCTP_DATA,
  CUSRSCTP_UP,      // the association stands
  CUSRSCTP_RESTART, // the peer began anew with the same ports
  CUSRSCTP_LOST,    // aborted by the peer, or no answer
  CUSRSCTP_SHUT,    // closed by the peer in good order
  CUSRSCTP_RESET,   // streams were reset; their numbers (host order, 16 bits) are the bytes
  CUSRSCTP_OTHER,
};
enum { CUSRSCTP_RESET_INCOMING = 1, CUSRSCTP_RESET_OUTGOING = 2, CUSRSCTP_RESET_DENIED = 4, CUSRSCTP_RESET_FAILED = 8 };
enum { CUSRSCTP_RELIABLE, CUSRSCTP_RETRANSMISSIONS, CUSRSCTP_LIFETIME };

// All times are microseconds from any origin and never go back. NULL: errno says why; ENOTSUP when the process is not
// linked with usrsctp's shared library.
cusrsctp_instance *cusrsctp_create(
    const cusrsctp_options *options, void *owner, cusrsctp_output output, int64_t now);
void cusrsctp_destroy(cusrsctp_instance *);
// The functions below return 0, an errno, or CUSRSCTP_LATER when they would be of use at another time.
enum { CUSRSCTP_LATER = -1 };
int cusrsctp_connect(cusrsctp_instance *, int64_t now);
void cusrsctp_advance(cusrsctp_instance *, int64_t now);
void cusrsctp_input(cusrsctp_instance *, const void *packet, size_t length, int64_t now);
int cusrsctp_send(
    cusrsctp_instance *, const void *bytes, size_t length, uint16_t stream, uint32_t protocol, int is_unordered,
    int policy, uint32_t limit, int64_t now);
int cusrsctp_reset_streams(cusrsctp_instance *, const uint16_t *streams, size_t count, int64_t now);
void cusrsctp_abort(cusrsctp_instance *, int64_t now);
// The bytes written to `buffer`, which fits any notification if it holds 8 KiB.
size_t cusrsctp_receive(cusrsctp_instance *, void *buffer, size_t capacity, cusrsctp_received *, int64_t now);
// Chunks sent and not acknowledged, and messages not yet sent.
uint32_t cusrsctp_outstanding(cusrsctp_instance *, int64_t now);

static inline int cusrsctp_errno(void) { return errno; }
static inline int cusrsctp_enotsup(void) { return ENOTSUP; }

#endif
