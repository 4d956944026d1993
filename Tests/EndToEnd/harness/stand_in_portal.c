// A desktop portal that shares a picture of its own over PipeWire, in memory of a chosen kind. It has no dialog.
//
//   stand_in_portal SOURCES MEMORY SIZE FORMAT...
//
// SOURCES is the portal's AvailableSourceTypes. MEMORY is file, device, unsealed-device (a shared file that is passed on as DMA-BUF)
// or pointer (PipeWire's own memory). SIZE is WxH, or 0x0 for any that is asked for. Each FORMAT is plain (no modifier), linear,
// tiled, choice (tiled or linear), or deep (ten bits a colour). Lines of the FIFO "control" say what is shown:
//   fill RRGGBB     left half in this colour, right half in its complement
//   short RRGGBB    likewise, with a stride that is too small
//   outside RRGGBB  likewise, with the right stride, but said to begin at the end of the memory
//   empty RRGGBB    likewise, and said to have no bytes
//   false RRGGBB    likewise, but the picture is said to be corrupted
//   lose RRGGBB     likewise, a true picture; the one before it is said to be lost
//   break RRGGBB    likewise, and said not to continue what came before
//   size W H        another size
// and what is told with the pictures from then on:
//   damage X Y W H  what has changed; without a size: not told
//   crop X Y W H    the part that is meant; without a size: all
//   transform N     how it is turned, as in wl_output
//   cursor X Y RRGGBB       a pointer of 8x8 pixels in this colour
//   cursor hidden
//   quiet           no picture comes by itself any more
// or what is refused:
//   refuse COUNT    so many of the next sessions end without a reason
//   disconnect COUNT        so many of the next sessions have no connection to PipeWire
// or end it:
//   close           the session is ended
//   remove          the stream is, without a word; there is another one for who asks again
//   leave           likewise, and the session 0.8 s later
//   vanish          each stream is removed when it is connected, before its first picture
// The picture comes again five times a second. What happens is written to standard output, a line each.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spa/param/buffers.h>
#include <spa/param/video/format-utils.h>
#include <spa/pod/builder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>
#include <time.h>
#include <unistd.h>

#include "pipewire.h"

void pw_init(int *count, char ***words);
struct pw_loop *pw_loop_new(const void *properties);
struct pw_context *pw_context_new(struct pw_loop *loop, struct pw_properties *properties, size_t size);
struct pw_core *pw_context_connect(struct pw_context *context, struct pw_properties *properties, size_t size);
struct pw_properties *pw_properties_new_string(const char *text);
struct pw_stream *pw_stream_new(struct pw_core *core, const char *name, struct pw_properties *properties);
void pw_stream_destroy(struct pw_stream *stream);
void pw_stream_add_listener(struct pw_stream *, struct spa_hook *, const struct pw_stream_events *, void *data);
int pw_stream_connect(struct pw_stream *, int direction, uint32_t target, int flags, const struct spa_pod **, uint32_t count);
int pw_stream_update_params(struct pw_stream *, const struct spa_pod **params, uint32_t count);
struct pw_buffer *pw_stream_dequeue_buffer(struct pw_stream *);
int pw_stream_queue_buffer(struct pw_stream *, struct pw_buffer *);
uint32_t pw_stream_get_node_id(struct pw_stream *);
int pw_stream_trigger_process(struct pw_stream *);

enum { output = 1, driver = 1 << 3, map_buffers = 1 << 2, alloc_buffers = 1 << 8, gap = 64, most_formats = 4 };
static const int64_t tiled = 0x0100000000000001, linear = 0;

static struct pw_loop *loop;
static struct pw_core *core;
static struct pw_stream *stream;
static sd_bus *bus;
static uint32_t sources, width, height, shown_width, shown_height, colour = 0x204060;
static const char *memory;
static char **formats;
static int format_count;
static enum { good, is_short, is_outside, is_empty, is_false } fault;
static bool is_broken, is_quiet, is_vanishing, is_connected;
static uint64_t sequence;
static int refused, disconnected;
static struct timespec closes;
static struct spa_region damage, crop;
static uint32_t transform;
static struct {
  bool is_told, is_hidden;
  int x, y;
  uint32_t colour;
} cursor;
enum { cursor_side = 8, cursor_size = sizeof(struct spa_meta_cursor) + sizeof(struct spa_meta_bitmap) + 64 * 64 * 4 };

static bool is(const char *word, const char *other) { return !strcmp(word, other); }
static bool is_device(void) { return strstr(memory, "device") != NULL; }

#define SAY(...) (printf(__VA_ARGS__), putchar('\n'), fflush(stdout))

// MARK: The stream

static const struct spa_pod *format(struct spa_pod_builder *builder, const char *word) {
  struct spa_rectangle usual = SPA_RECTANGLE(640, 480), least = SPA_RECTANGLE(1, 1), most = SPA_RECTANGLE(8192, 8192);
  struct spa_rectangle size = SPA_RECTANGLE(width, height);
  struct spa_fraction any = SPA_FRACTION(0, 1), highest = SPA_FRACTION(60, 1), slowest = SPA_FRACTION(1, 1);
  struct spa_pod_frame frame, choice;
  spa_pod_builder_push_object(builder, &frame, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
  spa_pod_builder_add(
      builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
      SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_VIDEO_format,
      SPA_POD_Id(is(word, "deep") ? SPA_VIDEO_FORMAT_xBGR_210LE : SPA_VIDEO_FORMAT_BGRx), 0);
  if (is(word, "choice")) {
    spa_pod_builder_prop(
        builder, SPA_FORMAT_VIDEO_modifier, SPA_POD_PROP_FLAG_MANDATORY | SPA_POD_PROP_FLAG_DONT_FIXATE);
    spa_pod_builder_push_choice(builder, &choice, SPA_CHOICE_Enum, 0);
    spa_pod_builder_long(builder, tiled);
    spa_pod_builder_long(builder, tiled);
    spa_pod_builder_long(builder, linear);
    spa_pod_builder_pop(builder, &choice);
  } else if (!is(word, "plain") && !is(word, "deep")) {
    spa_pod_builder_prop(builder, SPA_FORMAT_VIDEO_modifier, SPA_POD_PROP_FLAG_MANDATORY);
    spa_pod_builder_long(builder, is(word, "tiled") ? tiled : linear);
  }
  if (width) {
    spa_pod_builder_add(builder, SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&size), 0);
  } else {
    spa_pod_builder_add(builder, SPA_FORMAT_VIDEO_size, SPA_POD_CHOICE_RANGE_Rectangle(&usual, &least, &most), 0);
  }
  spa_pod_builder_add(
      builder, SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&any), SPA_FORMAT_VIDEO_maxFramerate,
      SPA_POD_CHOICE_RANGE_Fraction(&highest, &slowest, &highest), 0);
  return spa_pod_builder_pop(builder, &frame);
}

static uint32_t all_formats(struct spa_pod_builder *builder, const struct spa_pod *params[most_formats]) {
  for (int index = 0; index < format_count; index++) params[index] = format(builder, formats[index]);
  return (uint32_t)format_count;
}

static void offer_again(void) {
  uint8_t bytes[4096];
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof bytes);
  const struct spa_pod *params[most_formats];
  uint32_t count = all_formats(&builder, params);
  pw_stream_update_params(stream, params, count);
}

static const struct spa_pod *meta(struct spa_pod_builder *builder, enum spa_meta_type type, int32_t size) {
  return spa_pod_builder_add_object(
      builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(type), SPA_PARAM_META_size,
      SPA_POD_Int(size));
}

static void param_changed(void *data, uint32_t id, const struct spa_pod *param) {
  struct spa_video_info_raw info = {0};
  (void)data;
  if (id != SPA_PARAM_Format || !param) return;
  const struct spa_pod_prop *modifier = spa_pod_find_prop(param, NULL, SPA_FORMAT_VIDEO_modifier);
  spa_format_video_raw_parse(param, &info);
  shown_width = info.size.width;
  shown_height = info.size.height;
  SAY("format %ux%u %s", shown_width, shown_height, modifier ? info.modifier ? "tiled" : "linear" : "plain");
  int type = is(memory, "pointer") ? SPA_DATA_MemPtr : modifier ? SPA_DATA_DmaBuf : SPA_DATA_MemFd;
  int32_t stride = (int32_t)shown_width * 4 + gap;
  uint8_t bytes[2048];
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof bytes);
  const struct spa_pod *params[] = {
      spa_pod_builder_add_object(
          &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers, SPA_POD_CHOICE_RANGE_Int(6, 2, 8),
          SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1), SPA_PARAM_BUFFERS_size, SPA_POD_Int(stride * (int32_t)shown_height),
          SPA_PARAM_BUFFERS_stride, SPA_POD_Int(stride), SPA_PARAM_BUFFERS_dataType, SPA_POD_CHOICE_FLAGS_Int(1 << type)),
      meta(&builder, SPA_META_Header, sizeof(struct spa_meta_header)), meta(&builder, SPA_META_VideoDamage, sizeof damage * 4),
      meta(&builder, SPA_META_VideoCrop, sizeof crop), meta(&builder, SPA_META_VideoTransform, sizeof(struct spa_meta_videotransform)),
      meta(&builder, SPA_META_Cursor, cursor_size)};
  pw_stream_update_params(stream, params, sizeof params / sizeof *params);
}

// Memory for a picture that programs share.
static void add_buffer(void *data, struct pw_buffer *buffer) {
  struct spa_data *block = &buffer->buffer->datas[0];
  (void)data;
  if (!is(memory, "pointer")) {
    bool device = is_device() && block->type & 1 << SPA_DATA_DmaBuf;
    size_t count = (size_t)(shown_width * 4 + gap) * shown_height;
    int file = memfd_create("picture", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0 || ftruncate(file, (off_t)count)) abort();
    if (!is(memory, "unsealed-device") && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK)) abort();
    block->type = device ? SPA_DATA_DmaBuf : SPA_DATA_MemFd;
    block->fd = file;
    block->maxsize = (uint32_t)count;
    block->mapoffset = 0;
    block->flags = SPA_DATA_FLAG_READWRITE;
    block->data = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  SAY("buffer %s", block->type == SPA_DATA_MemFd ? "MemFd" : block->type == SPA_DATA_DmaBuf ? "DmaBuf"
      : block->type == SPA_DATA_MemPtr ? "MemPtr" : "other");
}

static void remove_buffer(void *data, struct pw_buffer *buffer) {
  struct spa_data *block = &buffer->buffer->datas[0];
  (void)data;
  if (is(memory, "pointer")) return;
  munmap(block->data, block->maxsize);
  close((int)block->fd);
}

static void *told(struct pw_buffer *buffer, enum spa_meta_type type, size_t size) {
  void *place = spa_buffer_find_meta_data(buffer->buffer, type, size);
  return place ? memset(place, 0, size) : NULL;
}

static void tell(struct pw_buffer *buffer) {
  struct spa_meta_region *regions = told(buffer, SPA_META_VideoDamage, 2 * sizeof *regions);
  if (regions) regions[0].region = damage;
  struct spa_meta_region *part = told(buffer, SPA_META_VideoCrop, sizeof *part);
  if (part) part->region = crop;
  struct spa_meta_videotransform *turn = told(buffer, SPA_META_VideoTransform, sizeof *turn);
  if (turn) turn->transform = transform;
  struct spa_meta_cursor *pointer = told(buffer, SPA_META_Cursor, cursor_size);
  if (!pointer || !cursor.is_told || cursor.is_hidden) return;
  *pointer = (struct spa_meta_cursor){
      .id = 1, .position = SPA_POINT(cursor.x, cursor.y), .hotspot = SPA_POINT(0, 0), .bitmap_offset = sizeof *pointer};
  struct spa_meta_bitmap *bitmap = (void *)(pointer + 1);
  *bitmap = (struct spa_meta_bitmap){
      .format = SPA_VIDEO_FORMAT_BGRA, .size = SPA_RECTANGLE(cursor_side, cursor_side), .stride = cursor_side * 4,
      .offset = sizeof *bitmap};
  for (int index = 0; index < cursor_side * cursor_side; index++) ((uint32_t *)(bitmap + 1))[index] = 0xff000000 | cursor.colour;
}

static void process(void *data) {
  // Counts pictures for which there is no buffer, too.
  sequence++;
  struct pw_buffer *buffer = pw_stream_dequeue_buffer(stream);
  (void)data;
  if (!buffer) return;
  struct spa_data *block = &buffer->buffer->datas[0];
  uint32_t stride = shown_width * 4 + gap;
  bool fits = block->data && block->maxsize >= stride * shown_height;
  for (uint32_t y = 0; fits && y < shown_height; y++) {
    uint32_t *row = (uint32_t *)((uint8_t *)block->data + y * stride);
    for (uint32_t x = 0; x < shown_width; x++) row[x] = x < shown_width / 2 ? colour : ~colour & 0xffffff;
    // The gap shows if it is taken for pixels.
    memset(row + shown_width, 0xaa, gap);
  }
  block->chunk->offset = fault == is_outside ? block->maxsize : 0;
  block->chunk->size = fits && fault != is_empty ? stride * shown_height : 0;
  block->chunk->stride = fault == is_short ? (int32_t)shown_width * 4 - 4 : (int32_t)stride;
  block->chunk->flags = fits && fault != is_false ? 0 : SPA_CHUNK_FLAG_CORRUPTED;
  struct spa_meta_header *header = spa_buffer_find_meta_data(buffer->buffer, SPA_META_Header, sizeof *header);
  if (header) *header = (struct spa_meta_header){.flags = is_broken ? SPA_META_HEADER_FLAG_DISCONT : 0, .seq = sequence};
  is_broken = false;
  tell(buffer);
  pw_stream_queue_buffer(stream, buffer);
  SAY("shown %06x", colour);
}

static void show(void) {
  if (stream && !is_vanishing) pw_stream_trigger_process(stream);
}

static void state_changed(void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error) {
  (void)data, (void)old;
  if (error) SAY("failed: %s", error);
  is_connected = state == PW_STREAM_STATE_STREAMING;
  if (is_connected) show();
}

static const struct pw_stream_events events = {
    0, .state_changed = state_changed, .param_changed = param_changed, .add_buffer = add_buffer,
    .remove_buffer = remove_buffer, .process = process};

static void open_stream(void) {
  static struct spa_hook hook;
  stream = pw_stream_new(core, "desktop", pw_properties_new_string("media.class=Video/Source media.role=Screen node.name=desktop"));
  pw_stream_add_listener(stream, &hook, &events, NULL);
  uint8_t bytes[4096];
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof bytes);
  const struct spa_pod *params[most_formats];
  uint32_t params_count = all_formats(&builder, params);
  pw_stream_connect(stream, output, UINT32_MAX, driver | (is(memory, "pointer") ? map_buffers : alloc_buffers), params, params_count);
  while (pw_stream_get_node_id(stream) == UINT32_MAX) spa_loop_control_iterate(loop->control, -1);
  SAY("node %u", pw_stream_get_node_id(stream));
}

// MARK: The portal

// The request that the message begins is answered: by its path, and then by a signal that `answer` fills.
static int begin(sd_bus_message *message, const char *options, sd_bus_message **signal) {
  const char *key, *token = "none";
  char sender[64], path[256];
  if (*options) sd_bus_message_skip(message, options);
  sd_bus_message_enter_container(message, 'a', "{sv}");
  while (sd_bus_message_enter_container(message, 'e', "sv") > 0) {
    uint32_t types;
    sd_bus_message_read(message, "s", &key);
    if (is(key, "handle_token")) {
      sd_bus_message_read(message, "v", "s", &token);
    } else if (is(key, "types")) {
      sd_bus_message_read(message, "v", "u", &types);
      SAY("types %u", types);
    } else if (is(key, "persist_mode")) {
      sd_bus_message_read(message, "v", "u", &types);
      SAY("persist %u", types);
    } else {
      sd_bus_message_skip(message, "v");
    }
    sd_bus_message_exit_container(message);
  }
  snprintf(sender, sizeof sender, "%s", sd_bus_message_get_sender(message) + 1);
  for (char *letter = sender; *letter; letter++)
    if (*letter == '.') *letter = '_';
  snprintf(path, sizeof path, "/org/freedesktop/portal/desktop/request/%s/%s", sender, token);
  sd_bus_reply_method_return(message, "o", path);
  return sd_bus_message_new_signal(bus, signal, path, "org.freedesktop.portal.Request", "Response");
}

static int create_session(sd_bus_message *message, void *data, sd_bus_error *error) {
  sd_bus_message *signal = NULL;
  (void)data, (void)error;
  begin(message, "", &signal);
  SAY("asked");
  sd_bus_message_append(signal, "ua{sv}", 0, 1, "session_handle", "s", "/session");
  sd_bus_send(bus, signal, NULL);
  return 1;
}

static int select_sources(sd_bus_message *message, void *data, sd_bus_error *error) {
  sd_bus_message *signal = NULL;
  (void)data, (void)error;
  begin(message, "o", &signal);
  sd_bus_message_append(signal, "ua{sv}", 0, 0);
  sd_bus_send(bus, signal, NULL);
  return 1;
}

static int start(sd_bus_message *message, void *data, sd_bus_error *error) {
  sd_bus_message *signal = NULL;
  (void)data, (void)error;
  if (!stream) open_stream();
  begin(message, "os", &signal);
  if (refused > 0) {
    refused--;
    SAY("refused");
    sd_bus_message_append(signal, "ua{sv}", 2, 0);
    sd_bus_send(bus, signal, NULL);
    return 1;
  }
  sd_bus_message_append(signal, "ua{sv}", 0, 1, "streams", "a(ua{sv})", 1, pw_stream_get_node_id(stream), 0);
  sd_bus_send(bus, signal, NULL);
  return 1;
}

static int open_remote(sd_bus_message *message, void *data, sd_bus_error *error) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  (void)data;
  if (disconnected > 0) {
    disconnected--;
    SAY("refused");
    return sd_bus_error_set_errno(error, ECONNREFUSED);
  }
  snprintf(address.sun_path, sizeof address.sun_path, "%s/pipewire-0", getenv("XDG_RUNTIME_DIR"));
  int remote = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(remote, (struct sockaddr *)&address, sizeof address)) return sd_bus_error_set_errno(error, errno);
  int result = sd_bus_reply_method_return(message, "h", remote);
  close(remote);
  return result;
}

static uint32_t version = 5, cursor_modes = 7;
static const sd_bus_vtable methods[] = {
    SD_BUS_VTABLE_START(SD_BUS_VTABLE_ABSOLUTE_OFFSET),
    SD_BUS_METHOD("CreateSession", "a{sv}", "o", create_session, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("SelectSources", "oa{sv}", "o", select_sources, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Start", "osa{sv}", "o", start, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("OpenPipeWireRemote", "oa{sv}", "h", open_remote, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_PROPERTY("version", "u", NULL, (size_t)&version, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("AvailableSourceTypes", "u", NULL, (size_t)&sources, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_PROPERTY("AvailableCursorModes", "u", NULL, (size_t)&cursor_modes, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_VTABLE_END};

// MARK: The program

static struct spa_region region(const char *words) {
  struct spa_region found = {0};
  sscanf(words, "%d %d %u %u", &found.position.x, &found.position.y, &found.size.width, &found.size.height);
  return found;
}

// Whether the line asks for a picture, which is then shown.
static bool paints(const char *line) {
  static const char *const commands[] = {"fill", "short", "outside", "empty", "false", "lose", "break"};
  char word[16];
  uint32_t wanted;
  if (sscanf(line, "%15s %x", word, &wanted) != 2) return false;
  for (int index = 0; index < 7; index++) {
    if (!is(word, commands[index])) continue;
    colour = wanted;
    fault = index <= is_false ? index : good;
    if (is(word, "lose")) sequence++;
    is_broken = is(word, "break");
    show();
    return true;
  }
  return false;
}

static void close_session(void) {
  sd_bus_emit_signal(bus, "/session", "org.freedesktop.portal.Session", "Closed", "a{sv}", 0);
  closes.tv_sec = 0;
  SAY("closed");
}

static void remove_stream(void) {
  is_connected = false;
  pw_stream_destroy(stream);
  stream = NULL;
  SAY("removed");
}

static void obey(char *line) {
  if (paints(line)) return;
  if (is(line, "close\n")) {
    close_session();
  } else if (is(line, "remove\n")) {
    remove_stream();
  } else if (is(line, "leave\n")) {
    remove_stream();
    clock_gettime(CLOCK_MONOTONIC, &closes);
    closes.tv_nsec += 800000000;
  } else if (is(line, "vanish\n")) {
    is_vanishing = true;
  } else if (is(line, "quiet\n")) {
    is_quiet = true;
  } else if (sscanf(line, "refuse %d", &refused) == 1 || sscanf(line, "disconnect %d", &disconnected) == 1) {
  } else if (is(line, "cursor hidden\n")) {
    cursor.is_hidden = true;
  } else if (sscanf(line, "cursor %d %d %x", &cursor.x, &cursor.y, &cursor.colour) == 3) {
    cursor.is_told = true;
    cursor.is_hidden = false;
  } else if (!strncmp(line, "damage", 6)) {
    damage = region(line + 6);
  } else if (!strncmp(line, "crop", 4)) {
    crop = region(line + 4);
  } else if (sscanf(line, "transform %u", &transform) == 1) {
  } else if (sscanf(line, "size %u %u", &width, &height) == 2) {
    offer_again();
  }
}

static bool has_passed(struct timespec time) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - time.tv_sec) * 1000000000ll + now.tv_nsec - time.tv_nsec >= 0;
}

int main(int count, char **words) {
  sscanf(words[1], "%u", &sources);
  memory = words[2];
  sscanf(words[3], "%ux%u", &width, &height);
  formats = words + 4;
  format_count = count - 4;
  pw_init(NULL, NULL);
  loop = pw_loop_new(NULL);
  core = pw_context_connect(pw_context_new(loop, NULL, 0), NULL, 0);
  spa_loop_control_enter(loop->control);
  open_stream();
  if (sd_bus_open_user(&bus) < 0) return 1;
  sd_bus_add_object_vtable(
      bus, NULL, "/org/freedesktop/portal/desktop", "org.freedesktop.portal.ScreenCast", methods, NULL);
  if (sd_bus_request_name(bus, "org.freedesktop.portal.Desktop", 0) < 0) return 1;
  FILE *control = fdopen(open("control", O_RDWR | O_CLOEXEC), "r");
  setvbuf(control, NULL, _IONBF, 0);
  struct pollfd waits[] = {
      {.fd = spa_loop_control_get_fd(loop->control), .events = POLLIN}, {.fd = sd_bus_get_fd(bus), .events = POLLIN},
      {.fd = fileno(control), .events = POLLIN}};
  char line[100];
  for (;;) {
    while (sd_bus_process(bus, NULL) > 0) {}
    sd_bus_flush(bus);
    // Pictures that come before the other side is ready are lost.
    if (!poll(waits, 3, closes.tv_sec ? 10 : 200) && !is_quiet) show();
    if (closes.tv_sec && has_passed(closes)) close_session();
    if (waits[0].revents) spa_loop_control_iterate(loop->control, 0);
    if (is_vanishing && stream && is_connected) remove_stream();
    if (waits[2].revents && fgets(line, sizeof line, control)) obey(line);
  }
}
