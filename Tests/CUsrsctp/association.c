#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <usrsctp.h>

#include "library.h"

struct cusrsctp_instance {
  struct library *library;
  struct socket *socket;
  void *owner;
  cusrsctp_output output;
  cusrsctp_options options;
};

// The one address in each library: a number, which is never followed.
#define TOKEN ((void *)1)

// Whom the library that this thread has entered belongs to.
static _Thread_local cusrsctp_instance *active;

static void enter(cusrsctp_instance *self, int64_t now) {
  active = self;
  library_enter(self->library, now);
}

static int leave(int error) {
  library_leave();
  active = NULL;
  return error;
}

static int output(void *address, void *bytes, size_t length, uint8_t service, uint8_t unfragmented) {
  (void)address;
  (void)service;
  (void)unfragmented;
  if (active != NULL && active->output != NULL) active->output(active->owner, bytes, length);
  return 0;
}

static int set(struct socket *socket, int option, const void *value, size_t size) {
  return usrsctp_setsockopt(socket, IPPROTO_SCTP, option, value, (socklen_t)size);
}

static int set_events(struct socket *socket) {
  const uint16_t wanted[] = {SCTP_ASSOC_CHANGE, SCTP_STREAM_RESET_EVENT};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    const struct sctp_event event = {.se_assoc_id = SCTP_ALL_ASSOC, .se_type = wanted[i], .se_on = 1};
    if (set(socket, SCTP_EVENT, &event, sizeof event) != 0) return -1;
  }
  return 0;
}

static int set_options(struct socket *socket, const cusrsctp_options *options) {
  const int on = 1, send_buffer = (int)options->send_buffer, receive_buffer = (int)options->receive_buffer;
  const struct linger at_once = {.l_onoff = 1, .l_linger = 0};  // close aborts and frees, nothing lingers
  const struct sctp_initmsg streams = {
      .sinit_num_ostreams = options->streams, .sinit_max_instreams = options->streams,
      .sinit_max_attempts = options->retransmissions, .sinit_max_init_timeo = (uint16_t)options->most_rto};
  const struct sctp_rtoinfo rto = {
      .srto_initial = options->initial_rto, .srto_max = options->most_rto, .srto_min = options->least_rto};
  const struct sctp_assocparams patience = {.sasoc_asocmaxrxt = options->retransmissions};
  const struct sctp_assoc_value resets = {
      .assoc_id = SCTP_ALL_ASSOC, .assoc_value = SCTP_ENABLE_RESET_STREAM_REQ};
  struct sctp_paddrparams path = {
      .spp_flags = SPP_PMTUD_DISABLE, .spp_pathmtu = options->packet_size - 12,
      .spp_pathmaxrxt = options->retransmissions};
  path.spp_address.ss_family = AF_CONN;
  usrsctp_sysctl_set_sctp_max_chunks_on_queue(options->receive_chunks);
  usrsctp_sysctl_set_sctp_ecn_enable(0);
  usrsctp_sysctl_set_sctp_asconf_enable(0);
  usrsctp_sysctl_set_sctp_auth_enable(0);
  usrsctp_sysctl_set_sctp_nrsack_enable(0);
  usrsctp_sysctl_set_sctp_pktdrop_enable(0);
  if (usrsctp_set_non_blocking(socket, 1) != 0) return -1;
  if (usrsctp_setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) != 0) return -1;
  if (usrsctp_setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer) != 0) return -1;
  if (usrsctp_setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer) != 0) return -1;
  if (set(socket, SCTP_NODELAY, &on, sizeof on) != 0) return -1;
  if (set(socket, SCTP_RECVRCVINFO, &on, sizeof on) != 0) return -1;
  if (set(socket, SCTP_INITMSG, &streams, sizeof streams) != 0) return -1;
  if (set(socket, SCTP_RTOINFO, &rto, sizeof rto) != 0) return -1;
  if (set(socket, SCTP_ASSOCINFO, &patience, sizeof patience) != 0) return -1;
  if (set(socket, SCTP_ENABLE_STREAM_RESET, &resets, sizeof resets) != 0) return -1;
  if (set(socket, SCTP_PEER_ADDR_PARAMS, &path, sizeof path) != 0) return -1;
  return set_events(socket);
}

static int open_socket(cusrsctp_instance *self) {
  usrsctp_init_nothreads(0, output, NULL);
  usrsctp_register_address(TOKEN);
  // Read by the socket's creation, so set before.
  usrsctp_sysctl_set_sctp_blackhole(2);
  self->socket = usrsctp_socket(AF_CONN, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
  if (self->socket == NULL || set_options(self->socket, &self->options) != 0) return errno;
  struct sockaddr_conn here = {
      .sconn_family = AF_CONN, .sconn_port = htons(self->options.local_port), .sconn_addr = TOKEN};
  return usrsctp_bind(self->socket, (struct sockaddr *)&here, sizeof here) == 0 ? 0 : errno;
}

cusrsctp_instance *cusrsctp_create(
    const cusrsctp_options *options, void *owner, cusrsctp_output out, int64_t now) {
  cusrsctp_instance *self = calloc(1, sizeof *self);
  if (self == NULL) return NULL;
  *self = (cusrsctp_instance){.owner = owner, .output = out, .options = *options};
  self->library = library_create(options->seed, now);
  if (self->library == NULL) {
    free(self);
    return NULL;
  }
  enter(self, now);
  const int error = leave(open_socket(self));
  if (error == 0) return self;
  cusrsctp_destroy(self);
  errno = error;
  return NULL;
}

void cusrsctp_destroy(cusrsctp_instance *self) {
  self->output = NULL;
  enter(self, INT64_MIN);
  if (self->socket != NULL) usrsctp_close(self->socket);
  usrsctp_deregister_address(TOKEN);
  // Endpoints that still have a timer to wait for go with it.
  for (int i = 0; i < 100 && usrsctp_finish() != 0; i++) usrsctp_handle_timers(1000);
  active = NULL;
  library_destroy(self->library);
  free(self);
}

int cusrsctp_connect(cusrsctp_instance *self, int64_t now) {
  enter(self, now);
  struct sockaddr_conn there = {
      .sconn_family = AF_CONN, .sconn_port = htons(self->options.remote_port), .sconn_addr = TOKEN};
  const int result = usrsctp_connect(self->socket, (struct sockaddr *)&there, sizeof there);
  return leave(result == 0 || errno == EINPROGRESS ? 0 : errno);
}

void cusrsctp_advance(cusrsctp_instance *self, int64_t now) {
  enter(self, now);
  leave(0);
}

void cusrsctp_input(cusrsctp_instance *self, const void *packet, size_t length, int64_t now) {
  enter(self, now);
  if (self->socket != NULL) usrsctp_conninput(TOKEN, packet, length, 0);
  leave(0);
}

int cusrsctp_send(
    cusrsctp_instance *self, const void *bytes, size_t length, uint16_t stream, uint32_t protocol, int is_unordered,
    int policy, uint32_t limit, int64_t now) {
  struct sctp_sendv_spa how = {.sendv_flags = SCTP_SEND_SNDINFO_VALID};
  how.sendv_sndinfo = (struct sctp_sndinfo){
      .snd_sid = stream, .snd_ppid = htonl(protocol), .snd_flags = is_unordered ? SCTP_UNORDERED : 0};
  if (policy != CUSRSCTP_RELIABLE) {
    how.sendv_flags |= SCTP_SEND_PRINFO_VALID;
    how.sendv_prinfo = (struct sctp_prinfo){
        .pr_policy = policy == CUSRSCTP_LIFETIME ? SCTP_PR_SCTP_TTL : SCTP_PR_SCTP_RTX, .pr_value = limit};
  }
  enter(self, now);
  if (self->socket == NULL) return leave(ENOTCONN);
  const ssize_t sent = usrsctp_sendv(self->socket, bytes, length, NULL, 0, &how, sizeof how, SCTP_SENDV_SPA, 0);
  return leave(sent >= 0 ? 0 : errno == EWOULDBLOCK || errno == ENOBUFS ? CUSRSCTP_LATER : errno);
}

int cusrsctp_reset_streams(cusrsctp_instance *self, const uint16_t *streams, size_t count, int64_t now) {
  const size_t size = sizeof(struct sctp_reset_streams) + count * sizeof *streams;
  struct sctp_reset_streams *request = calloc(1, size);
  if (request == NULL) return ENOMEM;
  request->srs_flags = SCTP_STREAM_RESET_OUTGOING;
  request->srs_number_streams = (uint16_t)count;
  memcpy(request->srs_stream_list, streams, count * sizeof *streams);
  enter(self, now);
  int error = ENOTCONN;
  if (self->socket != NULL) error = set(self->socket, SCTP_RESET_STREAMS, request, size) == 0 ? 0 : errno;
  free(request);
  return leave(error == EALREADY || error == EINPROGRESS || error == EAGAIN || error == EBUSY ? CUSRSCTP_LATER : error);
}

void cusrsctp_abort(cusrsctp_instance *self, int64_t now) {
  enter(self, now);
  if (self->socket != NULL) usrsctp_close(self->socket);
  self->socket = NULL;
  leave(0);
}

// Turns the notification in `buffer` into `*is`; what it lists takes its place.
static size_t read_notification(void *buffer, size_t length, cusrsctp_received *is) {
  union sctp_notification *it = buffer;
  is->kind = CUSRSCTP_OTHER;
  if (length < sizeof it->sn_header || it->sn_header.sn_length != length) return 0;
  if (it->sn_header.sn_type == SCTP_ASSOC_CHANGE && length >= sizeof it->sn_assoc_change) {
    switch (it->sn_assoc_change.sac_state) {
      case SCTP_COMM_UP:
        is->kind = CUSRSCTP_UP;
        is->stream = it->sn_assoc_change.sac_outbound_streams;
        if (is->stream > it->sn_assoc_change.sac_inbound_streams) is->stream = it->sn_assoc_change.sac_inbound_streams;
        break;
      case SCTP_RESTART: is->kind = CUSRSCTP_RESTART; break;
      case SCTP_SHUTDOWN_COMP: is->kind = CUSRSCTP_SHUT; break;
      case SCTP_COMM_LOST:
      case SCTP_CANT_STR_ASSOC: is->kind = CUSRSCTP_LOST; break;
    }
  } else if (it->sn_header.sn_type == SCTP_STREAM_RESET_EVENT && length >= sizeof it->sn_strreset_event) {
    is->kind = CUSRSCTP_RESET;
    is->reset_flags = it->sn_strreset_event.strreset_flags;
    const size_t listed = length - sizeof it->sn_strreset_event;
    memmove(buffer, it->sn_strreset_event.strreset_stream_list, listed);
    return listed;
  }
  return 0;
}

size_t cusrsctp_receive(
    cusrsctp_instance *self, void *buffer, size_t capacity, cusrsctp_received *is, int64_t now) {
  *is = (cusrsctp_received){.kind = CUSRSCTP_NOTHING};
  enter(self, now);
  if (self->socket == NULL) return leave(0), 0;
  struct sctp_rcvinfo info = {0};
  socklen_t info_size = sizeof info, from_size = 0;
  unsigned int info_type = SCTP_RECVV_NOINFO;
  int flags = 0;
  const ssize_t count = usrsctp_recvv(
      self->socket, buffer, capacity, NULL, &from_size, &info, &info_size, &info_type, &flags);
  leave(0);
  if (count <= 0) return 0;
  if (flags & MSG_NOTIFICATION) return read_notification(buffer, (size_t)count, is);
  is->kind = CUSRSCTP_DATA;
  is->stream = info.rcv_sid;
  is->protocol = ntohl(info.rcv_ppid);
  is->is_last = (flags & MSG_EOR) != 0;
  is->is_unordered = (info.rcv_flags & SCTP_UNORDERED) != 0;
  return (size_t)count;
}

uint32_t cusrsctp_outstanding(cusrsctp_instance *self, int64_t now) {
  enter(self, now);
  struct sctp_status status = {0};
  socklen_t size = sizeof status;
  const int result = self->socket == NULL
      ? -1 : usrsctp_getsockopt(self->socket, IPPROTO_SCTP, SCTP_STATUS, &status, &size);
  leave(0);
  return result == 0 ? (uint32_t)status.sstat_unackdata + status.sstat_penddata : 0;
}
