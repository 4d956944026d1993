/*
 * rtcast_plugin.h: pictures and sound for rtcast, from a shared library of your own.
 *
 * A plugin is a shared library that exports one function, rtcast_plugin_entry. It fills in its part of a table: what it
 * is called, what it makes, and three functions. rtcast has filled in the other four, by which the plugin hands over
 * what it made. Seven function pointers are the whole of it, and an eighth is kept free.
 *
 *     rtcast_plugin_entry(table)     once or more after the library was loaded
 *     table->start(...)              begin; the plugin starts a thread of its own and pushes from it
 *         table->push_picture(...)       as often as there is a new picture
 *         table->push_sound(...)         as often as there is new sound
 *     table->halt(instance)          cease; buffers on loan still come back
 *     table->stop(instance)          all buffers are back; free everything
 *
 * Build: cc -shared -fPIC -I DIR_OF_THIS_FILE -o libmine.so mine.c
 * Use:   rtcast plugin ./libmine.so --option speed=2
 *
 * This header is valid C99 and C++11. Every struct has fixed-width members at fixed offsets with all padding spelled
 * out, no bit-fields and no variable arguments, so that Rust (repr(C)), Zig (extern struct) and Go (cgo) can declare
 * the same thing by hand. Text is UTF-8 that ends in a zero byte.
 *
 * Rules
 *  - Threads: start, halt and stop are called one at a time, in this order, on threads of rtcast's. The functions of the
 *    host may be called from any thread and from several at once. `release` may be called on any thread, from inside a
 *    push too, so a plugin must not hold a lock while it pushes that its `release` takes.
 *  - A `start` that has not returned after 10 s, and a `stop` that has not after 2 s, is given up and told to the person
 *    who runs the cast: its thread is left behind, or its process ended under --isolate. An instance whose `start`
 *    returns later is stopped at once.
 *  - After `stop` has returned, no function of the plugin is called for that instance: not `release`, not anything.
 *  - Several instances may be live at once. Keep everything in the instance, nothing in globals.
 *  - The library is never unloaded. The table lives as long as the process.
 *  - What breaks a rule is refused (RTCAST_REFUSED), counted, and told once to the person who runs the cast.
 */
#ifndef RTCAST_PLUGIN_H
#define RTCAST_PLUGIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of all that is declared here. It changes only when an old plugin could not work any more; members that
 * are added take the place of reserved ones, which are zero in older plugins. */
#define RTCAST_PLUGIN_ABI 1u

/* Put before the entry function, so that it is exported under -fvisibility=hidden too. */
#if defined(__GNUC__)
#define RTCAST_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define RTCAST_PLUGIN_EXPORT
#endif

/* What the functions below return. */
enum {
  RTCAST_OK = 0,      /* Done. A pushed buffer belongs to the host now, until it calls `release`. */
  RTCAST_BUSY = 1,    /* Not taken, no room yet: push it again later, or drop it and make a newer one. */
  RTCAST_STOPPED = 2, /* Not taken: this instance was halted, or never started. Push no more. */
  RTCAST_REFUSED = 3  /* Not taken: something in it is wrong. Pushing the same again will not help. */
};
/* Whatever is not RTCAST_OK leaves the buffer with the plugin: `release` is not called for it. */

/* How the samples of a picture lie in memory; 8 bits a sample. */
enum {
  RTCAST_I420 = 1, /* Planes Y, U, V. Chroma has half the width and half the height, both rounded up. */
  RTCAST_I444 = 2, /* Planes Y, U, V of the full size. */
  RTCAST_NV12 = 3, /* Plane Y; then one plane with U and V in turn, half width and height (rounded up). */
  RTCAST_BGRA = 4, /* One plane, four bytes a pixel in memory order B, G, R, X; X is ignored. */
  RTCAST_RGBA = 5  /* One plane, four bytes a pixel in memory order R, G, B, X; X is ignored. */
};

/* The matrix and range a picture was made with. */
enum {
  RTCAST_COLOR_DEFAULT = 0,       /* sRGB for BGRA and RGBA, BT.601 limited for the others. */
  RTCAST_COLOR_BT601_LIMITED = 1, /* What browsers take VP8 for, at any size. */
  RTCAST_COLOR_BT709_LIMITED = 2,
  RTCAST_COLOR_SRGB = 3           /* BGRA and RGBA only. */
};

/* How samples of sound are written. */
enum {
  RTCAST_S16 = 1, /* int16_t, native byte order */
  RTCAST_F32 = 2  /* float, -1 to 1 */
};

/* What a plugin is; bits of rtcast_plugin.traits. */
enum {
  RTCAST_HAS_PICTURES = 1,
  RTCAST_HAS_SOUND = 2,
  RTCAST_IS_SCREENCAST = 4 /* Screens, slides, drawings: keep letters sharp and let frames go first. */
};

/* Bits of rtcast_picture.flags. */
enum {
  RTCAST_PICTURE_DISCARD = 1 /* Give a borrowed buffer back unseen. */
};

/* What rtcast_plugin.say is about. */
enum {
  RTCAST_SAY_NOTICE = 1,   /* A sentence for the person who runs the cast. */
  RTCAST_SAY_FINISHED = 2, /* There is nothing more to come: the cast ends well. The text may be NULL. */
  RTCAST_SAY_FAILED = 3    /* What went wrong, and what to do about it: the cast ends. */
};

/* One option as the person gave it: --option key=value. Valid until `start` returns. */
typedef struct rtcast_option {
  const char *key;
  const char *value; /* Never NULL; empty when nothing was given. */
} rtcast_option;

/* A rectangle of whole pixels; the picture's top left corner is 0, 0. */
typedef struct rtcast_rect {
  int32_t x;
  int32_t y;
  int32_t width;
  int32_t height;
} rtcast_rect;

/* One plane of a picture: where its first row starts, and how many bytes later the next one does. */
typedef struct rtcast_plane {
  uint8_t *data;
  int64_t stride; /* At least the bytes of one row; never negative. */
} rtcast_plane;

/* One picture. Set all of it to zero, then what applies: zero is the plain choice everywhere. */
typedef struct rtcast_picture {
  uint32_t struct_size; /* sizeof(rtcast_picture) */
  uint32_t format;      /* RTCAST_I420 ... */
  int32_t width;        /* 2 to 16384 pixels; odd is fine. May differ from picture to picture. */
  int32_t height;
  rtcast_plane planes[3]; /* As many as the format has. Unchanging from a push that returned RTCAST_OK to `release`. */
  int64_t time_ns;        /* When the picture was taken, on CLOCK_MONOTONIC; 0 = now. Never backwards. */
  uint32_t rotation;      /* Clockwise turn the viewer is to apply: 0, 90, 180 or 270. */
  uint32_t color_space;   /* RTCAST_COLOR_DEFAULT ... */
  const rtcast_rect *damage; /* What changed since the last picture that was taken (RTCAST_OK); NULL = unknown, so
                                everything. Read before the push returns. */
  uint32_t damage_count;     /* With damage not NULL, 0 = nothing changed. */
  uint32_t flags;            /* 0, or RTCAST_PICTURE_DISCARD. */
  int64_t wait_ns;           /* How long the push may wait for room: 0 = not at all, -1 = until there is room or the
                                instance is halted. */
  uint64_t buffer;           /* Set by borrow_picture; 0 = the planes are the plugin's own. */
  void (*release)(void *context); /* For own planes: called once when nobody reads them any more. NULL = the memory
                                     stays as it is for ever (a still picture). Ignored for borrowed ones. */
  void *release_context;
  uint64_t reserved[4]; /* Zero. */
} rtcast_picture;

/* A stretch of sound of any length up to one second. Set all of it to zero, then what applies. */
typedef struct rtcast_sound {
  uint32_t struct_size;  /* sizeof(rtcast_sound) */
  uint32_t format;       /* RTCAST_S16 or RTCAST_F32 */
  uint32_t sample_rate;  /* 8000 to 384000 a second. May differ from push to push. */
  uint32_t channels;     /* 1 to 8 */
  const void *samples;   /* Of all channels in turn; copied before the push returns. */
  uint32_t sample_count; /* Of one channel, so `samples` holds sample_count x channels. */
  uint32_t flags;        /* Zero. */
  int64_t time_ns;       /* When the first sample was heard, on CLOCK_MONOTONIC; 0 = right after the sound before. */
  int64_t wait_ns;       /* As in rtcast_picture. */
  void (*release)(void *context); /* May be NULL. Called once, before a push that returns RTCAST_OK returns. */
  void *release_context;
  uint64_t reserved[2]; /* Zero. */
} rtcast_sound;

/* What `start` is asked for and may correct to what it will deliver. */
typedef struct rtcast_request {
  uint32_t struct_size;     /* sizeof(rtcast_request) of the host */
  int32_t width;            /* Pixels wanted; 0 = the plugin's choice. A plugin may deliver another size. */
  int32_t height;
  uint32_t reserved_0;      /* Zero. */
  double frames_per_second; /* The most that is taken; more are answered with RTCAST_BUSY. */
  uint32_t sample_rate;     /* 48000 is cheapest: what is sent. */
  uint32_t channels;        /* 2 at most are sent; more are mixed down. */
  uint64_t reserved[4];     /* Zero. */
} rtcast_request;

/* The host's side of one started instance. Only ever passed back. */
typedef struct rtcast_host rtcast_host;

/* The table: versioned, one for each load of a library. The host fills in the upper part before it calls the entry
 * function, the plugin the lower part inside it. */
typedef struct rtcast_plugin {
  uint32_t abi_version; /* The host's RTCAST_PLUGIN_ABI; the plugin writes its own over it, whether equal or not. */
  uint32_t table_size;  /* sizeof(rtcast_plugin) of the host. A plugin writes nothing beyond it. */

  /* Filled in by the host. */

  /* Hands over a picture. RTCAST_BUSY while another waits to be sent, four are out, or more come than were asked for. */
  int32_t (*push_picture)(rtcast_host *host, const rtcast_picture *picture);

  /* Hands over sound. RTCAST_BUSY while it begins more than a tenth of a second after the present, so a plugin that
   * makes sound without a clock may push with wait_ns = -1 and is held to real time; and while half a second waits. */
  int32_t (*push_sound)(rtcast_host *host, const rtcast_sound *sound);

  /* Lends a buffer to draw a picture into: give struct_size, format, width, height and wait_ns, and get planes and
   * buffer. Push it, or give it back by pushing it with RTCAST_PICTURE_DISCARD; until then it is the plugin's. The
   * bytes in it are whatever an earlier picture left. Not needed for memory of one's own, except to do without a copy
   * under --isolate too. RTCAST_BUSY while four are out. */
  int32_t (*borrow_picture)(rtcast_host *host, rtcast_picture *picture);

  /* Tells something, RTCAST_SAY_NOTICE ... May be called inside `start`, so that a failure to start has a reason. */
  void (*say)(rtcast_host *host, uint32_t about, const char *text);

  /* Filled in by the plugin. */

  /* Begins to make pictures and sound, on a thread of the plugin's own, and returns soon. Pictures may be pushed from
   * inside already. Puts what identifies this instance into *instance. Returns RTCAST_OK, or anything else when it
   * cannot start: then neither halt nor stop is called, but what it pushed is still released. */
  int32_t (*start)(rtcast_host *host, const rtcast_option *options, uint32_t option_count, rtcast_request *request,
                   void **instance);

  /* Ceases: every push from now on is answered with RTCAST_STOPPED, and one that waits returns. A plugin lets go of
   * its device here. Buffers on loan are still released afterwards. May be NULL when `stop` is enough. */
  void (*halt)(void *instance);

  /* Ends the instance: wait for the own thread, free everything. Called once every buffer is back, which is at once or
   * a moment after `halt`. */
  void (*stop)(void *instance);

  void (*reserved_function)(void); /* NULL. */

  const char *name;         /* A word, for lists and logs: "waves". */
  const char *summary;      /* A sentence: "A moving waveform with its sound." */
  const char *options_help; /* A line for each option, or NULL: "speed=N  beats a second, 1 to 9 (default 2)". */
  uint32_t traits;          /* RTCAST_HAS_PICTURES ..., at least one of pictures and sound. */
  int32_t width;            /* The size it makes unless asked for another; 0 = known only from its pictures. */
  int32_t height;
  uint32_t reserved_0;      /* Zero. */
  double frames_per_second; /* What it makes unless asked for less; 0 = unknown. */
  uint64_t reserved[8];     /* Zero. */
} rtcast_plugin;

/* The one symbol a plugin exports. Fills in the lower part of the table and returns RTCAST_OK, or anything else when
 * this machine or this host does not suit it. Starts nothing and pushes nothing. */
RTCAST_PLUGIN_EXPORT int32_t rtcast_plugin_entry(rtcast_plugin *table);

#ifdef __cplusplus
}
#endif

#endif
