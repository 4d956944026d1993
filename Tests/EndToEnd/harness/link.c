/* A bad link between two hosts (network namespaces), on TUN devices: what `link.py` starts.
 *
 *   link NAMESPACE_A ADDRESS_A NAMESPACE_B ADDRESS_B SEED
 *
 * Says "ready" when both devices are up. Standard input takes one change a line, which counts from then on, and standard
 * output answers each with a line:
 *
 *   DIRECTION NAME=VALUE …    DIRECTION is forth (A to B), back or both; answer: ok
 *   counters                  answer: forth and back, each: packets in, out, lost, dropped, bytes out, and the longest queueing
 *                             since the last question in µs
 *
 * A packet meets, in this order: `loss` (a chance) and `burst_loss` (the mean share that is lost in bursts of `burst_length`
 * packets); a queue of `queue` seconds that drops what does not fit; the bottleneck's `rate` in bit/s, headers included;
 * `delay` seconds and at most `jitter` more, in order; and `late`, the chance of `late_by` seconds more, in which others
 * overtake it. A rate of 0 is endless. Ends with its standard input.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

typedef struct Packet {
  struct Packet *next;
  double time; /* when it came, then when it leaves */
  int length;
  uint8_t bytes[1600];
} Packet;

typedef struct {
  double rate, queue, delay, jitter, loss, burst_loss, burst_length, late, late_by;
} Conditions;

typedef struct {
  Conditions now;
  Packet *first, *last;   /* before the bottleneck, in order */
  double waiting;         /* their bits */
  double free_at;         /* when the bottleneck has sent its last packet */
  double latest;          /* when the last one in order leaves the link */
  Packet *flying;         /* behind the bottleneck, the next to arrive first */
  bool in_burst;
  unsigned long in, out, lost, dropped, bytes_out, longest_us;
  int from, to;           /* devices */
} Direction;

static Direction directions[2];
static uint64_t random_state;

static void fail(const char *what) {
  fprintf(stderr, "link: %s: %s\n", what, strerror(errno));
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

/* Even in 0…1; splitmix64. */
static double chance(void) {
  uint64_t z = random_state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

static int open_device(const char *space, const char *address) {
  char path[256];
  snprintf(path, sizeof path, "/run/netns/%s", space);
  int home = open(path, O_RDONLY);
  if (home < 0 || setns(home, CLONE_NEWNET) != 0) fail(path);
  close(home);

  int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
  if (device < 0) fail("/dev/net/tun");
  struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
  strcpy(request.ifr_name, "link");
  if (ioctl(device, TUNSETIFF, &request) != 0) fail("TUNSETIFF");

  int socket_ = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in place = {.sin_family = AF_INET};
  inet_pton(AF_INET, address, &place.sin_addr);
  memcpy(&request.ifr_addr, &place, sizeof place);
  if (ioctl(socket_, SIOCSIFADDR, &request) != 0) fail("SIOCSIFADDR");
  inet_pton(AF_INET, "255.255.255.0", &place.sin_addr);
  memcpy(&request.ifr_netmask, &place, sizeof place);
  if (ioctl(socket_, SIOCSIFNETMASK, &request) != 0) fail("SIOCSIFNETMASK");
  request.ifr_qlen = 5000; /* the queue is here, not there */
  if (ioctl(socket_, SIOCSIFTXQLEN, &request) != 0) fail("SIOCSIFTXQLEN");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (ioctl(socket_, SIOCSIFFLAGS, &request) != 0) fail("SIOCSIFFLAGS");
  close(socket_);
  return device;
}

/* Gilbert's model: everything is lost in the bad state, whose mean length is `burst_length`. */
static bool is_lost(Direction *d) {
  if (d->now.loss > 0 && chance() < d->now.loss) return true;
  if (d->now.burst_loss <= 0) return false;
  double leave = 1 / d->now.burst_length;
  double enter = leave * d->now.burst_loss / (1 - d->now.burst_loss);
  d->in_burst = d->in_burst ? chance() >= leave : chance() < enter;
  return d->in_burst;
}

static void take(Direction *d) {
  static Packet *spare;
  while (true) {
    if (!spare && !(spare = malloc(sizeof *spare))) fail("malloc");
    spare->length = read(d->from, spare->bytes, sizeof spare->bytes);
    if (spare->length <= 0) return;
    if (spare->bytes[0] >> 4 != 4) continue; /* IPv4 alone */
    d->in++;
    if (is_lost(d)) {
      d->lost++;
      continue;
    }
    double bits = spare->length * 8.0;
    if (d->first && d->now.rate > 0 && d->now.queue > 0 && (d->waiting + bits) / d->now.rate > d->now.queue) {
      d->dropped++;
      continue;
    }
    spare->time = now();
    spare->next = NULL;
    if (d->last) d->last->next = spare;
    else d->first = spare;
    d->last = spare;
    d->waiting += bits;
    spare = NULL;
  }
}

/* When the bottleneck has sent the first packet that waits. */
static double sent_at(const Direction *d) {
  double begin = d->free_at > d->first->time ? d->free_at : d->first->time;
  return d->now.rate > 0 ? begin + d->first->length * 8.0 / d->now.rate : begin;
}

static void fly(Direction *d, Packet *packet, double sent) {
  double arrival = sent + d->now.delay + d->now.jitter * chance();
  if (arrival < d->latest) arrival = d->latest;
  d->latest = arrival;
  if (d->now.late > 0 && chance() < d->now.late) arrival += d->now.late_by;
  packet->time = arrival;
  Packet **place = &d->flying;
  while (*place && (*place)->time <= arrival) place = &(*place)->next;
  packet->next = *place;
  *place = packet;
}

/* Does what is due; returns when the next is. */
static double serve(Direction *d, double time) {
  while (d->first && sent_at(d) <= time) {
    Packet *packet = d->first;
    double sent = sent_at(d);
    unsigned long waited = (sent - packet->time) * 1e6;
    if (waited > d->longest_us) d->longest_us = waited;
    d->first = packet->next;
    if (!d->first) d->last = NULL;
    d->waiting -= packet->length * 8.0;
    d->free_at = sent;
    fly(d, packet, sent);
  }
  while (d->flying && d->flying->time <= time) {
    Packet *packet = d->flying;
    d->flying = packet->next;
    if (write(d->to, packet->bytes, packet->length) == packet->length) {
      d->out++;
      d->bytes_out += packet->length;
    }
    free(packet);
  }
  double next = d->first ? sent_at(d) : 1e18;
  return d->flying && d->flying->time < next ? d->flying->time : next;
}

static bool change(Conditions *conditions, const char *name, double value) {
  const struct { const char *name; double *place; } all[] = {
    {"rate", &conditions->rate}, {"queue", &conditions->queue}, {"delay", &conditions->delay}, {"jitter", &conditions->jitter},
    {"loss", &conditions->loss}, {"burst_loss", &conditions->burst_loss}, {"burst_length", &conditions->burst_length},
    {"late", &conditions->late}, {"late_by", &conditions->late_by},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (strcmp(name, all[i].name) == 0) {
      *all[i].place = value;
      return true;
    }
  return false;
}

static void obey(char *line) {
  char *rest, *word = strtok_r(line, " \n", &rest);
  if (word && strcmp(word, "counters") == 0) {
    for (int i = 0; i < 2; i++) {
      Direction *d = &directions[i];
      printf("%lu %lu %lu %lu %lu %lu%c", d->in, d->out, d->lost, d->dropped, d->bytes_out, d->longest_us, i ? '\n' : ' ');
      d->longest_us = 0;
    }
    return;
  }
  bool forth = word && strcmp(word, "back") != 0, back = word && strcmp(word, "forth") != 0;
  while ((word = strtok_r(NULL, " \n", &rest))) {
    char *value = strchr(word, '=');
    if (value) *value++ = 0;
    if (!value || (forth && !change(&directions[0].now, word, atof(value))) ||
        (back && !change(&directions[1].now, word, atof(value)))) {
      printf("%s is not known\n", word);
      return;
    }
  }
  printf("ok\n");
}

int main(int count, char **words) {
  if (count != 6) return 64;
  random_state = strtoull(words[5], NULL, 10);
  for (int i = 0; i < 2; i++) directions[i].now = (Conditions){.burst_length = 3, .late_by = 0.02};
  directions[0].from = directions[1].to = open_device(words[1], words[2]);
  directions[1].from = directions[0].to = open_device(words[3], words[4]);
  prctl(PR_SET_TIMERSLACK, 1);
  /* It uses little time, but that at once: a link does not wait for the tests beside it. */
  sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
  setlinebuf(stdout);
  puts("ready");

  char line[512];
  size_t length = 0;
  while (true) {
    double time = now(), next = 1e18;
    for (int i = 0; i < 2; i++) {
      take(&directions[i]);
      double due = serve(&directions[i], time);
      if (due < next) next = due;
    }
    double wait = next - now();
    if (wait < 0) wait = 0;
    if (wait > 1) wait = 1;
    struct timespec pause = {.tv_sec = (time_t)wait, .tv_nsec = (wait - (time_t)wait) * 1e9};
    struct pollfd watched[] = {{directions[0].from, POLLIN, 0}, {directions[1].from, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    ppoll(watched, 3, &pause, NULL);
    if (!watched[2].revents) continue;
    if (length == sizeof line - 1 || read(STDIN_FILENO, line + length, 1) != 1) return 0;
    if (line[length++] != '\n') continue;
    line[length] = 0;
    length = 0;
    obey(line);
  }
}
