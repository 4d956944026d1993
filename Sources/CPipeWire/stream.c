#include "CPipeWire.h"

#include <errno.h>
#include <spa/param/buffers.h>
#include <spa/param/video/format-utils.h>
#include <spa/pod/builder.h>
#include <stdlib.h>
#include <unistd.h>

#include "pipewire.h"

struct cpipewire_stream {
  // Null until the stream is open.
  const struct cpipewire_listener *listener;
  struct pw_loop *loop;
  struct pw_context *context;
  struct pw_core *core;
  struct pw_stream *stream;
  // The objects of PipeWire, among them the node.
  struct pw_registry *registry;
  struct spa_hook core_hook, registry_hook, stream_hook;
  uint32_t node;
  // The format is that of linear DMA-BUFs.
  bool is_device;
  // Of the last picture; 0: unknown.
  uint64_t sequence;
};

static const enum spa_meta_type metas[] = {
    SPA_META_Header, SPA_META_VideoDamage, SPA_META_VideoCrop, SPA_META_Cursor, SPA_META_VideoTransform};
static const uint32_t least_sizes[] = {
    sizeof(struct spa_meta_header), sizeof(struct spa_meta_region), sizeof(struct spa_meta_region),
    sizeof(struct spa_meta_cursor) + sizeof(struct spa_meta_bitmap) + 64 * 64 * 4, sizeof(struct spa_meta_videotransform)};
static const uint32_t most_sizes[] = {
    sizeof(struct spa_meta_header), sizeof(struct spa_meta_region) * cpipewire_most_rects, sizeof(struct spa_meta_region),
    sizeof(struct spa_meta_cursor) + sizeof(struct spa_meta_bitmap) +
        cpipewire_most_cursor_side * cpipewire_most_cursor_side * 4,
    sizeof(struct spa_meta_videotransform)};
enum { meta_count = sizeof metas / sizeof *metas };

// MARK: What is offered

enum { most_formats = 4 };

// The modifier of rows that lie one after another, in drm_fourcc.h.
static const int64_t linear_modifier = 0;

// Pictures in linear DMA-BUFs or in other memory, of the wanted size or of any.
static const struct spa_pod *offered_format(
    struct spa_pod_builder *builder, const struct cpipewire_wish *wish, bool has_size, bool is_device) {
  struct spa_rectangle wanted = SPA_RECTANGLE(wish->width, wish->height);
  struct spa_rectangle usual = SPA_RECTANGLE(1920, 1080), least = SPA_RECTANGLE(1, 1), most = SPA_RECTANGLE(32768, 32768);
  struct spa_fraction any = SPA_FRACTION(0, 1), highest = SPA_FRACTION(wish->rate, 1), slowest = SPA_FRACTION(1, 1);
  struct spa_pod_frame frame;
  spa_pod_builder_push_object(builder, &frame, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
  spa_pod_builder_add(
      builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
      SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_VIDEO_format,
      SPA_POD_CHOICE_ENUM_Id(
          5, SPA_VIDEO_FORMAT_BGRx, SPA_VIDEO_FORMAT_BGRx, SPA_VIDEO_FORMAT_BGRA, SPA_VIDEO_FORMAT_RGBx,
          SPA_VIDEO_FORMAT_RGBA),
      0);
  if (is_device) {
    // Without it, a desktop would choose an order of pixels that only graphics drivers can read.
    spa_pod_builder_prop(builder, SPA_FORMAT_VIDEO_modifier, SPA_POD_PROP_FLAG_MANDATORY);
    spa_pod_builder_long(builder, linear_modifier);
  }
  if (has_size) {
    spa_pod_builder_add(builder, SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&wanted), 0);
  } else {
    spa_pod_builder_add(builder, SPA_FORMAT_VIDEO_size, SPA_POD_CHOICE_RANGE_Rectangle(&usual, &least, &most), 0);
  }
  spa_pod_builder_add(
      builder, SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&any), SPA_FORMAT_VIDEO_maxFramerate,
      SPA_POD_CHOICE_RANGE_Fraction(&highest, &slowest, &highest), 0);
  return spa_pod_builder_pop(builder, &frame);
}

// The forms in the order of preference: the desktop takes the first that it has. DMA-BUFs come last, because the processor reads
// those of many graphics cards slowly.
static int offered_formats(
    struct spa_pod_builder *builder, const struct cpipewire_wish *wish, const struct spa_pod *formats[most_formats]) {
  int count = 0;
  for (int is_device = 0; is_device < 2; is_device++) {
    if (wish->width) formats[count++] = offered_format(builder, wish, true, is_device);
    formats[count++] = offered_format(builder, wish, false, is_device);
  }
  return count;
}

static const struct spa_pod *answered_buffers(struct spa_pod_builder *builder, uint32_t width, uint32_t height) {
  int32_t size = (int32_t)SPA_MIN((uint64_t)width * height * 4, (uint64_t)INT32_MAX);
  return spa_pod_builder_add_object(
      builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers, SPA_POD_CHOICE_RANGE_Int(6, 2, 16),
      SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1), SPA_PARAM_BUFFERS_size, SPA_POD_CHOICE_RANGE_Int(size, 4, INT32_MAX),
      SPA_PARAM_BUFFERS_stride, SPA_POD_CHOICE_RANGE_Int((int32_t)width * 4, (int32_t)width * 4, INT32_MAX),
      SPA_PARAM_BUFFERS_dataType, SPA_POD_CHOICE_FLAGS_Int(1 << SPA_DATA_MemFd | 1 << SPA_DATA_MemPtr));
}

// The driver of a graphics card chooses size and stride.
static const struct spa_pod *answered_device_buffers(struct spa_pod_builder *builder) {
  return spa_pod_builder_add_object(
      builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers, SPA_POD_CHOICE_RANGE_Int(6, 2, 16),
      SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1), SPA_PARAM_BUFFERS_dataType, SPA_POD_CHOICE_FLAGS_Int(1 << SPA_DATA_DmaBuf));
}

static void answer_format(struct cpipewire_stream *self, uint32_t width, uint32_t height) {
  uint8_t bytes[4096];
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof bytes);
  const struct spa_pod *params[1 + meta_count];
  params[0] = self->is_device ? answered_device_buffers(&builder) : answered_buffers(&builder, width, height);
  for (int index = 0; index < meta_count; index++)
    params[1 + index] = spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(metas[index]),
        SPA_PARAM_META_size,
        SPA_POD_CHOICE_RANGE_Int((int32_t)most_sizes[index], (int32_t)least_sizes[index], (int32_t)most_sizes[index]));
  cpipewire_library.stream_update_params(self->stream, params, 1 + meta_count);
}

// MARK: Callbacks

static void end(struct cpipewire_stream *self, const char *text) {
  if (self->listener) self->listener->state(self->listener->owner, cpipewire_ended, text);
}

static void core_failed(void *data, uint32_t id, int sequence, int result, const char *message) {
  (void)sequence;
  if (id == PW_ID_CORE && result == -EPIPE) end(data, message);
}

static void object_removed(void *data, uint32_t id) {
  struct cpipewire_stream *self = data;
  if (self->listener && id == self->node) self->listener->state(self->listener->owner, cpipewire_node_removed, NULL);
}

static void state_changed(void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error) {
  struct cpipewire_stream *self = data;
  (void)old;
  if (!self->listener) return;
  switch (state) {
    case PW_STREAM_STATE_ERROR:
    case PW_STREAM_STATE_UNCONNECTED: return end(self, error);
    case PW_STREAM_STATE_CONNECTING: return self->listener->state(self->listener->owner, cpipewire_connecting, error);
    case PW_STREAM_STATE_PAUSED: return self->listener->state(self->listener->owner, cpipewire_paused, error);
    case PW_STREAM_STATE_STREAMING: return self->listener->state(self->listener->owner, cpipewire_streaming, error);
  }
}

static void param_changed(void *data, uint32_t id, const struct spa_pod *param) {
  struct cpipewire_stream *self = data;
  struct spa_video_info_raw info = {0};
  uint32_t type, subtype;
  if (id != SPA_PARAM_Format || !param) return;
  if (spa_format_parse(param, &type, &subtype) < 0 || type != SPA_MEDIA_TYPE_video || subtype != SPA_MEDIA_SUBTYPE_raw ||
      spa_format_video_raw_parse(param, &info) < 0)
    return end(self, "it has a format that was not offered");
  int order;
  switch (info.format) {
    case SPA_VIDEO_FORMAT_BGRx:
    case SPA_VIDEO_FORMAT_BGRA: order = cpipewire_bgrx; break;
    case SPA_VIDEO_FORMAT_RGBx:
    case SPA_VIDEO_FORMAT_RGBA: order = cpipewire_rgbx; break;
    default: return end(self, "it has a format that was not offered");
  }
  if (!info.size.width || !info.size.height || info.size.width > 32768 || info.size.height > 32768)
    return end(self, "it has a size that was not offered");
  // An order of pixels that was not offered shows in the modifier; one that is not decided yet reads as 0.
  if (info.modifier != (uint64_t)linear_modifier) return end(self, "it has a format that was not offered");
  self->is_device = info.flags & SPA_VIDEO_FLAG_MODIFIER;
  self->listener->format(self->listener->owner, info.size.width, info.size.height, order);
  answer_format(self, info.size.width, info.size.height);
}

static void add_buffer(void *data, struct pw_buffer *buffer) {
  struct cpipewire_stream *self = data;
  const struct spa_buffer *inner = buffer->buffer;
  if (inner->n_datas < 1) return;
  const struct spa_data *block = &inner->datas[0];
  struct cpipewire_memory memory = {
      .place = cpipewire_file, .descriptor = (int)block->fd, .offset = block->mapoffset, .size = block->maxsize};
  switch (block->type) {
    case SPA_DATA_MemFd:
      if (block->fd < 0) return;
      break;
    case SPA_DATA_DmaBuf:
      // Without a modifier, the order of pixels is not known.
      if (block->fd < 0 || !self->is_device) return;
      memory.place = cpipewire_device;
      break;
    case SPA_DATA_MemPtr:
      if (!block->data) return;
      memory = (struct cpipewire_memory){
          .place = cpipewire_mapped, .descriptor = -1, .address = block->data, .size = block->maxsize};
      break;
    default: return;
  }
  self->listener->added(self->listener->owner, buffer, &memory);
}

static void remove_buffer(void *data, struct pw_buffer *buffer) {
  struct cpipewire_stream *self = data;
  self->listener->removed(self->listener->owner, buffer);
}

static void process(void *data) {
  struct cpipewire_stream *self = data;
  self->listener->ready(self->listener->owner);
}

static const struct pw_core_events core_events = {0, .error = core_failed};
static const struct pw_registry_events registry_events = {0, .global_remove = object_removed};
static const struct pw_stream_events stream_events = {
    0, .state_changed = state_changed, .param_changed = param_changed, .add_buffer = add_buffer,
    .remove_buffer = remove_buffer, .process = process};

// MARK: The stream

struct cpipewire_stream *cpipewire_open(
    int descriptor, uint32_t node, const struct cpipewire_wish *wish, const struct cpipewire_listener *listener) {
  struct cpipewire_stream *self = cpipewire_missing() ? NULL : calloc(1, sizeof *self);
  if (!self) {
    if (descriptor >= 0) close(descriptor);
    errno = ENOSYS;
    return NULL;
  }
  cpipewire_library.init(NULL, NULL);
  self->loop = cpipewire_library.loop_new(NULL);
  self->context = self->loop ? cpipewire_library.context_new(self->loop, NULL, 0) : NULL;
  if (!self->context) {
    if (descriptor >= 0) close(descriptor);
    goto failed;
  }
  self->core = descriptor >= 0 ? cpipewire_library.context_connect_fd(self->context, descriptor, NULL, 0)
                               : cpipewire_library.context_connect(self->context, NULL, 0);
  if (!self->core) goto failed;
  int result = 0;
  spa_interface_call_res(
      (struct spa_interface *)self->core, struct pw_core_methods, result, add_listener, 0, &self->core_hook, &core_events,
      self);
  self->node = node;
  spa_interface_call_res(
      (struct spa_interface *)self->core, struct pw_core_methods, self->registry, get_registry, 0, PW_VERSION_REGISTRY, 0);
  if (!self->registry) goto failed;
  spa_interface_call_res(
      (struct spa_interface *)self->registry, struct pw_registry_methods, result, add_listener, 0, &self->registry_hook,
      &registry_events, self);
  struct pw_properties *properties =
      cpipewire_library.properties_new_string("media.type=Video media.category=Capture media.role=Screen node.name=rtcast");
  self->stream = cpipewire_library.stream_new(self->core, "rtcast", properties);
  if (!self->stream) goto failed;
  cpipewire_library.stream_add_listener(self->stream, &self->stream_hook, &stream_events, self);
  uint8_t bytes[4096];
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof bytes);
  const struct spa_pod *formats[most_formats];
  int count = offered_formats(&builder, wish, formats);
  result = cpipewire_library.stream_connect(
      self->stream, PW_DIRECTION_INPUT, node, PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_DONT_RECONNECT, formats,
      (uint32_t)count);
  if (result >= 0) {
    spa_loop_control_enter(self->loop->control);
    // Nothing is heard before: the owner is not ready.
    self->listener = listener;
    return self;
  }
  errno = -result;
failed:;
  int error = errno;
  cpipewire_close(self);
  errno = error;
  return NULL;
}

void cpipewire_close(struct cpipewire_stream *self) {
  if (self->stream) {
    spa_hook_remove(&self->stream_hook);
    cpipewire_library.stream_destroy(self->stream);
  }
  if (self->registry) spa_hook_remove(&self->registry_hook);
  if (self->core) {
    spa_hook_remove(&self->core_hook);
    cpipewire_library.core_disconnect(self->core);
  }
  if (self->context) cpipewire_library.context_destroy(self->context);
  if (self->loop) cpipewire_library.loop_destroy(self->loop);
  free(self);
}

int cpipewire_descriptor(struct cpipewire_stream *self) { return spa_loop_control_get_fd(self->loop->control); }

void cpipewire_iterate(struct cpipewire_stream *self) {
  while (spa_loop_control_iterate(self->loop->control, 0) > 0) {}
}

// MARK: Buffers

static void *meta(const struct spa_buffer *buffer, enum spa_meta_type type, size_t size) {
  const struct spa_meta *found = spa_buffer_find_meta(buffer, type);
  return found && found->data && found->size >= size ? found->data : NULL;
}

static struct cpipewire_rect rect(struct spa_region region) {
  return (struct cpipewire_rect){region.position.x, region.position.y, region.size.width, region.size.height};
}

static void read_damage(const struct spa_buffer *buffer, struct cpipewire_picture *picture) {
  picture->damage_count = -1;
  const struct spa_meta *found = spa_buffer_find_meta(buffer, SPA_META_VideoDamage);
  if (!found || !found->data) return;
  const struct spa_meta_region *regions = found->data;
  size_t most = SPA_MIN(found->size / sizeof *regions, (size_t)cpipewire_most_rects);
  int32_t count = 0;
  for (size_t index = 0; index < most; index++) {
    // The memory is shared: copied before it is looked at.
    struct spa_region region = *(const volatile struct spa_region *)&regions[index].region;
    if (!region.size.width || !region.size.height) break;
    picture->damage[count++] = rect(region);
  }
  // No rectangle at all is what a producer writes that does not know.
  picture->damage_count = count ? count : -1;
}

static void read_header(struct cpipewire_stream *self, const struct spa_buffer *buffer, struct cpipewire_picture *picture) {
  const struct spa_meta_header *found = meta(buffer, SPA_META_Header, sizeof *found);
  if (!found) return;
  struct spa_meta_header header = *(const volatile struct spa_meta_header *)found;
  if (header.flags & SPA_META_HEADER_FLAG_CORRUPTED) picture->is_corrupted = true;
  picture->time = header.pts;
  bool is_next = header.seq == self->sequence || header.seq == self->sequence + 1;
  picture->follows_gap = (header.flags & SPA_META_HEADER_FLAG_DISCONT) || (header.seq && self->sequence && !is_next);
  self->sequence = header.seq;
}

void *cpipewire_take(struct cpipewire_stream *self, struct cpipewire_picture *picture) {
  struct pw_buffer *buffer = cpipewire_library.stream_dequeue_buffer(self->stream);
  if (!buffer) return NULL;
  const struct spa_buffer *inner = buffer->buffer;
  *picture = (struct cpipewire_picture){.damage_count = -1};
  if (inner->n_datas < 1 || !inner->datas[0].chunk) {
    picture->is_corrupted = true;
    return buffer;
  }
  struct spa_chunk chunk = *(volatile struct spa_chunk *)inner->datas[0].chunk;
  picture->offset = chunk.offset;
  picture->size = chunk.size;
  picture->stride = chunk.stride;
  // Nothing reads the size of a DMA-BUF's picture.
  bool is_empty = chunk.size == 0 && inner->datas[0].type != SPA_DATA_DmaBuf;
  picture->is_corrupted = is_empty || (chunk.flags & SPA_CHUNK_FLAG_CORRUPTED);
  read_header(self, inner, picture);
  read_damage(inner, picture);
  const struct spa_meta_region *crop = meta(inner, SPA_META_VideoCrop, sizeof *crop);
  if (crop) {
    picture->crop = rect(*(const volatile struct spa_region *)&crop->region);
    picture->has_crop = picture->crop.width && picture->crop.height;
  }
  const struct spa_meta_videotransform *transform = meta(inner, SPA_META_VideoTransform, sizeof *transform);
  if (transform) picture->transform = transform->transform;
  const struct spa_meta_cursor *cursor = meta(inner, SPA_META_Cursor, sizeof *cursor);
  picture->tells_cursor = cursor != NULL;
  if (cursor && cursor->id) {
    picture->has_cursor = true;
    picture->cursor_x = cursor->position.x;
    picture->cursor_y = cursor->position.y;
  }
  return buffer;
}

static uint32_t pixel(const uint8_t *bytes, uint32_t format) {
  switch (format) {
    case SPA_VIDEO_FORMAT_RGBA: return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];
    case SPA_VIDEO_FORMAT_ARGB: return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
    default: return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
  }
}

bool cpipewire_cursor_image(void *taken, struct cpipewire_cursor_image *image) {
  const struct pw_buffer *buffer = taken;
  const struct spa_meta *found = spa_buffer_find_meta(buffer->buffer, SPA_META_Cursor);
  if (!found || !found->data || found->size < sizeof(struct spa_meta_cursor)) return false;
  struct spa_meta_cursor cursor = *(volatile struct spa_meta_cursor *)found->data;
  if (!cursor.id || cursor.bitmap_offset < sizeof cursor || cursor.bitmap_offset % 4 ||
      found->size < sizeof(struct spa_meta_bitmap) || cursor.bitmap_offset > found->size - sizeof(struct spa_meta_bitmap))
    return false;
  const uint8_t *place = (const uint8_t *)found->data + cursor.bitmap_offset;
  struct spa_meta_bitmap bitmap = *(const volatile struct spa_meta_bitmap *)place;
  if (!bitmap.format) return false;
  image->hot_x = cursor.hotspot.x;
  image->hot_y = cursor.hotspot.y;
  image->width = image->height = 0;
  // Without an offset, the pointer is hidden.
  if (!bitmap.offset || !bitmap.size.width || !bitmap.size.height) return true;
  uint32_t width = bitmap.size.width, height = bitmap.size.height;
  size_t room = found->size - cursor.bitmap_offset;
  if (width > cpipewire_most_cursor_side || height > cpipewire_most_cursor_side || bitmap.stride < (int32_t)width * 4 ||
      bitmap.offset > room || (uint64_t)bitmap.stride * (height - 1) + width * 4 > room - bitmap.offset)
    return false;
  image->width = width;
  image->height = height;
  for (uint32_t y = 0; y < height; y++) {
    const uint8_t *row = place + bitmap.offset + (size_t)y * (size_t)bitmap.stride;
    for (uint32_t x = 0; x < width; x++) image->pixels[y * width + x] = pixel(row + x * 4, bitmap.format);
  }
  return true;
}

void cpipewire_give(struct cpipewire_stream *self, void *buffer) { cpipewire_library.stream_queue_buffer(self->stream, buffer); }
