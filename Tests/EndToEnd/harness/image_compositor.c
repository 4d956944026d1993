// A compositor without programs that copies its one monitor by ext-image-copy-capture, and paints what it is told.
//
//   image_compositor SOCKET WIDTH HEIGHT FORMAT...
//
// Each FORMAT is a value of wl_shm.format. wlr-screencopy is offered too; its use is written to standard output. Lines of
// the FIFO "control" say what happens:
//   fill RRGGBB X Y WIDTH HEIGHT   a rectangle gets another colour
//   size WIDTH HEIGHT              the monitor has another size, and is black
//   format N                       copies have this form alone
//   transform N                    the monitor is turned: a value of wl_output.transform; the buffer stays as it is
//   fail COUNT                     so many of the next copies fail for an unknown reason
//   stop                           sessions are stopped
//   halt                           likewise, and copies that fail say so alone
//   quick WIDTH HEIGHT             as `size`, but the monitor's size is told only after the session's
// A copy writes the damage of the client's buffer and the changes since the session's last copy, and nothing else.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wayland-server.h>

#include "ext-image-capture-source-v1.h"
#include "ext-image-copy-capture-v1.h"
#include "wlr-screencopy-unstable-v1.h"

#define SAY(...) (printf(__VA_ARGS__), putchar('\n'), fflush(stdout))

enum { most_rects = 64, most_sessions = 16, most_outputs = 16, most_formats = 8 };

struct rect { int32_t x, y, width, height; };

struct session {
  struct wl_resource *resource, *frame, *buffer;
  // Not copied yet, and the client's part of it.
  struct rect changes[most_rects], damage[most_rects];
  int change_count, damage_count;
  bool is_waiting, has_copied, is_stopped;
};

static struct session sessions[most_sessions];
static struct wl_resource *outputs[most_outputs];
static uint32_t *pixels;
static int32_t width, height, transform, failures;
static uint32_t formats[most_formats];
static int format_count;

// MARK: Copies

static void send_constraints(struct session *session) {
  ext_image_copy_capture_session_v1_send_buffer_size(session->resource, (uint32_t)width, (uint32_t)height);
  for (int index = 0; index < format_count; index++)
    ext_image_copy_capture_session_v1_send_shm_format(session->resource, formats[index]);
  ext_image_copy_capture_session_v1_send_done(session->resource);
}

static bool is_offered(uint32_t format) {
  for (int index = 0; index < format_count; index++)
    if (formats[index] == format) return true;
  return false;
}

static void note_change(struct session *session, struct rect rect) {
  if (session->change_count < most_rects) {
    session->changes[session->change_count++] = rect;
  } else {
    session->changes[0] = (struct rect){0, 0, width, height};
    session->change_count = 1;
  }
}

static void copy_rect(uint8_t *target, int32_t stride, struct rect rect) {
  for (int32_t y = rect.y; y < rect.y + rect.height; y++)
    memcpy(target + y * stride + rect.x * 4, pixels + y * width + rect.x, (size_t)rect.width * 4);
}

static void fail(struct session *session, uint32_t reason) {
  session->is_waiting = false;
  SAY("failed %u", reason);
  ext_image_copy_capture_frame_v1_send_failed(session->frame, reason);
}

// Makes the copy that a session waits for, if there is something new.
static void proceed(struct session *session) {
  if (!session->is_waiting || (session->has_copied && !session->change_count)) return;
  if (failures > 0) {
    failures--;
    return fail(session, EXT_IMAGE_COPY_CAPTURE_FRAME_V1_FAILURE_REASON_UNKNOWN);
  }
  struct wl_shm_buffer *buffer = wl_shm_buffer_get(session->buffer);
  if (!buffer || wl_shm_buffer_get_width(buffer) != width || wl_shm_buffer_get_height(buffer) != height ||
      !is_offered(wl_shm_buffer_get_format(buffer)))
    return fail(session, EXT_IMAGE_COPY_CAPTURE_FRAME_V1_FAILURE_REASON_BUFFER_CONSTRAINTS);
  if (!session->has_copied) note_change(session, (struct rect){0, 0, width, height});
  wl_shm_buffer_begin_access(buffer);
  uint8_t *target = wl_shm_buffer_get_data(buffer);
  int32_t stride = wl_shm_buffer_get_stride(buffer);
  for (int index = 0; index < session->damage_count; index++) copy_rect(target, stride, session->damage[index]);
  for (int index = 0; index < session->change_count; index++) copy_rect(target, stride, session->changes[index]);
  wl_shm_buffer_end_access(buffer);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  ext_image_copy_capture_frame_v1_send_transform(session->frame, (uint32_t)transform);
  for (int index = 0; index < session->change_count; index++) {
    struct rect rect = session->changes[index];
    ext_image_copy_capture_frame_v1_send_damage(session->frame, rect.x, rect.y, rect.width, rect.height);
  }
  ext_image_copy_capture_frame_v1_send_presentation_time(session->frame, 0, (uint32_t)now.tv_sec, (uint32_t)now.tv_nsec);
  ext_image_copy_capture_frame_v1_send_ready(session->frame);
  session->change_count = 0;
  session->is_waiting = false;
  session->has_copied = true;
}

// MARK: Requests

static void destroy(struct wl_client *client, struct wl_resource *resource) {
  (void)client;
  wl_resource_destroy(resource);
}

static void frame_gone(struct wl_resource *resource) {
  struct session *session = wl_resource_get_user_data(resource);
  if (session->frame != resource) return;
  session->frame = NULL;
  session->is_waiting = false;
}

static void attach(struct wl_client *client, struct wl_resource *resource, struct wl_resource *buffer) {
  struct session *session = wl_resource_get_user_data(resource);
  (void)client;
  session->buffer = buffer;
}

static void damage(
    struct wl_client *client, struct wl_resource *resource, int32_t x, int32_t y, int32_t wide, int32_t high) {
  struct session *session = wl_resource_get_user_data(resource);
  (void)client;
  if (x < 0 || y < 0 || wide <= 0 || high <= 0)
    return wl_resource_post_error(resource, EXT_IMAGE_COPY_CAPTURE_FRAME_V1_ERROR_INVALID_BUFFER_DAMAGE, "bad damage");
  if (session->damage_count < most_rects && x + wide <= width && y + high <= height)
    session->damage[session->damage_count++] = (struct rect){x, y, wide, high};
}

static void capture(struct wl_client *client, struct wl_resource *resource) {
  struct session *session = wl_resource_get_user_data(resource);
  (void)client;
  if (!session->buffer) return wl_resource_post_error(resource, EXT_IMAGE_COPY_CAPTURE_FRAME_V1_ERROR_NO_BUFFER, "no buffer");
  session->is_waiting = true;
  if (session->is_stopped) return fail(session, EXT_IMAGE_COPY_CAPTURE_FRAME_V1_FAILURE_REASON_STOPPED);
  proceed(session);
}

static const struct ext_image_copy_capture_frame_v1_interface frame_requests = {destroy, attach, damage, capture};

static void create_frame(struct wl_client *client, struct wl_resource *resource, uint32_t id) {
  struct session *session = wl_resource_get_user_data(resource);
  if (session->frame)
    return wl_resource_post_error(resource, EXT_IMAGE_COPY_CAPTURE_SESSION_V1_ERROR_DUPLICATE_FRAME, "two frames");
  session->frame = wl_resource_create(client, &ext_image_copy_capture_frame_v1_interface, 1, id);
  session->buffer = NULL;
  session->damage_count = 0;
  wl_resource_set_implementation(session->frame, &frame_requests, session, frame_gone);
}

static const struct ext_image_copy_capture_session_v1_interface session_requests = {create_frame, destroy};

static void session_gone(struct wl_resource *resource) {
  struct session *session = wl_resource_get_user_data(resource);
  session->resource = NULL;
}

static void create_session(
    struct wl_client *client, struct wl_resource *manager, uint32_t id, struct wl_resource *source, uint32_t options) {
  struct session *session = sessions;
  (void)manager, (void)source;
  // A frame may outlive its session.
  while (session->resource || session->frame)
    if (++session == sessions + most_sessions) return wl_client_post_no_memory(client);
  *session = (struct session){.resource = wl_resource_create(client, &ext_image_copy_capture_session_v1_interface, 1, id)};
  wl_resource_set_implementation(session->resource, &session_requests, session, session_gone);
  SAY("session, %s", options & EXT_IMAGE_COPY_CAPTURE_MANAGER_V1_OPTIONS_PAINT_CURSORS ? "with cursor" : "without cursor");
  send_constraints(session);
}

static void refuse_cursor(
    struct wl_client *client, struct wl_resource *manager, uint32_t id, struct wl_resource *source, struct wl_resource *pointer) {
  (void)manager, (void)id, (void)source, (void)pointer;
  wl_client_post_implementation_error(client, "no sessions of pointers");
}

static const struct ext_image_copy_capture_manager_v1_interface manager_requests = {create_session, refuse_cursor, destroy};
static const struct ext_image_capture_source_v1_interface source_requests = {destroy};

static void create_source(struct wl_client *client, struct wl_resource *manager, uint32_t id, struct wl_resource *monitor) {
  (void)manager, (void)monitor;
  wl_resource_set_implementation(
      wl_resource_create(client, &ext_image_capture_source_v1_interface, 1, id), &source_requests, NULL, NULL);
}

static const struct ext_output_image_capture_source_manager_v1_interface source_manager_requests = {create_source, destroy};

static void use_screencopy(
    struct wl_client *client, struct wl_resource *manager, uint32_t id, int32_t cursor, struct wl_resource *monitor) {
  (void)manager, (void)id, (void)cursor, (void)monitor;
  SAY("wlr-screencopy is used");
  wl_client_post_implementation_error(client, "no copies this way");
}

static void use_screencopy_region(
    struct wl_client *client, struct wl_resource *manager, uint32_t id, int32_t cursor, struct wl_resource *monitor, int32_t x,
    int32_t y, int32_t wide, int32_t high) {
  (void)x, (void)y, (void)wide, (void)high;
  use_screencopy(client, manager, id, cursor, monitor);
}

static const struct zwlr_screencopy_manager_v1_interface screencopy_requests = {use_screencopy, use_screencopy_region, destroy};

// MARK: Globals

static void describe(struct wl_resource *resource) {
  wl_output_send_geometry(resource, 0, 0, 0, 0, WL_OUTPUT_SUBPIXEL_UNKNOWN, "stand-in", "stand-in", transform);
  wl_output_send_mode(resource, WL_OUTPUT_MODE_CURRENT, width, height, 60000);
  wl_output_send_scale(resource, 1);
  wl_output_send_name(resource, "IMAGE-1");
  wl_output_send_done(resource);
}

static void output_gone(struct wl_resource *resource) {
  for (int index = 0; index < most_outputs; index++)
    if (outputs[index] == resource) outputs[index] = NULL;
}

static const struct wl_output_interface output_requests = {destroy};

static void bind_output(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
  struct wl_resource *resource = wl_resource_create(client, &wl_output_interface, (int)version, id);
  (void)data;
  wl_resource_set_implementation(resource, &output_requests, NULL, output_gone);
  for (int index = 0; index < most_outputs; index++)
    if (!outputs[index]) {
      outputs[index] = resource;
      break;
    }
  describe(resource);
}

static void bind_copies(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
  (void)data;
  wl_resource_set_implementation(
      wl_resource_create(client, &ext_image_copy_capture_manager_v1_interface, (int)version, id), &manager_requests, NULL, NULL);
}

static void bind_sources(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
  (void)data;
  wl_resource_set_implementation(
      wl_resource_create(client, &ext_output_image_capture_source_manager_v1_interface, (int)version, id),
      &source_manager_requests, NULL, NULL);
}

static void bind_screencopy(struct wl_client *client, void *data, uint32_t version, uint32_t id) {
  (void)data;
  wl_resource_set_implementation(
      wl_resource_create(client, &zwlr_screencopy_manager_v1_interface, (int)version, id), &screencopy_requests, NULL, NULL);
}

// MARK: The test's words

#define EACH_SESSION(name) (struct session *name = sessions; name < sessions + most_sessions; name++) if (name->resource)

static void describe_all(void) {
  for (int index = 0; index < most_outputs; index++)
    if (outputs[index]) describe(outputs[index]);
}

static void resize(int32_t wide, int32_t high, bool tells_session_first) {
  width = wide;
  height = high;
  free(pixels);
  pixels = calloc((size_t)wide * (size_t)high, 4);
  if (!tells_session_first) describe_all();
  for EACH_SESSION(session) {
    session->change_count = 0;
    note_change(session, (struct rect){0, 0, width, height});
    send_constraints(session);
    proceed(session);
  }
  if (tells_session_first) describe_all();
}

static void fill(uint32_t colour, struct rect rect) {
  for (int32_t y = rect.y; y < rect.y + rect.height; y++)
    for (int32_t x = rect.x; x < rect.x + rect.width; x++) pixels[y * width + x] = colour;
  for EACH_SESSION(session) {
    note_change(session, rect);
    proceed(session);
  }
}

static void stop(bool is_told) {
  for EACH_SESSION(session) {
    session->is_stopped = true;
    if (is_told) ext_image_copy_capture_session_v1_send_stopped(session->resource);
    if (session->is_waiting) fail(session, EXT_IMAGE_COPY_CAPTURE_FRAME_V1_FAILURE_REASON_STOPPED);
  }
}

static int obey(int descriptor, uint32_t mask, void *data) {
  FILE *control = data;
  char line[100];
  uint32_t colour;
  int32_t first, second;
  struct rect rect;
  (void)descriptor, (void)mask;
  if (!fgets(line, sizeof line, control)) return 0;
  if (sscanf(line, "fill %x %d %d %d %d", &colour, &rect.x, &rect.y, &rect.width, &rect.height) == 5) fill(colour, rect);
  if (sscanf(line, "size %d %d", &first, &second) == 2) resize(first, second, false);
  if (sscanf(line, "quick %d %d", &first, &second) == 2) resize(first, second, true);
  if (sscanf(line, "transform %d", &transform) == 1) resize(width, height, false);
  if (sscanf(line, "format %u", &colour) == 1) {
    formats[0] = colour;
    format_count = 1;
    for EACH_SESSION(session) send_constraints(session);
  }
  sscanf(line, "fail %d", &failures);
  if (!strncmp(line, "stop", 4) || !strncmp(line, "halt", 4)) stop(*line == 's');
  SAY("done %s", strtok(line, "\n"));
  return 0;
}

int main(int count, char **words) {
  if (count < 4) return 2;
  width = atoi(words[2]);
  height = atoi(words[3]);
  pixels = calloc((size_t)width * (size_t)height, 4);
  struct wl_display *display = wl_display_create();
  wl_display_init_shm(display);
  for (int index = 4; index < count && format_count < most_formats; index++) {
    formats[format_count] = (uint32_t)atoi(words[index]);
    // The others are there anyway.
    if (formats[format_count] > 1) wl_display_add_shm_format(display, formats[format_count]);
    format_count++;
  }
  wl_global_create(display, &wl_output_interface, 4, NULL, bind_output);
  wl_global_create(display, &zwlr_screencopy_manager_v1_interface, 3, NULL, bind_screencopy);
  wl_global_create(display, &ext_image_copy_capture_manager_v1_interface, 1, NULL, bind_copies);
  wl_global_create(display, &ext_output_image_capture_source_manager_v1_interface, 1, NULL, bind_sources);
  FILE *control = fdopen(open("control", O_RDWR | O_CLOEXEC), "r");
  setvbuf(control, NULL, _IONBF, 0);
  wl_event_loop_add_fd(wl_display_get_event_loop(display), fileno(control), WL_EVENT_READABLE, obey, control);
  if (wl_display_add_socket(display, words[1])) return 1;
  wl_display_run(display);
}
