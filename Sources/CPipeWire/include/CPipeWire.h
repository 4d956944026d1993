// A stream of pictures from PipeWire, of which libpipewire-0.3 is loaded when the first one is opened: a machine without it still
// runs the program. One thread uses a stream, and all callbacks come on it, within `cpipewire_iterate`. Numbers in shared memory
// are read once; the numbers of `cpipewire_picture` are those of the other side, unchecked.
#ifndef CPIPEWIRE_H
#define CPIPEWIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { cpipewire_most_rects = 16, cpipewire_most_cursor_side = 384 };

// The order of bytes of a pixel; the fourth is ignored.
enum { cpipewire_bgrx = 0, cpipewire_rgbx = 1 };

// The place of a buffer's bytes.
enum cpipewire_place {
  // A file that programs share. Its descriptor stays open until the buffer is removed.
  cpipewire_file,
  // A DMA-BUF whose rows lie one after another. Its descriptor stays open until the buffer is removed.
  cpipewire_device,
  // Memory that PipeWire has mapped. It is unmapped when the buffer is removed.
  cpipewire_mapped
};

struct cpipewire_memory {
  enum cpipewire_place place;
  // -1 for `cpipewire_mapped`.
  int descriptor;
  // Null for the others.
  const void *address;
  // The first byte in the file; 0 for `cpipewire_mapped`. The number of bytes, as the other side states it.
  uint32_t offset, size;
};

// The pictures that are asked for.
struct cpipewire_wish {
  // Pictures a second, at most.
  uint32_t rate;
  // The size of a monitor that is made for this stream; 0: the pictures have a size of their own.
  uint32_t width, height;
};

enum cpipewire_state {
  cpipewire_connecting,
  cpipewire_paused,
  cpipewire_streaming,
  // PipeWire is there, but the node is not.
  cpipewire_node_removed,
  cpipewire_ended
};

struct cpipewire_rect {
  int32_t x, y;
  uint32_t width, height;
};

// What a buffer holds now.
struct cpipewire_picture {
  uint32_t offset, size;
  int32_t stride;
  // The chunk, or the header, says that the pixels are not to be used.
  bool is_corrupted;
  // Pictures before this one did not come.
  bool follows_gap;
  // On the monotonic clock, in nanoseconds; 0: unknown.
  int64_t time;
  // -1: unknown.
  int32_t damage_count;
  struct cpipewire_rect damage[cpipewire_most_rects];
  bool has_crop;
  struct cpipewire_rect crop;
  // A value of `wl_output.transform`.
  uint32_t transform;
  // Whether the stream tells of the pointer, and whether the pointer is in the picture.
  bool tells_cursor, has_cursor;
  int32_t cursor_x, cursor_y;
};

// The image of a pointer, copied.
struct cpipewire_cursor_image {
  int32_t hot_x, hot_y;
  uint32_t width, height;
  // 0xAARRGGBB, the colours multiplied by alpha. The caller's, with room for the largest image.
  uint32_t *pixels;
};

struct cpipewire_listener {
  void *owner;
  // `text` is null, or what PipeWire says of an error.
  void (*state)(void *owner, enum cpipewire_state state, const char *text);
  void (*format)(void *owner, uint32_t width, uint32_t height, int order);
  // A buffer in memory that can be read. Other buffers are not announced.
  void (*added)(void *owner, void *buffer, const struct cpipewire_memory *memory);
  void (*removed)(void *owner, void *buffer);
  // Buffers can be taken.
  void (*ready)(void *owner);
};

struct cpipewire_stream;

// What the dynamic linker says if libpipewire-0.3 cannot be loaded; null when it is there. Loads it.
const char *cpipewire_missing(void);

// The version of the library; null without it.
const char *cpipewire_version(void);

// Connects to PipeWire by `descriptor`, which is closed in the end, or to the session's if it is -1; and then to `node`. Null if
// that fails, with errno. The listener must outlive the stream.
struct cpipewire_stream *cpipewire_open(
    int descriptor, uint32_t node, const struct cpipewire_wish *wish, const struct cpipewire_listener *listener);

// No callback comes any more.
void cpipewire_close(struct cpipewire_stream *stream);

// Readable when `cpipewire_iterate` has something to do.
int cpipewire_descriptor(struct cpipewire_stream *stream);

// Does what is to be done, without waiting.
void cpipewire_iterate(struct cpipewire_stream *stream);

// The next filled buffer, or null.
void *cpipewire_take(struct cpipewire_stream *stream, struct cpipewire_picture *picture);

// Whether the buffer has a new image of the pointer, which is then copied; of no size if the pointer is hidden.
bool cpipewire_cursor_image(void *buffer, struct cpipewire_cursor_image *image);

// Gives a taken buffer back, to be filled again.
void cpipewire_give(struct cpipewire_stream *stream, void *buffer);

#endif
