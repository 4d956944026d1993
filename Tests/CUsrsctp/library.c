// usrsctp keeps everything in global variables: endpoints, timers, ticks. Here each association gets a library of its own:
// the writable data of the shared library is exchanged before each call. No state, timer or clock is shared, so nothing
// that one peer does can touch another, and two tests may run on two virtual clocks.
#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <usrsctp.h>

struct library {
  int64_t ticked;  // µs up to which its timers have run
  uint64_t random;
  unsigned char data[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *data;   // the shared library's writable data
static size_t data_size;
static unsigned char *pristine;  // as loaded
static struct library *current;  // whose data is in place
static _Thread_local int64_t entered_at = -1;  // the time usrsctp is to see, µs; -1 outside

// usrsctp asks this for round trips and lifetimes. The linker exports it because the shared library wants it, and gives
// everybody else in the process the same; for them it is the system's clock as ever.
int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  if (entered_at >= 0) {
    *time = (struct timeval){.tv_sec = entered_at / 1000000, .tv_usec = entered_at % 1000000};
    return 0;
  }
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  *time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return 0;
}

// SplitMix64 from the caller's seed instead of the kernel's numbers, so that a recorded list of inputs replays. Verification tags
// and cookies need not be secret here: every packet comes through DTLS.
void read_random(void *to, size_t count);
void read_random(void *to, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint64_t z = current == NULL ? 0 : (current->random += 0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    ((unsigned char *)to)[i] = (unsigned char)(z ^ z >> 31);
  }
}

// usrsctp starts a thread for work on many associations at once, even when asked for none. There is one association here, and
// state that is exchanged suits no thread: it is refused, which usrsctp bears. (The declarations are usrsctp's own.)
int sctp_userspace_thread_create(void *thread, void *(*body)(void *));
int sctp_userspace_thread_create(void *thread, void *(*body)(void *)) {
  (void)thread;
  (void)body;
  return EAGAIN;
}

// Finds the writable part of the object that holds usrsctp's code: its last segment, less what is read-only after start.
static int find_data(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size;
  (void)unused;
  const uintptr_t code = (uintptr_t)&usrsctp_init_nothreads;
  uintptr_t start = 0, end = 0, read_only_end = 0;
  int is_ours = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    const uintptr_t from = info->dlpi_addr + part->p_vaddr, to = from + part->p_memsz;
    if (part->p_type == PT_LOAD && (part->p_flags & PF_X) && code >= from && code < to) is_ours = 1;
    if (part->p_type == PT_LOAD && (part->p_flags & PF_W)) start = from, end = to;
    if (part->p_type == PT_GNU_RELRO) read_only_end = to;
  }
  if (!is_ours) return 0;
  // The program itself holds the code when linked statically: its data is not ours to exchange.
  if (info->dlpi_name == NULL || info->dlpi_name[0] == 0) return 1;
  if (read_only_end > start) start = (read_only_end + 4095) & ~(uintptr_t)4095;
  if (start < end) data = (unsigned char *)start, data_size = end - start;
  return 1;
}

// Whether the shared library gets `ours` when it asks for `name`. Where it would get its own, two clocks or a thread would
// meet in exchanged data: then there are no data channels at all.
static int is_in_place(const char *name, uintptr_t ours) { return (uintptr_t)dlsym(RTLD_DEFAULT, name) == ours; }

static void find_data_once(void) {
  if (!is_in_place("gettimeofday", (uintptr_t)&gettimeofday) || !is_in_place("read_random", (uintptr_t)&read_random) ||
      !is_in_place("sctp_userspace_thread_create", (uintptr_t)&sctp_userspace_thread_create))
    return;
  dl_iterate_phdr(find_data, NULL);
  if (data != NULL && (pristine = malloc(data_size)) != NULL) memcpy(pristine, data, data_size);
}

struct library *library_create(uint64_t seed, int64_t now) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_data_once);
  if (pristine == NULL) {
    errno = ENOTSUP;
    return NULL;
  }
  struct library *self = malloc(sizeof *self + data_size);
  if (self == NULL) return NULL;
  memcpy(self->data, pristine, data_size);
  self->ticked = now;
  self->random = seed;
  return self;
}

void library_enter(struct library *self, int64_t now) {
  pthread_mutex_lock(&lock);
  if (current != self) {
    if (current != NULL) memcpy(current->data, data, data_size);
    memcpy(data, self->data, data_size);
    current = self;
  }
  if (now < self->ticked) now = self->ticked;
  entered_at = now + 1000000000;  // never zero: usrsctp takes that for "not set"
  const int64_t elapsed = (now - self->ticked) / 1000;
  self->ticked += elapsed * 1000;
  if (elapsed > 0) usrsctp_handle_timers(elapsed > UINT32_MAX ? UINT32_MAX : (uint32_t)elapsed);
}

void library_leave(void) {
  entered_at = -1;
  pthread_mutex_unlock(&lock);
}

void library_destroy(struct library *self) {
  current = NULL;
  library_leave();
  free(self);
}
