/*
 * A plugin that keeps every rule or breaks one of them, by the option do=...; and, by macros when it is built, one that
 * is no good from the start. What it sees is counted in `breaker_counts`, which a test finds by its name.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rtcast_plugin.h"

#define W 64
#define H 48
#define MEMORY (W * H * 4)

#ifndef NO_ENTRY

struct counts {
  _Atomic int64_t starts, halts, stops, taken, busy, stopped, refused, releases, calls_after_stop, most_out, borrowed;
};
struct counts breaker_counts;

/* Ends what hangs. */
_Atomic int64_t breaker_may_go;

static rtcast_plugin *api;

typedef struct breaker {
  rtcast_host *host;
  char how[64];
  int limit;
  _Atomic int is_over, is_stopped;
  _Atomic int64_t out;
  pthread_t thread;
} breaker;

typedef struct loan {
  breaker *owner;
  uint8_t *memory;
} loan;

static int is(const breaker *self, const char *how) { return !strcmp(self->how, how); }

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void pause_ms(int ms) {
  struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static void hang(void) {
  while (!breaker_may_go) pause_ms(5);
}

static int32_t count(int32_t status) {
  if (status == RTCAST_OK) breaker_counts.taken++;
  if (status == RTCAST_BUSY) breaker_counts.busy++;
  if (status == RTCAST_STOPPED) breaker_counts.stopped++;
  if (status == RTCAST_REFUSED) breaker_counts.refused++;
  return status;
}

static void release(void *context) {
  loan *gone = context;
  if (gone->owner->is_stopped) breaker_counts.calls_after_stop++;
  breaker_counts.releases++;
  gone->owner->out--;
  memset(gone->memory, 0xEE, MEMORY); /* Whoever still reads it will see. */
  free(gone->memory);
  free(gone);
}

/* An own I420 picture whose luma is `number`. */
static rtcast_picture picture(breaker *self, int number) {
  loan *mine = malloc(sizeof *mine);
  mine->owner = self;
  mine->memory = malloc(MEMORY);
  memset(mine->memory, 128, MEMORY);
  memset(mine->memory, number & 0xFF, W * H);
  rtcast_picture it = {0};
  it.struct_size = sizeof it;
  it.format = RTCAST_I420;
  it.width = W;
  it.height = H;
  it.planes[0] = (rtcast_plane){mine->memory, W};
  it.planes[1] = (rtcast_plane){mine->memory + W * H, W / 2};
  it.planes[2] = (rtcast_plane){mine->memory + W * H * 5 / 4, W / 2};
  it.release = release;
  it.release_context = mine;
  return it;
}

static int32_t push(breaker *self, rtcast_picture *it) {
  self->out++;
  if (self->out > breaker_counts.most_out) breaker_counts.most_out = self->out;
  int32_t status = count(api->push_picture(self->host, it));
  if (status != RTCAST_OK) {
    self->out--;
    if (it->release == release) {
      loan *mine = it->release_context;
      free(mine->memory);
      free(mine);
    }
  }
  return status;
}

static int32_t push_good(breaker *self, int number, int64_t wait_ns) {
  rtcast_picture it = picture(self, number);
  it.wait_ns = wait_ns;
  return push(self, &it);
}

static int32_t push_borrowed(breaker *self, int number, int64_t wait_ns) {
  rtcast_picture it = {0};
  it.struct_size = sizeof it;
  it.format = RTCAST_BGRA;
  it.width = W;
  it.height = H;
  it.wait_ns = wait_ns;
  int32_t status = api->borrow_picture(self->host, &it);
  if (status != RTCAST_OK) return count(status);
  breaker_counts.borrowed++;
  for (int row = 0; row < H; row++) memset(it.planes[0].data + row * it.planes[0].stride, number & 0xFF, W * 4);
  status = count(api->push_picture(self->host, &it));
  if (status != RTCAST_OK) {
    it.flags = RTCAST_PICTURE_DISCARD;
    api->push_picture(self->host, &it);
  }
  return status;
}

static int32_t push_sound(breaker *self) {
  int16_t samples[960];
  float floats[960];
  for (int i = 0; i < 960; i++) samples[i] = (int16_t)(i % 2 ? 16384 : -16384), floats[i] = 0.25f;
  rtcast_sound it = {0};
  it.struct_size = sizeof it;
  it.format = RTCAST_S16;
  it.sample_rate = 48000;
  it.channels = 2;
  it.samples = samples;
  it.sample_count = 480;
  it.wait_ns = 20000000;
  if (is(self, "sound-struct")) it.struct_size = 8;
  if (is(self, "sound-rate")) it.sample_rate = 0;
  if (is(self, "sound-rate-high")) it.sample_rate = 0xFFFFFFFF;
  if (is(self, "sound-channels")) it.channels = 9;
  if (is(self, "sound-length")) it.sample_count = 0x7FFFFFFF;
  if (is(self, "sound-null")) it.samples = NULL;
  if (is(self, "sound-format")) it.format = 77;
  if (is(self, "sound-nan")) {
    it.format = RTCAST_F32;
    it.samples = floats;
    uint32_t nan = 0x7FC00000;
    memcpy(&floats[7], &nan, 4);
  }
  return count(api->push_sound(self->host, &it));
}

/* One picture with what `how` says wrong in it. */
static void push_bad(breaker *self, int number) {
  rtcast_picture it = picture(self, number);
  rtcast_rect outside = {10, 10, W, 5};
  if (is(self, "null-plane")) it.planes[1].data = NULL;
  if (is(self, "null-everything")) memset(it.planes, 0, sizeof it.planes);
  if (is(self, "short-stride")) it.planes[0].stride = W - 1;
  if (is(self, "negative-stride")) it.planes[0].stride = -W;
  if (is(self, "huge-stride")) it.planes[2].stride = INT64_MAX;
  if (is(self, "no-size")) it.width = 0;
  if (is(self, "negative-size")) it.height = -H;
  if (is(self, "huge-size")) it.width = it.height = INT32_MAX;
  if (is(self, "format")) it.format = 99;
  if (is(self, "rotation")) it.rotation = 45;
  if (is(self, "color")) it.color_space = RTCAST_COLOR_SRGB;
  if (is(self, "struct-size")) it.struct_size = 16;
  if (is(self, "unknown-buffer")) it.buffer = 4711;
  if (is(self, "damage")) it.damage = &outside, it.damage_count = 1;
  if (is(self, "backwards")) it.time_ns = now_ns() - (int64_t)number * 50000000;
  if (is(self, "far-past")) it.time_ns = 1000 + number;
  if (is(self, "far-future")) it.time_ns = INT64_MAX - 5;
  it.wait_ns = 5000000;
  push(self, &it);
  if (is(self, "foreign-planes")) {
    rtcast_picture own = picture(self, number), lent = own;
    lent.wait_ns = 5000000;
    if (api->borrow_picture(self->host, &lent) == RTCAST_OK) {
      rtcast_picture mixed = own;
      mixed.buffer = lent.buffer;
      count(api->push_picture(self->host, &mixed));
      lent.flags = RTCAST_PICTURE_DISCARD;
      api->push_picture(self->host, &lent);
    }
    loan *mine = own.release_context;
    free(mine->memory);
    free(mine);
  }
  if (is(self, "null-picture")) count(api->push_picture(self->host, NULL));
  if (is(self, "discard-unknown")) {
    rtcast_picture none = {0};
    none.struct_size = sizeof none;
    none.flags = RTCAST_PICTURE_DISCARD;
    none.buffer = 12345;
    count(api->push_picture(self->host, &none));
  }
}

static void crash(breaker *self) {
  if (is(self, "segv")) raise(SIGSEGV);
  if (is(self, "null-write")) *(volatile int *)8 = 1;
  if (is(self, "hang-in-restart")) raise(SIGSEGV);
  if (is(self, "abort")) abort();
  if (is(self, "exit")) _exit(3);
}

/* Borrows for ever and gives nothing back. */
static void hoard(breaker *self) {
  for (int i = 0; i < 100; i++) {
    rtcast_picture it = {0};
    it.struct_size = sizeof it;
    it.format = RTCAST_RGBA;
    it.width = W;
    it.height = H;
    int32_t status = count(api->borrow_picture(self->host, &it));
    if (status == RTCAST_OK) breaker_counts.borrowed++;
  }
}

static void *run(void *argument) {
  breaker *self = argument;
  if (is(self, "hoard")) hoard(self);
  for (int number = 1; !self->is_over; number++) {
    if (self->limit && number > self->limit) {
      crash(self);
      if (is(self, "finish")) api->say(self->host, RTCAST_SAY_FINISHED, NULL);
      if (is(self, "fail-later")) api->say(self->host, RTCAST_SAY_FAILED, "the lamp went out.");
      break;
    }
    if (is(self, "still")) {
      if (number == 1) push_good(self, 1, -1);
      pause_ms(2);
      continue;
    }
    if (is(self, "notice")) api->say(self->host, RTCAST_SAY_NOTICE, "warm\x1b[31m in here");
    if (!strncmp(self->how, "sound", 5)) {
      if (push_sound(self) == RTCAST_STOPPED) break;
      if (!is(self, "sound")) push_good(self, number, 0);
      continue;
    }
    if (is(self, "fast")) {
      if (push_good(self, number, 0) == RTCAST_STOPPED) break;
      continue;
    }
    if (is(self, "borrow")) {
      if (push_borrowed(self, number, -1) == RTCAST_STOPPED) break;
      continue;
    }
    push_bad(self, number);
    if (push_good(self, number, -1) == RTCAST_STOPPED) break;
  }
  /* Frames after the end, from a thread that nobody waits for; for a while, as the host has yet to come back from `stop`. */
  for (int late = 0; is(self, "late") && late < 2000; late += self->is_stopped) {
    push_good(self, 0, 0);
    pause_ms(1);
  }
  return NULL;
}

static int32_t start(rtcast_host *host, const rtcast_option *options, uint32_t option_count, rtcast_request *request,
                     void **instance) {
  breaker *self = calloc(1, sizeof *self);
  self->host = host;
  const char *marker = "";
  for (uint32_t i = 0; i < option_count; i++) {
    if (!strcmp(options[i].key, "do")) strncpy(self->how, options[i].value, sizeof self->how - 1);
    if (!strcmp(options[i].key, "marker")) marker = options[i].value;
    if (!strcmp(options[i].key, "limit")) self->limit = atoi(options[i].value);
  }
  breaker_counts.starts++;
  if (is(self, "crash-in-start")) raise(SIGSEGV);
  if (is(self, "hang-in-start")) hang();
  if (is(self, "hang-in-restart")) {
    if (access(marker, F_OK) == 0) hang();
    close(open(marker, O_CREAT | O_WRONLY, 0600));
  }
  if (is(self, "refuse") && getenv("RTCAST_TOKEN")) {
    api->say(host, RTCAST_SAY_FAILED, "it was told a secret.");
    return RTCAST_REFUSED;
  }
  if (is(self, "refuse") && !getenv("PATH")) {
    api->say(host, RTCAST_SAY_FAILED, "it was told no path.");
    return RTCAST_REFUSED;
  }
  if (is(self, "refuse")) {
    push_good(self, 1, 0);
    api->say(host, RTCAST_SAY_FAILED, "no camera is plugged in.");
    return RTCAST_REFUSED;
  }
  if (is(self, "nonsense-format")) request->width = -5, request->frames_per_second = 0.0 / 0.0, request->channels = 900;
  *instance = self;
  pthread_create(&self->thread, NULL, run, self);
  return RTCAST_OK;
}

static void halt(void *instance) {
  breaker *self = instance;
  breaker_counts.halts++;
  self->is_over = 1;
}

/* The instance is never freed, so that what comes too late is seen. */
static void stop(void *instance) {
  breaker *self = instance;
  if (is(self, "hang-in-stop")) hang();
  if (is(self, "late")) pthread_detach(self->thread);
  else pthread_join(self->thread, NULL);
  breaker_counts.stops++;
  self->is_stopped = 1;
}

RTCAST_PLUGIN_EXPORT int32_t rtcast_plugin_entry(rtcast_plugin *table) {
#ifdef ABI
  table->abi_version = ABI;
  memset((char *)table + sizeof *table, 0x55, 512); /* A newer, longer table. */
  return RTCAST_REFUSED;
#endif
#ifdef ENTRY_REFUSES
  return RTCAST_REFUSED;
#endif
#ifdef HANG_IN_ENTRY
  hang();
#endif
#ifdef CRASH_IN_ENTRY
  raise(SIGSEGV);
#endif
  api = table;
#ifdef EARLY
  rtcast_picture it = {0};
  it.struct_size = sizeof it;
  table->push_picture((rtcast_host *)table, &it);
  table->push_picture(NULL, &it);
#endif
  table->abi_version = RTCAST_PLUGIN_ABI;
  table->name = "breaker";
  table->summary = "Breaks a rule.";
#ifndef NO_TRAITS
  table->traits = RTCAST_HAS_PICTURES | RTCAST_HAS_SOUND;
#endif
#ifdef ONLY_SOUND
  table->traits = RTCAST_HAS_SOUND;
#endif
  table->width = W;
  table->height = H;
  table->frames_per_second = 1000;
  table->start = start;
  table->halt = halt;
#ifndef NO_STOP
  table->stop = stop;
#endif
  return RTCAST_OK;
}

#else
int unrelated(void) { return 1; }
#endif
