/*
 * waves: a plugin for rtcast that draws a moving waveform and plays it.
 *
 *     cc -O2 -shared -fPIC -I Sources/CRTCastPlugin/include -o libwaves.so Snippets/plugin/waves.c -lm -lpthread
 *     rtcast plugin ./libwaves.so --option tone=440
 *
 * The wave on the screen is the one that is heard, slowed down a hundredfold. Two threads push: one draws into buffers
 * borrowed from the host, so that no picture is ever copied, the other makes sound and is held to real time by the host.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rtcast_plugin.h"

#define TAU 6.283185307179586
#define RATE 48000
#define BLOCK (RATE / 100)

/* The host's functions, the same for every instance. */
static rtcast_plugin *api;

typedef struct waves {
  rtcast_host *host;
  int32_t width, height;
  int64_t interval_ns;
  double tone;   /* Hz */
  double volume; /* 0 to 1 */
  pthread_t painter, player;
} waves;

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void sleep_until(int64_t when_ns) {
  struct timespec time = {.tv_sec = when_ns / 1000000000, .tv_nsec = when_ns % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0) {
  }
}

/* The row of the wave in each column: two sines that slide over one another. */
static double height_at(const waves *self, int32_t x, double seconds) {
  double phase = TAU * (self->tone / 100 * x / self->width - seconds / 2);
  return 0.5 + 0.35 * sin(phase) * cos(phase / 7 + seconds);
}

/* A dark field, a bright line as thick as the wave is steep, and a glow below it. */
static void draw(const waves *self, const rtcast_picture *picture, double seconds) {
  const rtcast_plane *y = &picture->planes[0], *u = &picture->planes[1], *v = &picture->planes[2];
  for (int32_t row = 0; row < self->height; row++) memset(y->data + row * y->stride, 24, (size_t)self->width);
  for (int32_t row = 0; row < (self->height + 1) / 2; row++) {
    memset(u->data + row * u->stride, 150, (size_t)(self->width + 1) / 2);
    memset(v->data + row * v->stride, 110, (size_t)(self->width + 1) / 2);
  }
  for (int32_t x = 0; x < self->width; x++) {
    int32_t here = (int32_t)(height_at(self, x, seconds) * self->height);
    int32_t next = (int32_t)(height_at(self, x + 1, seconds) * self->height);
    int32_t top = (here < next ? here : next) - 1, bottom = (here < next ? next : here) + 1;
    if (top < 0) top = 0;
    if (bottom >= self->height) bottom = self->height - 1;
    for (int32_t row = top; row <= bottom; row++) y->data[row * y->stride + x] = 235;
    for (int32_t row = bottom + 1; row < self->height && row < bottom + 40; row++)
      y->data[row * y->stride + x] = (uint8_t)(104 - 2 * (row - bottom));
  }
}

static void *paint(void *argument) {
  waves *self = argument;
  int64_t start = now_ns(), due = start;
  for (;;) {
    rtcast_picture picture = {0};
    picture.struct_size = sizeof picture;
    picture.format = RTCAST_I420;
    picture.width = self->width;
    picture.height = self->height;
    picture.wait_ns = -1;
    if (api->borrow_picture(self->host, &picture) != RTCAST_OK) return NULL;
    picture.time_ns = now_ns();
    draw(self, &picture, (double)(picture.time_ns - start) / 1e9);
    if (api->push_picture(self->host, &picture) != RTCAST_OK) return NULL; /* stopped */
    due += self->interval_ns;
    if (due < now_ns()) due = now_ns();
    sleep_until(due);
  }
}

static void *play(void *argument) {
  waves *self = argument;
  float samples[BLOCK * 2];
  double phase = 0;
  for (;;) {
    for (int i = 0; i < BLOCK; i++) {
      samples[2 * i] = samples[2 * i + 1] = (float)(self->volume * sin(phase));
      phase = fmod(phase + TAU * self->tone / RATE, TAU);
    }
    rtcast_sound sound = {0};
    sound.struct_size = sizeof sound;
    sound.format = RTCAST_F32;
    sound.sample_rate = RATE;
    sound.channels = 2;
    sound.samples = samples;
    sound.sample_count = BLOCK;
    sound.wait_ns = -1;
    if (api->push_sound(self->host, &sound) != RTCAST_OK) return NULL; /* stopped */
  }
}

/* Returns 0 when `text` is no number between the limits. */
static int read_number(const char *text, double low, double high, double *number) {
  char *end;
  double value = strtod(text, &end);
  if (end == text || *end || !(value >= low && value <= high)) return 0;
  *number = value;
  return 1;
}

static int32_t start(rtcast_host *host, const rtcast_option *options, uint32_t count, rtcast_request *request,
                     void **instance) {
  waves *self = calloc(1, sizeof *self);
  if (!self) return RTCAST_REFUSED;
  self->host = host;
  self->tone = 440;
  self->volume = 0.2;
  self->width = request->width ? request->width : 1280;
  self->height = request->height ? request->height : 720;
  double rate = fmin(60, fmax(5, request->frames_per_second)); /* Never slower, so that `stop` need not wait long. */
  self->interval_ns = (int64_t)(1e9 / rate);
  const char *complaint = NULL;
  for (uint32_t i = 0; i < count; i++) {
    if (!strcmp(options[i].key, "tone")) {
      if (!read_number(options[i].value, 20, 20000, &self->tone)) complaint = "tone goes from 20 to 20000 Hz.";
    } else if (!strcmp(options[i].key, "volume")) {
      if (!read_number(options[i].value, 0, 1, &self->volume)) complaint = "volume goes from 0 to 1.";
    } else {
      complaint = "its options are tone and volume.";
    }
  }
  if (complaint) {
    api->say(host, RTCAST_SAY_FAILED, complaint);
    free(self);
    return RTCAST_REFUSED;
  }
  request->width = self->width;
  request->height = self->height;
  request->frames_per_second = rate;
  pthread_create(&self->painter, NULL, paint, self);
  pthread_create(&self->player, NULL, play, self);
  *instance = self;
  return RTCAST_OK;
}

/* Every push has been answered with RTCAST_STOPPED by now, or will be. */
static void stop(void *instance) {
  waves *self = instance;
  pthread_join(self->painter, NULL);
  pthread_join(self->player, NULL);
  free(self);
}

RTCAST_PLUGIN_EXPORT int32_t rtcast_plugin_entry(rtcast_plugin *table) {
  uint32_t host_version = table->abi_version;
  table->abi_version = RTCAST_PLUGIN_ABI;
  if (host_version != RTCAST_PLUGIN_ABI) return RTCAST_REFUSED;
  api = table;
  table->name = "waves";
  table->summary = "A moving waveform with its sound.";
  table->options_help = "tone=HZ  what is heard, 20 to 20000 (default 440)\nvolume=N  0 to 1 (default 0.2)";
  table->traits = RTCAST_HAS_PICTURES | RTCAST_HAS_SOUND;
  table->width = 1280;
  table->height = 720;
  table->frames_per_second = 30;
  table->start = start;
  table->stop = stop;
  return RTCAST_OK;
}
